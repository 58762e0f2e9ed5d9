import { describe, expect, it } from 'vitest'
import { dayIn, momentOf, type PeriodName, periodOf, periodOfDays } from '../../src/core/index.ts'

const zurich = { timeZone: 'Europe/Zurich', locale: 'de-CH' }
/** A Friday, 11:45 in Zurich. */
const now = new Date('2026-11-20T10:45:00Z')
const shown = (name: PeriodName, place = zurich, at = now) => {
  const { from, until, before } = periodOf(name, at, place)
  return [from, until, before.from, before.until].map((moment) => moment.toISOString().replace(/:00\.000Z$/, ''))
}

describe('a period', () => {
  it('of days ends now, and is compared with the same number of days before', () => {
    expect(shown('week')).toEqual(['2026-11-13T10:45', '2026-11-20T10:45', '2026-11-06T10:45', '2026-11-13T10:45'])
    expect(shown('month').slice(0, 3)).toEqual(['2026-10-21T10:45', '2026-11-20T10:45', '2026-09-21T10:45'])
  })

  it('of the calendar starts in the viewer’s time zone, and is compared with the same part of the previous period', () => {
    expect(shown('thisWeek')).toEqual(['2026-11-15T23:00', '2026-11-20T10:45', '2026-11-08T23:00', '2026-11-13T10:45'])
    expect(shown('lastWeek')).toEqual(['2026-11-08T23:00', '2026-11-15T23:00', '2026-11-01T23:00', '2026-11-08T23:00'])
    expect(shown('thisMonth')).toEqual(['2026-10-31T23:00', '2026-11-20T10:45', '2026-09-30T22:00', '2026-10-20T09:45'])
    expect(shown('lastMonth')).toEqual(['2026-09-30T22:00', '2026-10-31T23:00', '2026-08-31T22:00', '2026-09-30T22:00'])
  })

  it('starts on the first day of the week in the viewer’s locale', () => {
    const american = { timeZone: 'America/New_York', locale: 'en-US' }
    expect(shown('thisWeek', american)[0]).toBe('2026-11-15T05:00')
    expect(shown('thisWeek', { ...zurich, locale: 'nobody knows' })[0]).toBe('2026-11-15T23:00')
    const sunday = new Date('2026-11-22T12:00:00Z')
    expect(shown('thisWeek', zurich, sunday)[0]).toBe('2026-11-15T23:00')
    expect(shown('thisWeek', american, sunday)[0]).toBe('2026-11-22T05:00')
  })

  it('from 1 to 31 March is compared with the whole of February', () => {
    const end = new Date('2026-03-31T12:00:00Z')
    const { before } = periodOf('thisMonth', end, { timeZone: 'UTC', locale: 'en' })
    expect(before).toEqual({ from: new Date('2026-02-01T00:00:00Z'), until: new Date('2026-03-01T00:00:00Z') })
  })

  it('between two days includes both, and ends now at the latest', () => {
    const { from, until, before } = periodOfDays('2026-10-24', '2026-10-25', now, zurich)
    expect([from, until].map((at) => at.toISOString())).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
    expect(before.from.toISOString()).toBe('2026-10-21T22:00:00.000Z')
    expect(periodOfDays('2026-11-19', '2026-11-20', now, zurich).until).toEqual(now)
  })
})

describe('the moment of an hour', () => {
  const at = (day: string, hour: number, timeZone: string) => momentOf(day, hour, timeZone).toISOString().slice(0, 16)

  it.each([
    ['2026-11-20', 8, 'Europe/Zurich', '2026-11-20T07:00'],
    ['2026-07-20', 8, 'Europe/Zurich', '2026-07-20T06:00'],
    ['2026-11-20', 8, 'Asia/Kolkata', '2026-11-20T02:30'],
    ['2026-11-20', 0, 'Pacific/Kiritimati', '2026-11-19T10:00'],
    ['2026-11-20', 8, 'Pacific/Pago_Pago', '2026-11-20T19:00'],
    ['2026-11-20', 8, 'nowhere', '2026-11-20T08:00'],
    // The clocks go from 2 to 3, and from 3 to 2.
    ['2026-03-29', 2, 'Europe/Zurich', '2026-03-29T01:00'],
    ['2026-03-29', 8, 'Europe/Zurich', '2026-03-29T06:00'],
    ['2026-10-25', 2, 'Europe/Zurich', '2026-10-25T00:00'],
    ['2026-10-25', 8, 'Europe/Zurich', '2026-10-25T07:00'],
    ['2026-03-28', 23, 'Europe/Zurich', '2026-03-28T22:00'],
    // The clocks go from midnight to 1.
    ['2026-04-24', 0, 'Africa/Cairo', '2026-04-23T22:00'],
  ])('on %s at %i in %s is %s UTC', (day, hour, timeZone, moment) => {
    expect(at(day, hour, timeZone)).toBe(moment)
    expect(dayIn(momentOf(day, hour, timeZone), timeZone)).toBe(day)
  })
})
