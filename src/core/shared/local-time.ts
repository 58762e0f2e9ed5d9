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
