import { dayAfter, dayIn, type Person } from '../../core/index.ts'
import type { Turn } from './turn.ts'

/** Arguments that people type after a command: a person or a calendar day. */

export interface FoundPeople {
  readonly people: readonly Person[]
  /** The text is a whole name, a sign-in name or a mention, so it can mean only this person. */
  readonly isSure: boolean
}

/** Finds the people that a text can mean: a mention, a sign-in name, a name or the beginning of a name. */
export async function peopleMeant({ core, actor, mentions }: Turn, typed: string): Promise<FoundPeople> {
  const mentioned = mentions.find(({ name, id }) => id !== undefined && isSame(name, typed))?.id
  if (mentioned !== undefined) return { people: await core.findColleagues(actor, { typed: mentioned }), isSure: true }
  const people = await core.findColleagues(actor, { typed })
  return { people, isSure: people.length === 1 && people.some((person) => isCalled(person, typed)) }
}

/** Whether a text names a person. A display name can be any text, even the address of another person. */
const isCalled = ({ displayName, userPrincipalName }: Person, typed: string): boolean =>
  isSame(userPrincipalName, typed) || (!typed.includes('@') && isSame(displayName, typed))

/** Compares names without case and without the marks of letters. */
const isSame = (one: string, other: string): boolean => plain(one) === plain(other)
const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

const language = 'en'

/**
 * Returns the day of a text as `2026-11-30`. Reads `2026-11-30`, `30.11.2026`,
 * `30 November`, `Nov 30`, `friday` (the next one; today's name means next week), `today` and `tomorrow`. Without a
 * year it is the next such day. Undefined for a text that can mean two days (`3/4`) or is no day.
 */
export function parseDay(typed: string, now: Date, timeZone: string): string | undefined {
  const today = dayIn(now, timeZone)
  const text = typed
    .trim()
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.,!]+$/, '')
    .replace(/^(?:the )?end of /, '')
    .replace(/^(?:on|this) /, '')
  return named(text, today) ?? inNumbers(text, today) ?? withMonth(text, today)
}

/** Returns the last day of a period from today: `3 days`, `a week`, `two months`. Undefined for another text. */
export function parsePeriod(typed: string, now: Date, timeZone: string): string | undefined {
  const text = typed
    .trim()
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.,!]+$/, '')
  const [, quantity = '', unit = ''] = /^(?:the )?(?:next )?([a-z]+|\d{1,3}) (day|week|month)s?$/.exec(text) ?? []
  const spelled = numbers.indexOf(quantity)
  const count = /^an?$/.test(quantity) ? 1 : spelled >= 0 ? spelled + 1 : Number(quantity)
  if (!(count > 0)) return undefined
  const today = dayIn(now, timeZone)
  return dayAfter(today, count * daysOf[unit === 'day' ? 'day' : unit === 'week' ? 'week' : 'month'])
}

const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
const daysOf = { day: 1, week: 7, month: 30 }

/** Returns a day by its name: a weekday, today or tomorrow. */
function named(text: string, today: string): string | undefined {
  const fromToday = [0, 1].find((days) => text === nearDays.format(days, 'day'))
  if (fromToday !== undefined) return dayAfter(today, fromToday)
  const weekday = placeOf(text, weekdays)
  if (weekday === undefined) return undefined
  return dayAfter(today, ((weekday - new Date(today).getUTCDay() + 6) % 7) + 1)
}

function inNumbers(text: string, today: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? []
  if (year) return dayWith(year, Number(month), Number(day), today)
  const dotted = /^(\d{1,2})\. ?(\d{1,2})(?:\. ?(\d{4}|\d{2}))?$/.exec(text)
  if (dotted) return dayWith(dotted[3], Number(dotted[2]), Number(dotted[1]), today)
  const slashed = /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?$/.exec(text)
  const [one, other] = [Number(slashed?.[1]), Number(slashed?.[2])]
  // Some countries write the month first, so an ambiguous date is not accepted.
  if (!slashed || (one <= 12 && other <= 12 && one !== other)) return undefined
  return one > 12 ? dayWith(slashed[3], other, one, today) : dayWith(slashed[3], one, other, today)
}

function withMonth(text: string, today: string): string | undefined {
  const number = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
  const year = String.raw`(?:,? (\d{4}))?`
  const dayFirst = new RegExp(`^${number}\\.?(?: of)? ([a-z]+)\\.?${year}$`).exec(text)
  const monthFirst = new RegExp(`^([a-z]+)\\.? ${number}${year}$`).exec(text)
  const [day, name, typedYear] = dayFirst
    ? [dayFirst[1], dayFirst[2], dayFirst[3]]
    : [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]]
  const month = name === undefined ? undefined : placeOf(name, months)
  return month === undefined ? undefined : dayWith(typedYear, month + 1, Number(day), today)
}

/** Returns the day of a year; without a year, the next such day from today. Undefined if the day does not exist. */
function dayWith(year: string | undefined, month: number, day: number, today: string): string | undefined {
  if (year !== undefined) return existing(Number(year.length === 2 ? `20${year}` : year), month, day)
  const thisYear = Number(today.slice(0, 4))
  return [thisYear, thisYear + 1]
    .map((one) => existing(one, month, day))
    .find((one) => one !== undefined && one >= today)
}

function existing(year: number, month: number, day: number): string | undefined {
  const written = [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join(
    '-',
  )
  const date = new Date(`${written}T00:00:00Z`)
  return year > 0 && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(written) ? written : undefined
}

/** Returns the index of a name. Its first three letters are enough. */
function placeOf(start: string, names: readonly string[]): number | undefined {
  const place = names.findIndex((name) => name.startsWith(start))
  return start.length < 3 || place < 0 ? undefined : place
}

const nearDays = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
const namesOf = (style: Intl.DateTimeFormatOptions, dates: readonly number[]): string[] =>
  dates.map((date) => new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' }).format(date).toLowerCase())
// 1 November 2026 is a Sunday, the first day as JavaScript counts them.
const weekdays = namesOf(
  { weekday: 'long' },
  [0, 1, 2, 3, 4, 5, 6].map((index) => Date.UTC(2026, 10, 1 + index)),
)
const months = namesOf(
  { month: 'long' },
  [...Array(12).keys()].map((index) => Date.UTC(2026, index, 1)),
)
