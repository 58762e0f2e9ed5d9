import { z } from 'zod'
import { healthPart, healthPartName, type OperationPorts } from '../operations/index.ts'
import type { NoticeStore } from '../requests/index.ts'

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

/**
 * The result of all checks so far. While it is red, admins have been notified. `credentials`: that of the certificate and the
 * bot's secret, whose expiry is red for days: together with other parts it would hide their trouble, or be hidden by it.
 */
export const healthWatch = watchOfParts.extend({ credentials: watchOfParts.optional() })
export type HealthWatch = z.output<typeof healthWatch>

/** The result of the checks, shared by all processes. */
export interface HealthWatchStore {
  find(tenantId: string): Promise<HealthWatch | undefined>
  /** Reads the result and locks it until the transaction ends. */
  lock(tenantId: string): Promise<HealthWatch | undefined>
  put(tenantId: string, watch: HealthWatch): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface NotificationPorts extends OperationPorts {
  readonly notices: NoticeStore
  readonly healthWatch: HealthWatchStore
}
