import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namedPeriod, parseDay, parseDays, parsePeriod } from '../../src/bot/channel/typed-arguments.ts'
import { dayIn, endOf } from '../../src/core/index.ts'
import { seed } from '../support/seed.ts'

/** A Friday; in Zurich it is 00:30 on Saturday. */
const now = new Date('2026-11-20T23:30:00Z')
const utc = (typed: string) => parseDay(typed, now, 'UTC')

describe('a typed period', () => {
  it.each([
    ['3 days', '2026-11-23'],
    ['a day', '2026-11-21'],
    ['a week', '2026-11-27'],
    ['the next two weeks', '2026-12-04'],
    ['One month.', '2026-12-20'],
    ['eine Woche', '2026-11-27'],
    ['3 Tage', '2026-11-23'],
    ['die nächsten zwei Wochen', '2026-12-04'],
    ['fuenf Tagen', '2026-11-25'],
    ['un mois', '2026-12-20'],
    ['quinze jours', '2026-12-05'],
    ['les deux prochaines semaines', '2026-12-04'],
    ['una semana', '2026-11-27'],
    ['dos meses', '2027-01-19'],
    ['10 días', '2026-11-30'],
    ['0 days', undefined],
    ['null Tage', undefined],
    ['some days', undefined],
    ['3', undefined],
    ['a while', undefined],
    ['', undefined],
  ])('of %s ends on %s', (typed, day) => {
    expect(parsePeriod(typed, now, 'UTC')).toBe(day)
  })
})

describe('a typed day', () => {
  it.each([
    ['2026-11-30', '2026-11-30'],
    ['2026-1-5', '2026-01-05'],
    ['30.11.2026', '2026-11-30'],
    ['30.11.26', '2026-11-30'],
    ['30. 11. 2026', '2026-11-30'],
    ['30/11/2026', '2026-11-30'],
    ['11/30/2026', '2026-11-30'],
    ['12/12', '2026-12-12'],
    ['30 November', '2026-11-30'],
    ['30 november 2026', '2026-11-30'],
    ['30. November', '2026-11-30'],
    ['30th of November, 2026', '2026-11-30'],
    ['Nov 30', '2026-11-30'],
    ['Nov. 30', '2026-11-30'],
    ['November 30th, 2027', '2027-11-30'],
    ['Sept 1', '2027-09-01'],
    ['on 1 Dec.', '2026-12-01'],
    ['the end of November 30', '2026-11-30'],
    ['today', '2026-11-20'],
    ['Tomorrow', '2026-11-21'],
  ])('%s is %s', (typed, day) => {
    expect(utc(typed)).toBe(day)
  })

  it.each([
    ['24. Dezember', '2026-12-24'],
    ['24.Dezember', '2026-12-24'],
    ['24.12.', '2026-12-24'],
    ['zum 24. Dez. 2027', '2027-12-24'],
    ['3. März', '2027-03-03'],
    ['3. Maerz', '2027-03-03'],
    ['3. Jänner', '2027-01-03'],
    ['am Freitag', '2026-11-27'],
    ['Mittwoch', '2026-11-25'],
    ['heute', '2026-11-20'],
    ['Morgen', '2026-11-21'],
    ['übermorgen', '2026-11-22'],
    ['24 décembre', '2026-12-24'],
    ['le 24 decembre 2027', '2027-12-24'],
    ['1er mars', '2027-03-01'],
    ['1ᵉʳ mars', '2027-03-01'],
    ['3 août', '2027-08-03'],
    ['vendredi', '2026-11-27'],
    ['mercredi', '2026-11-25'],
    ['aujourd’hui', '2026-11-20'],
    ["aujourd'hui", '2026-11-20'],
    ['demain', '2026-11-21'],
    ['après-demain', '2026-11-22'],
    ['24 de diciembre', '2026-12-24'],
    ['el 24 de diciembre de 2027', '2027-12-24'],
    ['1º de mayo', '2027-05-01'],
    ['el viernes', '2026-11-27'],
    ['MIERCOLES', '2026-11-25'],
    ['hoy', '2026-11-20'],
    ['mañana', '2026-11-21'],
    ['pasado manana', '2026-11-22'],
    ['ayer', '2026-11-19'],
  ])('%s is %s, also in German, French and Spanish', (typed, day) => {
    expect(utc(typed)).toBe(day)
  })

  it.each([
    ['saturday', '2026-11-21'],
    ['Thursday', '2026-11-26'],
    ['thurs', '2026-11-26'],
    ['this tue', '2026-11-24'],
    ['on Monday.', '2026-11-23'],
    ['friday', '2026-11-27'],
  ])('%s is the next such weekday, and next week if it is today', (typed, day) => {
    expect(utc(typed)).toBe(day)
  })

  it.each([
    ['20 Nov', '2026-11-20'],
    ['19 Nov', '2027-11-19'],
    ['19.11.', '2027-11-19'],
    ['1.1.', '2027-01-01'],
    ['19 Nov 2026', '2026-11-19'],
    ['29 Feb 2028', '2028-02-29'],
  ])('%s is the next such day without a year, and the exact day with a year', (typed, day) => {
    expect(utc(typed)).toBe(day)
  })

  it.each([
    ...['', ' ', '3/4', '3/4/2026', 'next friday', 'next week', 'soon', 'fr', 'ma 3', '30', '31.2.2026', '29 Feb'],
    ...['nächsten Freitag', 'vendredi prochain', 'próximo viernes', '3 jui', 'jui', '24. Dez 3', '24 de', 'le', 'bald'],
    ...[
      '0000-01-01',
      '31 June',
      '0.1.2026',
      '2026-13-01',
      '2026-02-30',
      '30 Foo',
      'Nov',
      'Nov 2026',
      '30.11.2026 and more',
    ],
    ...[`$${'{strings}'}`, '__proto__', '2026-11-30T10:00', '٣٠ Nov', '1'.repeat(400)],
  ])('%s is refused as unclear or invalid', (typed) => {
    expect(utc(typed)).toBeUndefined()
  })

  it('is relative to today in the person’s time zone', () => {
    expect(parseDay('today', now, 'Europe/Zurich')).toBe('2026-11-21')
    expect(parseDay('saturday', now, 'Europe/Zurich')).toBe('2026-11-28')
    expect(parseDay('tomorrow', now, 'America/New_York')).toBe('2026-11-21')
    expect(parseDay('today', now, 'Mars/Base')).toBe('2026-11-20')
  })
})

describe('typed days of statistics and exports', () => {
  it.each([
    ['monday to friday', '2026-11-16', '2026-11-20'],
    ['Montag bis Freitag', '2026-11-16', '2026-11-20'],
    ['du lundi au vendredi', '2026-11-16', '2026-11-20'],
    ['de lunes a viernes', '2026-11-16', '2026-11-20'],
    ['thursday to saturday', '2026-11-19', '2026-11-21'],
    ['friday', '2026-11-20', '2026-11-20'],
    ['gestern', '2026-11-19', '2026-11-19'],
    ['hier', '2026-11-19', '2026-11-19'],
    ['from 1 November to 15 November', '2026-11-01', '2026-11-15'],
    ['vom 1. November bis zum 15. November', '2026-11-01', '2026-11-15'],
    ['1.11.2026 bis 15.11.2026', '2026-11-01', '2026-11-15'],
    ['du 1er novembre au 15 novembre', '2026-11-01', '2026-11-15'],
    ['1 novembre jusqu’au 15 novembre', '2026-11-01', '2026-11-15'],
    ['del 1 de noviembre al 15 de noviembre', '2026-11-01', '2026-11-15'],
    ['2026-11-01 hasta 2026-11-15', '2026-11-01', '2026-11-15'],
    ['2026-11-01 2026-11-15', '2026-11-01', '2026-11-15'],
    ['2026-11-01–2026-11-15', '2026-11-01', '2026-11-15'],
    ['2026-11-01, 2026-11-15', '2026-11-01', '2026-11-15'],
    ['20 December to 5 January', '2025-12-20', '2026-01-05'],
    // The core refuses such days with a reason.
    ['2026-11-15 to 2026-11-01', '2026-11-15', '2026-11-01'],
  ])('%s: from %s to %s', (typed, from, to) => {
    expect(parseDays(typed, now, 'UTC')).toEqual({ from, to })
  })

  it.each([
    '',
    'to',
    'monday to',
    'since Christmas',
    '3/4 to today',
    '2026-11-01 2026-11-02 2026-11-03',
    'bis bis bis',
  ])('“%s” is refused', (typed) => {
    expect(parseDays(typed, now, 'UTC')).toBeUndefined()
  })

  it.each([
    ['Last  Month', 'lastMonth'],
    ['letzten Monat', 'lastMonth'],
    ['le mois dernier', 'lastMonth'],
    ['mes pasado', 'lastMonth'],
    ['diese Woche', 'thisWeek'],
    ['ce mois-ci', 'thisMonth'],
    ['ULTIMOS 7 DIAS', 'week'],
    ['30 Tage', 'month'],
    ['next month', undefined],
    ['constructor', undefined],
  ])('“%s” names the period %s', (typed, name) => {
    expect(namedPeriod(typed)).toBe(name)
  })
})

describe('the end of a day', () => {
  it.each([
    ['2026-11-30', 'UTC', '2026-11-30T23:59:59.999Z'],
    ['2026-11-30', 'Europe/Zurich', '2026-11-30T22:59:59.999Z'],
    ['2026-07-01', 'Europe/Zurich', '2026-07-01T21:59:59.999Z'],
    // The clocks change during the day.
    ['2026-10-25', 'Europe/Zurich', '2026-10-25T22:59:59.999Z'],
    ['2026-03-29', 'Europe/Zurich', '2026-03-29T21:59:59.999Z'],
    // The clocks change at midnight: one day has 25 hours, and the next day starts at 01:00.
    ['2026-04-04', 'America/Santiago', '2026-04-05T03:59:59.999Z'],
    ['2026-09-05', 'America/Santiago', '2026-09-06T03:59:59.999Z'],
    ['2026-11-30', 'Pacific/Kiritimati', '2026-11-30T09:59:59.999Z'],
    ['2026-11-30', 'Pacific/Niue', '2026-12-01T10:59:59.999Z'],
    ['2026-11-30', 'Asia/Kathmandu', '2026-11-30T18:14:59.999Z'],
    ['2026-11-30', 'Mars/Base', '2026-11-30T23:59:59.999Z'],
    // Years that people type for "forever" or by mistake.
    ['9999-12-31', 'Europe/Zurich', '9999-12-31T22:59:59.999Z'],
    ['0026-11-30', 'UTC', '0026-11-30T23:59:59.999Z'],
  ])('%s in %s is %s', (day, timeZone, end) => {
    expect(endOf(day, timeZone).toISOString()).toBe(end)
  })

  it('is the last millisecond of the day in every time zone', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const moments = fc.date({ min: new Date('2026-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(moments, fc.constantFrom(...zones), (at, zone) => {
        const day = dayIn(at, zone)
        const end = endOf(day, zone)
        expect(end.getTime()).toBeGreaterThanOrEqual(at.getTime())
        expect(dayIn(end, zone)).toBe(day)
        expect(dayIn(new Date(end.getTime() + 1), zone) > day).toBe(true)
        expect(parseDay(day, at, zone)).toBe(day)
      }),
      { numRuns: 300, seed },
    )
  })

  it('exists for every day that is read from a random text', () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        const day = parseDay(typed, now, 'Europe/Zurich')
        if (day !== undefined) expect(Number.isNaN(endOf(day, 'Europe/Zurich').getTime())).toBe(false)
      }),
      { numRuns: 2000, seed },
    )
  })
})
