import { z } from 'zod'
import { type HealthPart, healthPart } from '../operations/index.ts'
import type { NoticeKey } from '../shared/index.ts'

/** When admins are told how the service does. All in seconds. */
export const watchTimes = {
  /** From the end of one look to the next. */
  lookEvery: 20,
  /** That it is red counts once two looks in a row have seen it that are so far apart. */
  agreeAfter: 20,
  /** That all is well counts once every look for so long has seen it: what comes and goes is one trouble, told of once. */
  wellAfter: 60,
  /** How long whoever looked last is the one that looks; nobody else takes it over before. */
  heldFor: 90,
  /** While the store is away, it is asked so often whether it is back. */
  againEvery: 5,
} as const
export type WatchTimes = { readonly [K in keyof typeof watchTimes]: number }

/** One look at how the service does. */
export interface HealthLook {
  readonly at: string
  readonly isRed: boolean
  /** What is wrong. */
  readonly parts: readonly HealthPart[]
}

/** What all looks together have come to. While it is red, admins have been told so. */
export const healthWatch = z.object({
  state: z.enum(['well', 'red']),
  /** Since when: the first look that saw it. */
  since: z.iso.datetime(),
  /** When a look saw that it has turned, which no other has yet confirmed; null: the last one saw nothing new. */
  turning: z.iso.datetime().nullable(),
  /** The last time that it was red: since when, which names the cards about it, and what was wrong. A part that only another version knows is left out. */
  red: z
    .object({
      since: z.iso.datetime(),
      parts: z.array(z.unknown()).transform((parts) => parts.flatMap((part) => healthPart.safeParse(part).data ?? [])),
    })
    .nullable(),
})
export type HealthWatch = z.output<typeof healthWatch>

/** What one look changes, and what admins are to be told, if anything. `before` is undefined for the first look ever. */
export function afterLook(
  before: HealthWatch | undefined,
  { at, isRed, parts }: HealthLook,
  { agreeAfter, wellAfter }: Pick<WatchTimes, 'agreeAfter' | 'wellAfter'> = watchTimes,
): { readonly watch: HealthWatch; readonly tell: NoticeKey | undefined } {
  const known = before ?? { state: 'well', since: at, turning: null, red: null }
  if (isRed === (known.state === 'red')) return { watch: { ...known, turning: null }, tell: undefined }
  // One that lies ahead was written by the clock of another process, or before the clock was set back.
  const turning = known.turning !== null && Date.parse(known.turning) <= Date.parse(at) ? known.turning : at
  if (Date.parse(at) - Date.parse(turning) < (isRed ? agreeAfter : wellAfter) * 1000)
    return { watch: { ...known, turning }, tell: undefined }
  if (isRed) {
    const red = { since: turning, parts: [...parts] }
    return { watch: { state: 'red', since: turning, turning: null, red }, tell: redNotice(turning) }
  }
  const since = known.red?.since ?? known.since
  return { watch: { ...known, state: 'well', since: turning, turning: null }, tell: wellNotice(since) }
}

/** The cards about one time of trouble are named by when it began. */
export const redNotice = (since: string) => `health:red:${since}` as const
export const wellNotice = (since: string) => `health:well:${since}` as const

/** Who looks, and what came of it: shared by all processes. */
export interface HealthWatchStore {
  /**
   * Whether this process is the one that looks, for so many seconds from now, by the clock of the store. It stays so by asking in
   * time; others are let in when its time is over.
   */
  hold(tenantId: string, holder: string, seconds: number): Promise<boolean>
  /** Lets others in at once, if this process is the one that looks. */
  release(tenantId: string, holder: string): Promise<void>
  find(tenantId: string): Promise<HealthWatch | undefined>
  /** Reads and locks until the transaction ends. */
  lock(tenantId: string): Promise<HealthWatch | undefined>
  /** Writes what came of it; only after `hold` was answered once, by whomever. */
  put(tenantId: string, watch: HealthWatch): Promise<void>
}

/** What admins were told while the store was away, and whom: person and what became of it. */
export const byHandNote = z.object({
  watch: healthWatch,
  told: z.array(z.tuple([z.uuid(), z.enum(['sending', 'sent', 'unknown'])])),
})
export type ByHandNote = z.output<typeof byHandNote>
/** Keeps it outside of the store, for when the process ends before the store is back. */
export interface ByHandNotes {
  read(): Promise<ByHandNote | undefined>
  write(note: ByHandNote | null): Promise<void>
}
