import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  afterCheck,
  asWritten,
  type HealthPartName,
  type HealthWatch,
  healthWatch,
  type Probe,
} from '../../src/core/index.ts'
import { healthyFacts, kinds, watchWorld } from '../support/health-watch-world.ts'

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

/** Whether all parts count as well. */
const isWell = (watch: HealthWatch | undefined) =>
  [watch, watch?.credentials].every((one) => one === undefined || one.state === 'well')

describe('alerts of several processes, check by check', () => {
  /** A turn of a process at this second: what it finds red, and what it cannot judge. */
  type Turn = readonly [second: number, processId: string, red?: readonly HealthPartName[], unjudged?: readonly Name[]]
  const run = (turns: readonly Turn[], ids = ['one', 'two']) => {
    let watch: HealthWatch | undefined
    const sent: string[] = []
    for (const [second, processId, parts = [], unjudged = []] of turns) {
      const check = { at: at(second), parts: parts.map(red), unjudged, processId, processIds: ids }
      const after = afterCheck(watch, check)
      watch = healthWatch.parse(JSON.parse(JSON.stringify(after.watch)))
      sent.push(...after.notices.map((key) => `${key.split(':')[1]} ${second}`))
    }
    return { watch, sent }
  }
  /** Turns every 20 seconds, from the first to the last of these seconds. */
  const every20 = (from: number, until: number, turn: (second: number) => Turn): Turn[] =>
    Array.from({ length: (until - from) / 20 + 1 }, (_, index) => turn(from + index * 20))

  it('end without a part that one check of another process found red and no card names', () => {
    const { sent } = run([
      [0, 'two', ['graph']],
      [20, 'two', ['graph']],
      [40, 'one', ['siteHosts']],
      ...every20(60, 200, (second) => [second, 'two']),
    ])
    expect(sent).toEqual(['red 20', 'well 120'])
  })

  it('need two red checks of one process, or of two turns in a row', () => {
    const healthy = every20(20, 1780, (second) => [second, 'two'])
    const single = [[0, 'one', ['graph']], ...healthy, [1800, 'two', ['graph']]] as const
    expect(run([...single, [1820, 'two']]).sent).toEqual([])
    expect(run([...single, [1820, 'one', ['graph']]]).sent).toEqual(['red 1820'])
    const both = run([[0, 'one', ['graph']], ...healthy, [1800, 'one', ['graph']]])
    expect(both.sent).toEqual(['red 1800'])
  })

  it('need the same for a further part', () => {
    const trouble = (second: number, processId: string, ...further: HealthPartName[]): Turn => [
      ...([second, processId, ['graph', ...further]] as const),
    ]
    const long = [
      ...[trouble(0, 'two'), trouble(20, 'two'), trouble(40, 'two', 'signIn')],
      ...every20(60, 1780, (second) => trouble(second, 'one')),
    ]
    const single = [...long, trouble(1800, 'one', 'signIn'), trouble(1820, 'two')]
    expect(run(single).sent).toEqual(['red 20'])
    expect(run([...long, trouble(1800, 'two', 'signIn')]).sent).toEqual(['red 20', 'more 1800'])
  })

  it('end although another process never judges the part', () => {
    const { sent } = run([
      [0, 'one', ['graph']],
      [20, 'one', ['graph']],
      ...every20(40, 400, (second): Turn => (second % 40 ? [second, 'two', [], ['graph']] : [second, 'one'])),
    ])
    expect(sent).toEqual(['red 20', 'well 120'])
  })

  it('end although no process judges all parts', () => {
    const { sent } = run([
      ...every20(
        0,
        60,
        (second): Turn =>
          second % 40 ? [second, 'two', ['signIn'], ['graph']] : [second, 'one', ['graph'], ['signIn']],
      ),
      ...every20(
        80,
        400,
        (second): Turn => (second % 40 ? [second, 'two', [], ['graph']] : [second, 'one', [], ['signIn']]),
      ),
    ])
    expect(sent).toEqual(['red 20', 'more 40', 'less 160', 'well 260'])
  })

  it('end after healthy turns of all processes that reported, mixed with turns of one that judges nothing', () => {
    let ends = 0
    const anyTurn = fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.integer({ min: 1, max: 3 }))
    fc.assert(
      fc.property(fc.array(anyCheck, { maxLength: 30 }), fc.array(anyTurn), (steps, mix) => {
        let second = 0
        const before = steps.map(({ turns, processId, ...step }): Turn => {
          second += turns * 20
          return [second, processId, step.red, step.unjudged.filter((name) => !step.red.includes(name))]
        })
        // Each process is healthy in five turns or more. Process `four` judges nothing.
        const last = Array.from({ length: 5 }, () => processIds.map((id) => [id, 1] as const)).flat()
        const after = [...mix, ...last]
          .flatMap(([processId, turns]) => [...Array.from({ length: turns }, () => 'four'), processId])
          .map(
            (processId, index): Turn => [
              ...([second + (index + 1) * 20, processId, [], processId === 'four' ? names : []] as const),
            ],
          )
        const ids = [...processIds, 'four']
        if (!isWell(run(before, ids).watch)) ends += 1
        expect(isWell(run([...before, ...after], ids).watch)).toBe(true)
      }),
      { numRuns: 500, seed: 24_12 },
    )
    expect(ends).toBeGreaterThan(50)
  })
})

describe('the health watch of several processes', () => {
  const problem = asWritten('It is refused.')
  const missing: Probe = { name: 'Sites.Read.All', trouble: 'permissionMissing', problem }
  const throttled: Probe = { name: 'Sites.Read.All', trouble: 'throttled', problem }
  const broken: [string, Partial<ReturnType<typeof healthyFacts>>][] = [
    ['an expiring certificate', { certificateDays: 5 }],
    ['a wrong clock', { aheadSeconds: 400 }],
    ['a refused sign-in', { refusal: { at: new Date(0), problem, isFinal: true } }],
    ['a missing permission', { permission: missing }],
  ]
  type Process = ReturnType<ReturnType<typeof watchWorld>['begin']>

  it.each(broken)('reports %s of one process once, and its end once that process is healthy', async (_, facts) => {
    const { cards, begin, pass } = watchWorld()
    const [one, other] = [begin(), begin()]
    // The turns of each process are irregular, as in production.
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        pass(20)
        await (turn % 2 === 0 || turn % 7 === 3 ? one : other).check()
      }
    }
    await turns(30)
    Object.assign(other.facts, facts)
    await turns(60)
    expect(kinds(cards)).toEqual(['red'])
    Object.assign(other.facts, healthyFacts())
    await turns(60)
    expect(kinds(cards)).toEqual(['red', 'well'])
  })

  const check = async (process: Process, count: number, pass: (seconds: number) => void) => {
    for (let turn = 0; turn < count; turn += 1) {
      pass(20)
      await process.check()
    }
  }

  it('ends the trouble of a process that has stopped', async () => {
    const { cards, begin, pass } = watchWorld()
    const [one, other] = [begin(), begin()]
    other.facts.certificateDays = 5
    await check(other, 2, pass)
    await check(one, 20, pass)
    expect(kinds(cards)).toEqual(['red'])
    other.stop()
    await check(one, 10, pass)
    expect(kinds(cards)).toEqual(['red', 'well'])
  })

  it('ends the trouble of a process that has taken no turn for an hour', async () => {
    const { cards, begin, pass } = watchWorld()
    const [one, other] = [begin(), begin()]
    other.facts.certificateDays = 5
    await check(other, 2, pass)
    await check(one, 179, pass)
    expect(kinds(cards)).toEqual(['red'])
    await check(one, 10, pass)
    expect(kinds(cards)).toEqual(['red', 'well'])
  })

  it('notifies nobody about one red check of a process, although other processes take the next turns', async () => {
    const { cards, begin, pass } = watchWorld()
    const [one, other] = [begin(), begin()]
    other.facts.aheadSeconds = 400
    await check(other, 1, pass)
    await check(one, 20, pass)
    other.facts.aheadSeconds = 0
    await check(other, 1, pass)
    await check(one, 20, pass)
    expect(cards).toEqual([])
  })

  it('reports no end and no new trouble after a restart while a part is still broken', async () => {
    const { cards, begin, pass } = watchWorld()
    const first = begin({ ...healthyFacts(), permission: missing })
    await check(first, 10, pass)
    expect(kinds(cards)).toEqual(['red'])
    first.stop()
    // The first answers after the restart are lost to throttling.
    const second = begin({ ...healthyFacts(), permission: throttled })
    await check(second, 20, pass)
    second.facts.permission = missing
    await check(second, 20, pass)
    expect(kinds(cards)).toEqual(['red'])
    second.facts.permission = { name: 'Sites.Read.All' }
    await check(second, 10, pass)
    expect(kinds(cards)).toEqual(['red', 'well'])
  })

  it('keeps a part red without a process, as an earlier version stored it, until a check judges the part', async () => {
    const since = '2026-11-20T09:00:00.000Z'
    const parts = [{ name: 'permissions', state: 'red', says: 'permissionsRefused', problem } as const]
    const { cards, begin, pass } = watchWorld({ state: 'red', since, turning: null, red: { since, parts } })
    const process = begin({ ...healthyFacts(), permission: throttled })
    await check(process, 20, pass)
    expect(cards).toEqual([])
    process.facts.permission = { name: 'Sites.Read.All' }
    await check(process, 10, pass)
    expect(cards).toEqual([`health:well:${since}`])
  })

  it('reports the end for a part that does not apply any more after a restart', async () => {
    const { cards, begin, pass } = watchWorld()
    const first = begin({ ...healthyFacts(), catalogueApp: 'nothing' })
    await check(first, 10, pass)
    first.stop()
    await check(begin({ ...healthyFacts(), catalogueApp: 'notSet' }), 10, pass)
    expect(kinds(cards)).toEqual(['red', 'well'])
  })
})
