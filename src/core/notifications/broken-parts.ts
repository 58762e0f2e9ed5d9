import type { HealthPart, HealthPartName } from '../operations/index.ts'
import type { HealthNoticeKey } from '../shared/index.ts'
import type { BrokenParts, WatchOfParts } from './ports.ts'

/** The times of the watch that this rule needs, in seconds. */
interface ConfirmTimes {
  readonly confirmAfter: number
  readonly wellAfter: number
}

/** Cards about single parts are named by when the parts turned red, or healthy again. */
export const moreNotice = (since: string) => `health:more:${since}` as const
export const lessNotice = (until: string) => `health:less:${until}` as const

/** Returns the parts of a trouble that has just been reported: its first card names all of them. */
export const firstBroken = (parts: readonly HealthPart[], since: string): BrokenParts => ({
  red: parts.map((part) => ({ part, since, turning: null })),
  breaking: [],
  recovered: [],
})

/** Returns the parts of the present trouble. An earlier version stored only its first parts. */
export const brokenOf = ({ broken, red }: WatchOfParts): BrokenParts =>
  broken ?? firstBroken(red?.parts ?? [], red?.since ?? '')

/**
 * Returns the broken parts after one more check of a trouble that continues, and the notices about them. A further part is
 * reported once it is red for `confirmAfter`, and a recovered part once it is healthy for `wellAfter` while a reported part
 * is red: when no part is red, the card about the end of the trouble reports all.
 */
export function afterPartsCheck(
  before: BrokenParts,
  { at, parts }: { readonly at: string; readonly parts: readonly HealthPart[] },
  { confirmAfter, wellAfter }: ConfirmTimes,
): { readonly broken: BrokenParts; readonly notices: readonly HealthNoticeKey[] } {
  const isLongAgo = (moment: string, seconds: number) => Date.parse(at) - Date.parse(moment) >= seconds * 1000
  // A moment that lies ahead was written by the clock of another process, or before the clock was set back.
  const startOf = (moment: string | null | undefined) =>
    moment != null && Date.parse(moment) <= Date.parse(at) ? moment : at
  const isRed = (name: HealthPartName) => parts.some((part) => part.name === name)
  const known = (name: HealthPartName) => before.red.some(({ part }) => part.name === name)

  const red = before.red.map((one) => ({ ...one, turning: isRed(one.part.name) ? null : startOf(one.turning) }))
  const breaking = parts
    .filter(({ name }) => !known(name))
    .map((part) => ({ part, since: startOf(before.breaking.find(({ name }) => name === part.name)?.since) }))
  const joined = breaking.filter(({ since }) => isLongAgo(since, confirmAfter))
  const staysRed = joined.length > 0 || red.some(({ turning }) => turning === null)
  const left = red.filter(({ turning }) => staysRed && turning !== null && isLongAgo(turning, wellAfter))

  const recovered = left.map(({ part, since, turning }) => ({ part, since, until: turning ?? at }))
  const isBack = (name: HealthPartName) => [...joined, ...recovered].some(({ part }) => part.name === name)
  const broken: BrokenParts = {
    red: [
      ...red.filter((one) => !left.includes(one)),
      ...joined.map(({ part, since }) => ({ part, since, turning: null })),
    ],
    breaking: breaking.filter((one) => !joined.includes(one)).map(({ part: { name }, since }) => ({ name, since })),
    recovered: [...before.recovered.filter(({ part }) => !isBack(part.name)), ...recovered],
  }
  const notices = [...joined.map(({ since }) => moreNotice(since)), ...recovered.map(({ until }) => lessNotice(until))]
  return { broken, notices: [...new Set(notices)] }
}
