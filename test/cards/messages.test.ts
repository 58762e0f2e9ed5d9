import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../src/cards/index.ts'
import { siteLink } from '../../src/cards/shared/links.ts'
import { inLanguage } from '../../src/cards/shared/messages.ts'
import { cut, duration, moment, peopleList } from '../../src/cards/shared/texts.ts'
import { at, dana, kim, requests, siteRoot, viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'
import { foreignUrls } from '../support/hostile-texts.ts'

describe('texts', () => {
  const viewer = (more: Partial<Viewer>) => viewerOf(kim, more)

  const momentIn = (more: Partial<Viewer>, stamp: string, style: 'day' | 'full') => {
    const reader = viewer(more)
    return inLanguage(reader.locale, () => moment(stamp, reader, style))
  }

  it('show the time for today and else the day, in the viewer’s format', () => {
    expect(momentIn({}, at('09:02'), 'full')).toBe('10:02')
    expect(momentIn({}, '2026-11-19T23:30:00Z', 'day')).toBe('00:30')
    expect(momentIn({}, '2026-11-18T09:02:00Z', 'day')).toBe('18 Nov')
    expect(momentIn({}, '2026-11-18T09:02:00Z', 'full')).toBe('18 Nov, 10:02')
    expect(momentIn({}, '2025-11-18T09:02:00Z', 'day')).toBe('18 Nov 2025')
    expect(momentIn({ locale: 'en-US', timeZone: 'America/New_York' }, at('09:02'), 'full')).toMatch(/^4:02\sAM$/)
    expect(momentIn({ locale: 'de-CH' }, '2026-11-18T09:02:00Z', 'full')).toBe('18. Nov., 10:02')
    expect(momentIn({ locale: 'fr-CA' }, '2026-11-18T09:02:00Z', 'day')).toBe('18 nov.')
  })

  it('fall back from an unknown locale or time zone', () => {
    expect(momentIn({ locale: 'not a locale' }, at('09:02'), 'full')).toMatch(/10:02/)
    expect(momentIn({ timeZone: 'Mars/Base' }, at('09:02'), 'full')).toBe('09:02')
    expect(momentIn({ locale: '', timeZone: '' }, at('09:02'), 'full')).toMatch(/0?9:02/)
  })

  it('are cut between graphemes', () => {
    expect(cut('Building 39, drawings and minutes', 32)).toBe('Building 39, drawings and…')
    expect(cut('a Donaudampfschifffahrtsgesellschaft', 10)).toBe('a Donauda…')
    expect(cut('Project Aurora', 32)).toBe('Project Aurora')
    expect(cut('Board of directors', 10)).toBe('Board of…')
    expect(cut('👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 2).length).toBeLessThanOrEqual(9)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, most) => {
        const shown = cut(text, most)
        expect(shown.length).toBeLessThanOrEqual(2 * most + 1)
        // A text up to the length of a title is one line.
        const lines = [text, text.replace(/[\n\r\u0085\u2028\u2029]+/g, ' ')]
        expect(lines.some((line) => shown === line || line.startsWith(shown.slice(0, -1)))).toBe(true)
      }),
    )
  })

  it('name at most five people, and the number of the others', () => {
    const many = Array.from({ length: 7 }, () => dana)
    expect(peopleList(many, 'or')).toBe('Dana Fox, Dana Fox, Dana Fox, Dana Fox, or 3 others')
  })

  it('show durations in one unit', () => {
    expect([8_000, 41 * 60_000, 3 * 3_600_000, 3 * 86_400_000].map(duration)).toEqual([
      '8 sec',
      '41 min',
      '3 hr',
      '3 days',
    ])
  })

  it('link only to addresses of the organisation’s origin', () => {
    expect(siteLink(`${siteRoot}x`, siteRoot)).toBe(`${siteRoot}x`)
    expect(siteLink('http://127.0.0.1:3979/sites/x', 'http://127.0.0.1:3979/sites/')).toBe(
      'http://127.0.0.1:3979/sites/x',
    )
    for (const url of [...foreignUrls, undefined]) expect(siteLink(url, siteRoot), url).toBe('')
  })

  it.each([
    ['name-taken', 'The address is now taken'],
    ['not-there-yet', 'was not ready in time'],
    ['sign-in-refused', 'rejects the sign-in of the service'],
    ['timeout', 'Microsoft 365 did not answer'],
    ['http-503', 'Microsoft 365 did not answer'],
    ['TooManyRequests', 'Microsoft 365 did not answer'],
    ['Request_BadRequest', 'Microsoft 365 refused this step'],
    ['toString', 'Microsoft 365 refused this step'],
    ['unexpected', 'An unexpected error occurred'],
  ])('show our text for the problem %s: %s; an admin reads the original error', (code, text) => {
    const detail = 'Microsoft Graph answered 400 (Request_BadRequest) while creating the group.'
    const failed = { ...requests.failed, problem: { code, detail, step: 'add-owners' } }
    const read = (isAdmin: boolean) => textOf(cards.requestStatus(failed, viewer({ isAdmin })))
    expect(read(false)).toContain(text)
    expect(read(false)).not.toContain('Graph')
    expect(read(true)).toContain(detail)
  })
})
