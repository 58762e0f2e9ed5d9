import { dayAfter, dayIn, momentOf, weekdayOf, weekOf } from './local-time.ts'

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
