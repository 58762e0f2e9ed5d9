import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterCheck, type HealthPartName, type HealthWatch, healthWatch } from '../../src/core/index.ts'

const start = Date.parse('2026-11-20T10:00:00Z')
const at = (second: number): string => new Date(start + second * 1000).toISOString()
const red = (name: HealthPartName) => ({ name, state: 'red', says: 'fails' }) as const

/** Parts that each process judges by facts of its own. */
const names = ['certificate', 'signIn', 'permissions', 'graph'] as const
type Name = (typeof names)[number]
const processIds = ['one', 'two', 'three']

/** One check: the turns since the last one, the process, and what it finds. */
const anyCheck = fc.record({
  turns: fc.integer({ min: 1, max: 4 }),
  processId: fc.constantFrom(...processIds),
  red: fc.subarray([...names]),
  unjudged: fc.subarray([...names]),
  running: fc.subarray(processIds, { minLength: 2 }),
})

describe('alerts of several processes', () => {
  it('have a card of their own for each change, and report no part as healthy that a running process found red', () => {
    const counts = { red: 0, more: 0, less: 0, well: 0 }
    fc.assert(
      fc.property(fc.array(anyCheck, { maxLength: 80, size: 'max' }), (steps) => {
        let watch: HealthWatch | undefined
        let second = 0
        const sent: string[] = []
        /** The red parts of the last report of each process that could judge them. */
        const found = new Map<string, Set<Name>>(processIds.map((id) => [id, new Set()]))
        const partsOf = (of: HealthWatch | undefined): string[] =>
          [of, of?.credentials].flatMap((one) =>
            one?.state === 'red' ? (one.broken?.red.map(({ part }) => part.name) ?? []) : [],
          )
        for (const { turns, processId, running, ...step } of steps) {
          second += turns * 20
          const unjudged = step.unjudged.filter((name) => !step.red.includes(name))
          for (const name of names.filter((one) => !unjudged.includes(one)))
            found.get(processId)?.[step.red.includes(name) ? 'add' : 'delete'](name)
          const ids = [...new Set([processId, ...running])]
          const before = partsOf(watch)
          const after = afterCheck(watch, {
            ...{ at: at(second), parts: step.red.map(red), unjudged, processId, processIds: ids },
          })
          watch = healthWatch.parse(JSON.parse(JSON.stringify(after.watch)))
          const now = partsOf(watch)
          for (const name of before.filter((one) => !now.includes(one))) {
            expect(unjudged).not.toContain(name)
            expect(ids.filter((id) => found.get(id)?.has(name as Name))).toEqual([])
          }
          for (const name of now.filter((one) => !before.includes(one))) expect(step.red).toContain(name)
          if (now.some((name) => !before.includes(name)) || before.some((name) => !now.includes(name)))
            expect(after.notices).not.toEqual([])
          for (const id of processIds.filter((one) => !ids.includes(one))) found.get(id)?.clear()
          for (const key of after.notices) counts[(key.split(':')[1] ?? 'red') as keyof typeof counts] += 1
          sent.push(...after.notices)
        }
        expect(new Set(sent).size).toBe(sent.length)
      }),
      { numRuns: 1000, seed: 24_11 },
    )
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(50)
  })
})
