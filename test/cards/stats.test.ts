import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cards } from '../../src/cards/index.ts'
import { barLooks, barOf, rangeOf, stackOf } from '../../src/cards/operations/admin-stats.ts'
import { sam, viewerOf } from '../support/card-requests.ts'
import { brokenRules } from '../support/card-rules.ts'
import { awkward, nothing, usual } from '../support/card-samples-stats.ts'
import { textOf } from '../support/cards.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const length = (parts: readonly { text: string }[]) => parts.map(({ text }) => text).join('').length

describe('a bar', () => {
  it('is as long as its value is large, to half a block', () => {
    expect([0, 1, 8, 16].map((value) => barOf(value, 16)[0]?.text ?? '')).toEqual(['', '█', '████████', '█'.repeat(16)])
    expect(barOf(1, 32)[0]?.text).toBe('▌')
  })

  it('is seen when its value is above nothing, however small', () => {
    expect(barOf(1, 1_000_000)[0]?.text).toBe('▌')
    expect(rangeOf(0, 1, 1_000_000).map(({ text }) => text)).toEqual(['░'])
  })

  it('of several parts shows each of them, and is no longer than the longest', () => {
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
  it('says each number beside its bar, and what changed in words', () => {
    const text = textOf(cards.adminStats(usual, asSam))
    for (const said of ['42', '↑ 5 more', '↓ 5 fewer', 'as before', 'Team site', '19', '28 approved, 3 rejected'])
      expect(text).toContain(said)
    expect(text).toContain('10% rejected. ↓ It was 14% before.')
    expect(text).toContain('Half within 3 hr, 19 of 20 within 26 hr. ↓ Quicker: half took 5 hr before.')
    expect(text).toContain('9 made, 3 waiting, 2 rejected, 1 cancelled')
  })

  it('fits whatever the numbers are, and is friendly where there are none', () => {
    for (const stats of [usual, awkward, nothing]) expect(brokenRules(cards.adminStats(stats, asSam))).toEqual([])
    const text = textOf(cards.adminStats(nothing, asSam))
    expect(text).toContain('That is fine.')
    expect(text).not.toContain('█')
  })

  it('calls a cause that is not kept so, and adds up those that read alike', () => {
    const text = textOf(cards.adminStats(awkward, asSam))
    expect(text).toContain('The reason is not kept any more')
    expect(text.match(/Microsoft 365 did not answer/g)).toHaveLength(1)
    expect(text).toContain('Somebody whose data was erased')
  })
})
