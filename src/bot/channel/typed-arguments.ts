import { type Days, dayAfter, dayIn, type PeriodName, type Person } from '../../core/index.ts'
import type { Turn } from './turn.ts'
import { months, nearDays, plain, splitAt, typedPhrases, weekdays } from './typed-phrases.ts'

/** Arguments that people type after a command, in any of our languages: a person, a calendar day or a period. */

export interface FoundPeople {
  readonly people: readonly Person[]
  /** The text is a whole name, a sign-in name or a mention, so it can mean only this person. */
  readonly isSure: boolean
}

/**
 * Finds the people that a text can mean: a mention, a sign-in name, a name or the beginning of a name. “to” before the name
 * does not matter. The whole text is tried first, because An is German for “to” and also a name.
 */
export async function peopleMeant(turn: Turn, typed: string): Promise<FoundPeople> {
  const whole = await peopleNamed(turn, typed)
  const name = withoutTo(typed)
  if (whole.isSure || name === typed || name === '') return whole
  const named = await peopleNamed(turn, name)
  return named.isSure || whole.people.length === 0 ? named : whole
}

/** Whether a text means the person who types it: “me”, “to me”. */
export const isMyself = (typed: string): boolean => typedPhrases.myself.has(plain(withoutTo(typed)))

/** Returns a text without “to” at its start. */
function withoutTo(typed: string): string {
  const [first = '', ...rest] = typed.trim().split(/\s+/)
  return typedPhrases.toPerson.has(plain(first)) ? rest.join(' ') : typed
}

async function peopleNamed({ core, actor, mentions }: Turn, typed: string): Promise<FoundPeople> {
  const mentioned = mentions.find(({ name, id }) => id !== undefined && isSame(name, typed))?.id
  if (mentioned !== undefined) return { people: await core.findColleagues(actor, { typed: mentioned }), isSure: true }
  const people = await core.findColleagues(actor, { typed })
  return { people, isSure: people.length === 1 && people.some((person) => isCalled(person, typed)) }
}

/** Whether a text names a person. A display name can be any text, even the address of another person. */
const isCalled = ({ displayName, userPrincipalName }: Person, typed: string): boolean =>
  isSame(userPrincipalName, typed) || (!typed.includes('@') && isSame(displayName, typed))

/** Compares names without case and without the marks of letters. */
const isSame = (one: string, other: string): boolean => bare(one) === bare(other)
const bare = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Whether a day without a year or a weekday is the next one, or the last one up to today. */
type Which = 'next' | 'last'

/**
 * Returns the day of a text as `2026-11-30`. Reads `2026-11-30`, `30.11.2026`, `30 November`, `Nov 30`, `1er mars`,
 * `friday` (today's name means next week), `today`, `tomorrow` and `yesterday`. Undefined for a text that can mean two days
 * (`3/4`) or is no day.
 */
export function parseDay(typed: string, now: Date, timeZone: string, which: Which = 'next'): string | undefined {
  const today = dayIn(now, timeZone)
  const text = plain(typed)
    .replace(/(\d)\.(?=[a-z])/, '$1 ')
    .split(' ')
    .filter((part) => !typedPhrases.inDay.has(part))
    .join(' ')
  return named(text, today, which) ?? inNumbers(text, today, which) ?? withMonth(text, today, which)
}

/**
 * Returns the first and the last day in a text: two days such as `monday to friday`, or one. Days without a year and
 * weekdays are past ones, but the last day follows the first. Undefined for another text.
 */
export function parseDays(typed: string, now: Date, timeZone: string): Days | undefined {
  const text = typed.replace(/(\d{4}-\d{2}-\d{2})\s*[\s,–]\s*(?=\d{4}-)/, '$1 – ')
  const { before, after } = splitAt(text, typedPhrases.between) ?? { before: text, after: text }
  const from = parseDay(before, now, timeZone, 'last')
  const [last, next] = (['last', 'next'] as const).map((which) => parseDay(after, now, timeZone, which))
  if (!from || !last || !next) return undefined
  return { from, to: last < from ? next : last }
}

/** Returns the period with this name: `last month`. Undefined for another text. */
export const namedPeriod = (typed: string): PeriodName | undefined => typedPhrases.periods.get(plain(typed))

/** Returns the last day of a period from today: `3 days`, `a week`, `two months`. Undefined for another text. */
export function parsePeriod(typed: string, now: Date, timeZone: string): string | undefined {
  const [quantity = '', name = '', ...more] = plain(typed)
    .split(' ')
    .filter((part) => !typedPhrases.inPeriod.has(part))
  const count = typedPhrases.numbers.get(quantity) ?? (/^\d{1,3}$/.test(quantity) ? Number(quantity) : 0)
  const unit = typedPhrases.units.get(name)
  if (count === 0 || unit === undefined || more.length > 0) return undefined
  return dayAfter(dayIn(now, timeZone), count * daysOf[unit])
}

const daysOf = { day: 1, week: 7, month: 30 }

/** Returns a day by its name: a weekday, today or tomorrow. */
function named(text: string, today: string, which: Which): string | undefined {
  const fromToday = nearDays().get(text)
  if (fromToday !== undefined) return dayAfter(today, fromToday)
  const weekday = numberOf(text, weekdays())
  if (weekday === undefined) return undefined
  const ahead = weekday - new Date(today).getUTCDay()
  return dayAfter(today, which === 'next' ? ((ahead + 6) % 7) + 1 : -((7 - ahead) % 7))
}

function inNumbers(text: string, today: string, which: Which): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? []
  if (year) return dayWith(year, Number(month), Number(day), today, which)
  const dotted = /^(\d{1,2})\. ?(\d{1,2})(?:\. ?(\d{4}|\d{2}))?$/.exec(text)
  if (dotted) return dayWith(dotted[3], Number(dotted[2]), Number(dotted[1]), today, which)
  const slashed = /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?$/.exec(text)
  const [one, other] = [Number(slashed?.[1]), Number(slashed?.[2])]
  // Some countries write the month first, so an ambiguous date is not accepted.
  if (!slashed || (one <= 12 && other <= 12 && one !== other)) return undefined
  const [typedMonth, typedDay] = one > 12 ? [other, one] : [one, other]
  return dayWith(slashed[3], typedMonth, typedDay, today, which)
}

/** Reads a day with the name of its month. Two letters may follow the day: `30th`, `1er`. */
function withMonth(text: string, today: string, which: Which): string | undefined {
  const number = String.raw`(\d{1,2})(?:\.|[a-z]{2}|o)?`
  const dayFirst = new RegExp(`^${number} ([a-z]+)\\.?(?: (\\d{4}))?$`).exec(text)
  const monthFirst = new RegExp(`^([a-z]+)\\.? ${number}(?: (\\d{4}))?$`).exec(text)
  const [day, name = '', year] = dayFirst
    ? [dayFirst[1], dayFirst[2], dayFirst[3]]
    : [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]]
  const month = numberOf(name, months())
  return month === undefined ? undefined : dayWith(year, month, Number(day), today, which)
}

/** Returns the day of a year; without a year, the next or last such day. Undefined if the day does not exist. */
function dayWith(
  year: string | undefined,
  month: number,
  day: number,
  today: string,
  which: Which,
): string | undefined {
  if (year !== undefined) return existing(Number(year.length === 2 ? `20${year}` : year), month, day)
  const thisYear = Number(today.slice(0, 4))
  const isWanted = (one: string): boolean => (which === 'next' ? one >= today : one <= today)
  return [thisYear, which === 'next' ? thisYear + 1 : thisYear - 1]
    .map((one) => existing(one, month, day))
    .find((one) => one !== undefined && isWanted(one))
}

function existing(year: number, month: number, day: number): string | undefined {
  const written = [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join(
    '-',
  )
  const date = new Date(`${written}T00:00:00Z`)
  return year > 0 && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(written) ? written : undefined
}

/** Returns the number of a name. Its first letters are enough, at least three, if no other number has such a name. */
function numberOf(start: string, names: ReadonlyMap<string, number>): number | undefined {
  if (start.length < 3) return undefined
  const found = new Set([...names].filter(([name]) => name.startsWith(start)).map(([, number]) => number))
  return found.size === 1 ? [...found][0] : undefined
}
