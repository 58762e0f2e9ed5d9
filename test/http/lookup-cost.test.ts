import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readsOf } from '../../src/core/index.ts'

const ids = (least: number, most: number) => fc.uniqueArray(fc.uuid(), { minLength: least, maxLength: most })

describe('the cost of a check', () => {
  it('is one read for every fifteen people, at least one', () => {
    fc.assert(
      fc.property(ids(0, 100), (people) => {
        const permissions = Object.fromEntries(people.map((id) => [id, 'FullAccess']))
        const cost = Math.max(1, Math.ceil(people.length / 15))
        expect(readsOf({ permissions })).toBe(cost)
        expect(readsOf({ owners: people })).toBe(cost)
        expect(readsOf({ 'permissions.FullAccess': people.join(',') })).toBe(cost)
      }),
      { seed: 18 },
    )
  })

  it('counts each person once', () => {
    fc.assert(
      fc.property(ids(1, 15), (people) => {
        const [first = ''] = people
        const permissions = Object.fromEntries(people.map((id) => [id.toUpperCase(), 'SendAs']))
        expect(readsOf({ permissions, owners: people, primaryOwner: first, metadata: { contact: first } })).toBe(1)
      }),
      { seed: 18 },
    )
  })

  it('is finite for every body', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(readsOf(body)).toBe(1)
        expect(readsOf({ permissions: body, owners: body })).toBeLessThanOrEqual(10)
      }),
      { seed: 18 },
    )
  })
})
