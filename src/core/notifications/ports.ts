import { z } from 'zod'
import { healthPart, healthPartName, type OperationPorts } from '../operations/index.ts'
import type { SenderChange } from '../requests/index.ts'
import type { NoticeKey } from '../shared/index.ts'

/** Leaves out parts of another version. */
const ofKnownParts = <T extends z.ZodType>(item: T) =>
  z.array(z.unknown()).transform((items) => items.flatMap((one) => item.safeParse(one).data ?? []))

const brokenParts = z.object({
  /** The reported parts: since when each is red. `turning`: since when checks find it healthy, which is not confirmed yet. */
  red: ofKnownParts(z.object({ part: healthPart, since: z.iso.datetime(), turning: z.iso.datetime().nullable() })),
  /** Parts that have turned red, which is not confirmed yet. */
  breaking: ofKnownParts(z.object({ name: healthPartName, since: z.iso.datetime() })),
  /** The parts that are healthy again while others are red: when each of them was red last. */
  recovered: ofKnownParts(z.object({ part: healthPart, since: z.iso.datetime(), until: z.iso.datetime() })),
})
/** The single parts of a trouble. */
export type BrokenParts = z.output<typeof brokenParts>

const watchOfParts = z.object({
  state: z.enum(['well', 'red']),
  /** Since when: the first check that found it. */
  since: z.iso.datetime(),
  /** When a check found a change that is not confirmed yet; null: the last check found no change. */
  turning: z.iso.datetime().nullable(),
  /** The last red time: its beginning, which names the cards about it, and all parts that were red in it. */
  red: z.object({ since: z.iso.datetime(), parts: ofKnownParts(healthPart) }).nullable(),
  /** The single parts of the last red time. Absent: an earlier version wrote the result. */
  broken: brokenParts.optional(),
})
export type WatchOfParts = z.output<typeof watchOfParts>

const redReport = z.object({
  part: healthPart,
  /** Since when the part is red, and when this process last found it red. */
  since: z.iso.datetime(),
  at: z.iso.datetime(),
  /** The process that found it. Absent: an earlier version wrote the result. */
  processId: z.string().optional(),
})
/** A red part in the last report of a process. */
export type RedReport = z.output<typeof redReport>

/**
 * The result of all checks so far. While it is red, admins have been notified. `credentials`: that of the certificate and the
 * bot's secret, whose expiry is red for days: together with other parts it would hide their trouble, or be hidden by it.
 * `reports`: the red parts of the last report of each process. Absent: an earlier version wrote the result.
 */
export const healthWatch = watchOfParts.extend({
  credentials: watchOfParts.optional(),
  reports: ofKnownParts(redReport).optional(),
})
export type HealthWatch = z.output<typeof healthWatch>

/** The result of the checks, shared by all processes. */
export interface HealthWatchStore {
  find(tenantId: string): Promise<HealthWatch | undefined>
  /** Reads the result and locks it until the transaction ends. */
  lock(tenantId: string): Promise<HealthWatch | undefined>
  put(tenantId: string, watch: HealthWatch): Promise<void>
}

/** A notice and its recipient. */
export interface NoticeOrder {
  readonly tenantId: string
  readonly personId: string
  readonly notice: NoticeKey
}
export interface SentNotice {
  /** An old `sending`, and `unknown`: the arrival is unknown. */
  readonly state: 'sending' | 'sent' | 'unknown'
  readonly updatedAt: Date
  /** The job that sends it, while it is `sending`. Absent: an earlier version wrote the record. */
  readonly job?: string
}
/** The longest time of sending, in milliseconds. If a job began earlier, another one may send the card. */
export const longestSending = 120_000

/** Whether the job that began to send a notice may have ended without sending it. */
export const isStale = ({ state, updatedAt }: Pick<SentNotice, 'state' | 'updatedAt'>, now: Date): boolean =>
  state === 'sending' && now.getTime() - updatedAt.getTime() > longestSending

/** The card of a notice in a chat, and what it shows, so that only a changed card is updated. */
export interface NoticeCard {
  readonly activityId: string
  readonly shown: string
}
/** A notice about a batch, with its card if the card can be updated. */
export interface BatchNotice extends NoticeOrder, Pick<SentNotice, 'state' | 'updatedAt'> {
  readonly card?: NoticeCard | undefined
}
/** Stores the notices that are being sent or were sent. */
export interface NoticeStore {
  find(order: NoticeOrder): Promise<SentNotice | undefined>
  /** Stores a notice before it is sent. Returns false if it exists, so that only one of two processes sends it. */
  claim(order: NoticeOrder, job: string | undefined): Promise<boolean>
  /** Stores which job sends a notice from now on. Returns false if it is not `from` any more, or if the notice was sent. */
  takeOver(order: NoticeOrder, change: SenderChange): Promise<boolean>
  /** Deletes the record of a notice that `job` is sending. Keeps it if the notice was sent, or if another job sends it. */
  release(order: NoticeOrder, job: string | undefined): Promise<void>
  put(order: NoticeOrder, state: SentNotice['state'], card?: NoticeCard): Promise<void>
  /** Stores what a sent card shows now. Returns false if another job has updated or removed the card since `before`. */
  replaceShown(order: NoticeOrder, before: NoticeCard, shown: string): Promise<boolean>
  /** Returns all notices about a batch. */
  ofBatch(tenantId: string, batchId: string): Promise<BatchNotice[]>
  remove(order: NoticeOrder): Promise<void>
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface NotificationPorts extends OperationPorts {
  readonly notices: NoticeStore
  readonly healthWatch: HealthWatchStore
}
