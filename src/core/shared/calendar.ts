import { z } from 'zod'

/** Clocks and calendars of places. A day is written `2026-11-30`; days so written sort as they follow each other. */
const language = 'en'
const milliseconds = { hour: 3_600_000, day: 86_400_000 }

/** The day that it is somewhere at a moment. A time zone that nobody knows is UTC. */
export const dayIn = (at: Date, timeZone: string): string => clockAt(at, timeZone).toISOString().slice(0, 10)

/** The day that comes so many days later; earlier for fewer than none. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * milliseconds.day).toISOString().slice(0, 10)

/** The last moment of a day somewhere, also of one that ends an hour early or late since the clocks change. */
export function endOf(day: string, timeZone: string): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`) + milliseconds.day
  const ends = readings(midnight, timeZone)
    .map((start) => new Date(start.getTime() - 1))
    .filter((end) => dayIn(end, timeZone) === day)
  return new Date(Math.max(...ends.map(Number)))
}

/**
 * The first moment of a day at which the clocks somewhere show an hour, 0 to 23, or a later one: where they are put forward over
 * that hour, as soon as they are past it; where it comes twice, the first time.
 */
export function momentOf(day: string, hour: number, timeZone: string): Date {
  const wanted = Date.parse(`${day}T00:00:00Z`) + hour * milliseconds.hour
  const found = readings(wanted, timeZone)
  const reached = found.filter((moment) => clockAt(moment, timeZone).getTime() >= wanted)
  return new Date(Math.min(...(reached.length > 0 ? reached : found).map(Number)))
}

/** The moments at which the clocks may show what is given as if it were UTC: by how they go a day before, and a day after. */
function readings(shown: number, timeZone: string): Date[] {
  return [-26, 26]
    .map((hours) => new Date(shown + hours * milliseconds.hour))
    .map((near) => new Date(shown - (clockAt(near, timeZone).getTime() - near.getTime())))
}

/** What the clocks show somewhere at a moment, as if it were UTC. */
function clockAt(at: Date, timeZone: string): Date {
  const parts = clockOf(timeZone).formatToParts(at)
  const part = (wanted: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find(({ type }) => type === wanted)?.value)
  // Set part by part, since a year of one or of five digits is not written like the others.
  const shown = new Date(0)
  shown.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  shown.setUTCHours(part('hour'), part('minute'), part('second'), at.getUTCMilliseconds())
  return shown
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit' as const
  const shown = {
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    hourCycle: 'h23',
  } as const
  try {
    return new Intl.DateTimeFormat(language, { ...shown, timeZone })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return new Intl.DateTimeFormat(language, { ...shown, timeZone: 'UTC' })
  }
}

/** Days of a week, Monday = 1 to Sunday = 7. */
const week = z.object({ firstDay: z.int(), weekend: z.array(z.int()) })
type Week = z.output<typeof week>

/** How weeks go where a locale such as `ar-AE` is spoken (Unicode CLDR, "Week Data"). One that nobody knows has the usual week. */
export function weekOf(locale: string): Week {
  const usual: Week = { firstDay: 1, weekend: [6, 7] }
  try {
    const known: Intl.Locale & { getWeekInfo?(): unknown } = new Intl.Locale(locale)
    return week.safeParse(known.getWeekInfo?.()).data ?? usual
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return usual
  }
}

/** Which day of the week a day is, Monday = 1 to Sunday = 7. */
export const weekdayOf = (day: string): number => new Date(day).getUTCDay() || 7

/** From a moment on, until another that is no part of it. */
export interface Span {
  readonly from: Date
  readonly until: Date
}

/** Periods that can be asked for by name: the last seven or thirty days, and weeks and months of the calendar. */
export const periodNames = ['week', 'month', 'thisWeek', 'lastWeek', 'thisMonth', 'lastMonth'] as const
export type PeriodName = (typeof periodNames)[number]

/** What is looked back on, and the same length of time before it. `days`: those that somebody named. */
export interface Period extends Span {
  readonly name: PeriodName | 'days'
  readonly before: Span
}

/** Whose calendar it is. */
export interface Place {
  readonly timeZone: string
  readonly locale: string
}

const dayMilliseconds = 86_400_000

/** A period by its name, as it is now where somebody is. One that is not over yet ends now. */
export function periodOf(name: PeriodName, now: Date, place: Place): Period {
  if (name === 'week') return rolling(name, now, 7)
  if (name === 'month') return rolling(name, now, 30)
  const today = dayIn(now, place.timeZone)
  if (name === 'thisWeek' || name === 'lastWeek') {
    const { firstDay } = weekOf(place.locale)
    const first = dayAfter(today, -((weekdayOf(today) - firstDay + 7) % 7))
    const begins = [0, -7, -14].map((days) => dayAfter(first, days))
    return ofCalendar(name, begins, now, place)
  }
  const begins = [0, 1, 2].map((months) => monthBefore(today, months))
  return ofCalendar(name, begins, now, place)
}

/** From the beginning of a day to the end of another, which is not before it. */
export function periodOfDays(first: string, last: string, now: Date, { timeZone }: Place): Period {
  const from = momentOf(first, 0, timeZone)
  const until = earlier(momentOf(dayAfter(last, 1), 0, timeZone), now)
  const days = Math.round((Date.parse(last) - Date.parse(first)) / dayMilliseconds) + 1
  const before = momentOf(dayAfter(first, -days), 0, timeZone)
  return { name: 'days', from, until, before: { from: before, until: sameLength(before, { from, until }, from) } }
}

function rolling(name: PeriodName, now: Date, days: number): Period {
  const ago = (times: number) => new Date(now.getTime() - times * days * dayMilliseconds)
  return { name, from: ago(1), until: now, before: { from: ago(2), until: ago(1) } }
}

/** `begins`: the first days of this period, of the last one and of the one before. */
function ofCalendar(name: PeriodName, begins: readonly string[], now: Date, { timeZone }: Place): Period {
  const [current, last, former] = begins.map((day) => momentOf(day, 0, timeZone)) as [Date, Date, Date]
  const isLast = name.startsWith('last')
  if (isLast) return { name, from: last, until: current, before: { from: former, until: last } }
  // Half of a week is held against half of the last one.
  const span = { from: current, until: now }
  return { name, ...span, before: { from: last, until: sameLength(last, span, current) } }
}

const sameLength = (from: Date, span: Span, atMost: Date): Date =>
  earlier(new Date(from.getTime() + span.until.getTime() - span.from.getTime()), atMost)
const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

/** The first day of the month, or of one so many months before. */
function monthBefore(day: string, months: number): string {
  const first = new Date(`${day.slice(0, 7)}-01T00:00:00Z`)
  first.setUTCMonth(first.getUTCMonth() - months)
  return first.toISOString().slice(0, 10)
}
