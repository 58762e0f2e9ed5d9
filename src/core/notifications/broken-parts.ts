import type { HealthPart, HealthPartName } from '../operations/index.ts'
import type { HealthNoticeKey } from '../shared/index.ts'
import type { BrokenParts, WatchOfParts } from './ports.ts'

/** The times of the watch that this rule needs, in seconds. */
export interface ConfirmTimes {
  readonly confirmAfter: number
  readonly wellAfter: number
}

/** Cards about single parts are named by when the parts turned red, or healthy again. */
export const moreNotice = (since: string) => `health:more:${since}` as const
export const lessNotice = (until: string) => `health:less:${until}` as const

/**
 * Returns the first of these moments, or `at` without any. A moment that lies ahead does not count: it was written by the
 * clock of another process, or before the clock was set back.
 */
export const earliest = (moments: readonly (string | null | undefined)[], at: string): string =>
  moments
    .flatMap((moment) => moment ?? [])
    .filter((moment) => Date.parse(moment) <= Date.parse(at))
    .toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? at

/** Whether a moment is at least so many seconds before another one. */
export const isLongAgo = (moment: string, at: string, seconds: number): boolean =>
  Date.parse(at) - Date.parse(moment) >= seconds * 1000

/** Returns the parts of a trouble that has just been reported: its first card names all of them. */
export const firstBroken = (parts: readonly HealthPart[], since: string): BrokenParts => ({
  red: parts.map((part) => ({ part, since, turning: null })),
  breaking: [],
  recovered: [],
})

/** Returns the parts of the present trouble. An earlier version stored only its first parts. */
export const brokenOf = ({ broken, red }: WatchOfParts): BrokenParts =>
  broken ?? firstBroken(red?.parts ?? [], red?.since ?? '')

/** The red and unjudged parts of one check, and the red parts of other reports. */
export interface FoundParts {
  readonly at: string
  /** The red parts of this check, and since when they are red. */
  readonly red: readonly { readonly part: HealthPart; readonly since: string }[]
  /** Parts that are still red by the last report of another process, or by the last report that could judge them. */
  readonly held: readonly HealthPartName[]
  /** Parts that this check could not judge. */
  readonly unjudged: readonly HealthPartName[]
  /** The moments that name cards about red parts so far. */
  readonly named: readonly string[]
}

/** Returns the moments that name the cards about the red parts of these results. */
export const namedMoments = (watches: readonly (WatchOfParts | undefined)[]): string[] =>
  watches.flatMap((watch) => {
    if (!watch) return []
    const { red, recovered } = brokenOf(watch)
    return [...(watch.red ? [watch.red] : []), ...red, ...recovered].map(({ since }) => since)
  })

/** Returns a moment for a new card. A card is sent once, so a part that is confirmed later than others has a later moment. */
export const unused = (moment: string, named: readonly string[], at: string): string =>
  named.includes(moment) ? at : moment

/**
 * Returns the broken parts after one more check of a trouble that continues, and the notices about them. A further part is
 * reported once it is red for `confirmAfter`, and a recovered part once it is healthy for `wellAfter` while a reported part
 * is red: when no part is red, the card about the end of the trouble reports all. A check that cannot judge a part neither
 * ends nor interrupts its healthy time. A part that is healthy for `wellAfter` but not judged now counts as red: otherwise
 * two processes that cannot judge the same parts would never report an end.
 */
export function afterPartsCheck(
  before: BrokenParts,
  { at, red: found, held, unjudged, named }: FoundParts,
  { confirmAfter, wellAfter }: ConfirmTimes,
): { readonly broken: BrokenParts; readonly notices: readonly HealthNoticeKey[] } {
  const isRed = (name: HealthPartName) => held.includes(name) || found.some(({ part }) => part.name === name)
  const known = (name: HealthPartName) => before.red.some(({ part }) => part.name === name)

  const red = before.red.map((one) => {
    const { name } = one.part
    if (isRed(name)) return { ...one, turning: null }
    return { ...one, turning: unjudged.includes(name) ? one.turning : earliest([one.turning], at) }
  })
  type Red = (typeof red)[number]
  const isHealthy = ({ turning }: Red) => turning !== null && isLongAgo(turning, at, wellAfter)
  const isUnjudged = ({ part }: Red) => unjudged.includes(part.name)
  const breaking = found
    .filter(({ part }) => !known(part.name))
    .map(({ part, since: first }) => {
      const since = earliest([before.breaking.find(({ name }) => name === part.name)?.since], at)
      return { part, since, first: earliest([since, first], at) }
    })
  const [joined, notYet] = parted(breaking, ({ first }) => isLongAgo(first, at, confirmAfter))
  const staysRed = joined.length > 0 || red.some((one) => one.turning === null || (isHealthy(one) && isUnjudged(one)))
  const [left, stays] = parted(red, (one) => staysRed && isHealthy(one) && !isUnjudged(one))

  const further = joined.map(({ part, since }) => ({ part, since: unused(since, named, at), turning: null }))
  const recovered = left.map(({ part, since, turning }) => ({ part, since, until: turning ?? at }))
  // The card of the others is named by the same moment, so a part that waits for a check has a later one.
  const waiting = stays.map((one) => (left.length > 0 && isHealthy(one) ? { ...one, turning: at } : one))
  const isBack = (name: HealthPartName) => [...further, ...recovered].some(({ part }) => part.name === name)
  const broken: BrokenParts = {
    red: [...waiting, ...further],
    breaking: notYet.map(({ part: { name }, since }) => ({ name, since })),
    recovered: [...before.recovered.filter(({ part }) => !isBack(part.name)), ...recovered],
  }
  const notices = [...further.map(({ since }) => moreNotice(since)), ...recovered.map(({ until }) => lessNotice(until))]
  return { broken, notices: [...new Set(notices)] }
}

/** Splits a list: the items that match, and the others. */
const parted = <T>(all: readonly T[], matches: (one: T) => boolean): [T[], T[]] => [
  all.filter(matches),
  all.filter((one) => !matches(one)),
]
