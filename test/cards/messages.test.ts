import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cards, type Viewer } from '../../src/cards/index.ts'
import { siteLink } from '../../src/cards/shared/links.ts'
import { cut, duration, moment, peopleList } from '../../src/cards/shared/texts.ts'
import { at, dana, kim, requests, siteRoot, viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { foreignUrls } from '../support/hostile-texts.ts'

describe('words', () => {
  const viewer = (more: Partial<Viewer>) => viewerOf(kim, more)

  it('give the time today, and the day otherwise, as the viewer reads them', () => {
    expect(moment(at('09:02'), viewer({}), 'full')).toBe('10:02')
    expect(moment('2026-11-19T23:30:00Z', viewer({}), 'day')).toBe('00:30')
    expect(moment('2026-11-18T09:02:00Z', viewer({}), 'day')).toBe('18 Nov')
    expect(moment('2026-11-18T09:02:00Z', viewer({}), 'full')).toBe('18 Nov, 10:02')
    expect(moment('2025-11-18T09:02:00Z', viewer({}), 'day')).toBe('18 Nov 2025')
    expect(moment(at('09:02'), viewer({ locale: 'en-US', timeZone: 'America/New_York' }), 'full')).toMatch(/^4:02\sAM$/)
  })

  it('do without a locale or a time zone that nobody knows', () => {
    expect(moment(at('09:02'), viewer({ locale: 'not a locale' }), 'full')).toMatch(/10:02/)
    expect(moment(at('09:02'), viewer({ timeZone: 'Mars/Base' }), 'full')).toBe('09:02')
    expect(moment(at('09:02'), viewer({ locale: '', timeZone: '' }), 'full')).toMatch(/0?9:02/)
  })

  it('are cut between letters as people see them', () => {
    expect(cut('Project Aurora', 32)).toBe('Project Aurora')
    expect(cut('Board of directors', 10)).toBe('Board of…')
    expect(cut('👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 2).length).toBeLessThanOrEqual(9)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, most) => {
        const shown = cut(text, most)
        expect(shown.length).toBeLessThanOrEqual(2 * most + 1)
        // What is as short as a title stands on one line.
        const lines = [text, text.replace(/[\n\r\u0085\u2028\u2029]+/g, ' ')]
        expect(lines.some((line) => shown === line || line.startsWith(shown.slice(0, -1)))).toBe(true)
      }),
    )
  })

  it('name five people at most, and say how many others there are', () => {
    const many = Array.from({ length: 7 }, () => dana)
    expect(peopleList(many, 'or')).toBe('Dana Fox, Dana Fox, Dana Fox, Dana Fox, or 3 others')
  })

  it('give durations in one unit', () => {
    expect([8_000, 41 * 60_000, 3 * 3_600_000, 3 * 86_400_000].map(duration)).toEqual([
      '8 sec',
      '41 min',
      '3 hr',
      '3 days',
    ])
  })

  it('make links only of addresses below the organisation’s own origin', () => {
    expect(siteLink(`${siteRoot}x`, siteRoot)).toBe(`${siteRoot}x`)
    expect(siteLink('http://127.0.0.1:3979/sites/x', 'http://127.0.0.1:3979/sites/')).toBe(
      'http://127.0.0.1:3979/sites/x',
    )
    for (const url of [...foreignUrls, undefined]) expect(siteLink(url, siteRoot), url).toBe('')
  })

  it.each([
    ['name-taken', 'The address was taken meanwhile'],
    ['not-there-yet', 'did not become ready'],
    ['sign-in-refused', 'does not let Quartermaster in'],
    ['timeout', 'Microsoft 365 did not answer'],
    ['http-503', 'Microsoft 365 did not answer'],
    ['TooManyRequests', 'Microsoft 365 did not answer'],
    ['Request_BadRequest', 'Microsoft 365 refused it'],
    ['toString', 'Microsoft 365 refused it'],
    ['unexpected', 'Something unforeseen happened'],
  ])('tell the problem %s in our own: %s; an admin reads what was answered', (code, words) => {
    const detail = 'Microsoft Graph answered 400 (Request_BadRequest) while creating the group.'
    const failed = { ...requests.failed, problem: { code, detail, step: 'add-owners' } }
    const read = (isAdmin: boolean) => textOf(cards.requestStatus(failed, viewer({ isAdmin })))
    expect(read(false)).toContain(words)
    expect(read(false)).not.toContain('Graph')
    expect(read(true)).toContain(detail)
  })
})
