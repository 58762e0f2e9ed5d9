import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { barLooks, barOf, rangeOf, stackOf } from '../../src/cards/operations/admin-stats.ts'
import { sam, viewerOf } from '../support/card-requests.ts'
import { brokenRules } from '../support/card-rules.ts'
import { awkward, nothing, usual } from '../support/card-samples-stats.ts'
import { textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const length = (parts: readonly { text: string }[]) => parts.map(({ text }) => text).join('').length

describe('a bar', () => {
  it('has the length of its value, to half a block', () => {
    expect([0, 1, 8, 16].map((value) => barOf(value, 16)[0]?.text ?? '')).toEqual(['', '█', '████████', '█'.repeat(16)])
    expect(barOf(1, 32)[0]?.text).toBe('▌')
  })

  it('is visible for every value above 0', () => {
    expect(barOf(1, 1_000_000)[0]?.text).toBe('▌')
    expect(rangeOf(0, 1, 1_000_000).map(({ text }) => text)).toEqual(['░'])
  })

  it('shows each of its parts, and is never longer than the longest bar', () => {
    const value = fc.integer({ min: 0, max: 100_000 })
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), value, (values, others) => {
        const sum = values.reduce((all, one) => all + one, 0)
        const parts = stackOf(
          values.map((one) => ({ value: one, look: barLooks.good })),
          sum + others,
        )
        expect(parts.length).toBe(values.filter((one) => one > 0).length)
        expect(parts.every(({ text }) => text.length > 0)).toBe(true)
        expect(length(parts)).toBeLessThanOrEqual(16)
        if (sum > 0 && others === 0) expect(length(parts)).toBe(16)
      }),
    )
  })
})

describe('the card of a period', () => {
  it('shows each number next to its bar, and the changes as text', () => {
    const text = textOf(cards.adminStats(usual, asSam))
    for (const one of ['42', '↑ 5 more', '↓ 5 fewer', 'as before', 'Team site', '19', '28 approved, 3 rejected'])
      expect(text).toContain(one)
    expect(text).toContain('10% rejected. ↓ It was 14% before.')
    expect(text).toContain('Half took up to 3 hr, 95% up to 26 hr. ↓ Faster: half took 5 hr before.')
    expect(text).toContain('9 created, 3 waiting, 2 rejected, 1 cancelled')
  })

  it('fits with any numbers, and has a text for a period without requests', () => {
    for (const stats of [usual, awkward, nothing]) expect(brokenRules(cards.adminStats(stats, asSam))).toEqual([])
    const text = textOf(cards.adminStats(nothing, asSam))
    expect(text).toContain('Nothing was requested, decided or created in this period.')
    expect(text).not.toContain('█')
  })

  it('names causes that are no longer stored, and adds up causes with the same text', () => {
    const text = textOf(cards.adminStats(awkward, asSam))
    expect(text).toContain('The reason is no longer stored')
    expect(text.match(/Microsoft 365 did not answer/g)).toHaveLength(1)
    expect(text).toContain('Erased person')
  })
})
