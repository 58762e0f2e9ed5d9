import { z } from 'zod'

// Days and clocks in time zones. A day is a text such as `2026-11-30`; such texts sort in order of time.
const language = 'en'
const milliseconds = { hour: 3_600_000, day: 86_400_000 }

/** Returns the day in a time zone at a moment. An unknown time zone counts as UTC. */
export const dayIn = (at: Date, timeZone: string): string => clockAt(at, timeZone).toISOString().slice(0, 10)

/** Returns the day that is `days` later; earlier for a negative number. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * milliseconds.day).toISOString().slice(0, 10)

/** Returns the last moment of a day in a time zone, also when the clocks change on that day. */
export function endOf(day: string, timeZone: string): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`) + milliseconds.day
  const ends = readings(midnight, timeZone)
    .map((start) => new Date(start.getTime() - 1))
    .filter((end) => dayIn(end, timeZone) === day)
  return new Date(Math.max(...ends.map(Number)))
}

/**
 * Returns the first moment of a day at which the clocks show this hour (0 to 23) or a later one. A change of the clocks can skip
 * the hour or repeat it.
 */
export function momentOf(day: string, hour: number, timeZone: string): Date {
  const wanted = Date.parse(`${day}T00:00:00Z`) + hour * milliseconds.hour
  const found = readings(wanted, timeZone)
  const reached = found.filter((moment) => clockAt(moment, timeZone).getTime() >= wanted)
  return new Date(Math.min(...(reached.length > 0 ? reached : found).map(Number)))
}

/** Returns the moments at which the clocks may show `shown`: with the offset of a day before and of a day after. */
function readings(shown: number, timeZone: string): Date[] {
  return [-26, 26]
    .map((hours) => new Date(shown + hours * milliseconds.hour))
    .map((near) => new Date(shown - (clockAt(near, timeZone).getTime() - near.getTime())))
}

/** Returns the clock time of a time zone at a moment, written as if it were UTC. */
function clockAt(at: Date, timeZone: string): Date {
  const parts = clockOf(timeZone).formatToParts(at)
  const part = (wanted: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find(({ type }) => type === wanted)?.value)
  // Sets each part: a date text has another form for years without four digits.
  const shown = new Date(0)
  shown.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  shown.setUTCHours(part('hour'), part('minute'), part('second'), at.getUTCMilliseconds())
  return shown
}

/** Kept, because a new clock takes ten times as long as its use. */
const clocks = new Map<string, Intl.DateTimeFormat>()
/** More than the time zones of the world. People's clients send the names, so their number has a limit. */
const keptClocks = 1000

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const kept = clocks.get(timeZone)
  if (kept) return kept
  if (clocks.size >= keptClocks) clocks.clear()
  const clock = newClock(timeZone)
  clocks.set(timeZone, clock)
  return clock
}

function newClock(timeZone: string): Intl.DateTimeFormat {
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

/** Returns the week of a locale such as `ar-AE` (Unicode CLDR, "Week Data"). The default is Monday to Sunday. */
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

/** Returns the day of the week, Monday = 1 to Sunday = 7. */
export const weekdayOf = (day: string): number => new Date(day).getUTCDay() || 7

/** A time span with an exclusive end. */
export interface Span {
  readonly from: Date
  readonly until: Date
}

/** The named periods: the last seven or thirty days, and calendar weeks and months. */
export const periodNames = ['week', 'month', 'thisWeek', 'lastWeek', 'thisMonth', 'lastMonth'] as const
export type PeriodName = (typeof periodNames)[number]

/** A period and the equally long one before it. `days`: from one chosen day to another. */
export interface Period extends Span {
  readonly name: PeriodName | 'days'
  readonly before: Span
}

/** The time zone and locale of a calendar. */
export interface Place {
  readonly timeZone: string
  readonly locale: string
}

const dayMilliseconds = 86_400_000

/** Returns the named period in a place. A current period ends now. */
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

/** Returns the period from the start of `first` to the end of `last`, or until now. `last` must not be before `first`. */
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

/** `begins`: the first days of the current period and of the two before it. */
function ofCalendar(name: PeriodName, begins: readonly string[], now: Date, { timeZone }: Place): Period {
  const [current, last, former] = begins.map((day) => momentOf(day, 0, timeZone)) as [Date, Date, Date]
  const isLast = name.startsWith('last')
  if (isLast) return { name, from: last, until: current, before: { from: former, until: last } }
  // Compares half a week with the first half of the last one.
  const span = { from: current, until: now }
  return { name, ...span, before: { from: last, until: sameLength(last, span, current) } }
}

const sameLength = (from: Date, span: Span, atMost: Date): Date =>
  earlier(new Date(from.getTime() + span.until.getTime() - span.from.getTime()), atMost)
const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

/** Returns the first day of the month that is `months` before the month of `day`. */
function monthBefore(day: string, months: number): string {
  const first = new Date(`${day.slice(0, 7)}-01T00:00:00Z`)
  first.setUTCMonth(first.getUTCMonth() - months)
  return first.toISOString().slice(0, 10)
}
