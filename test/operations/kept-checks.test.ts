import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from 'vitest'
import {
  asWritten,
  because,
  createCheckResults,
  type DefinedCheck,
  type HealthPart,
  partsOf,
  runCheck,
} from '../../src/core/index.ts'

const never = new AbortController().signal

type Ports = { readonly clock: { now(): Date }; readonly checkResults: ReturnType<typeof createCheckResults> }

const good: HealthPart = { name: 'extension', state: 'green', says: 'extensionGood' }
const bad: HealthPart = {
  name: 'extension',
  state: 'red',
  says: 'extensionUnknown',
  problem: asWritten('It is unknown.'),
}

/** A check with a result of the test's choice, and a clock that the test moves. */
function world(keptSeconds = 300) {
  let now = Date.parse('2026-11-23T08:00:00Z')
  const state = { finds: good as HealthPart | Error, runs: 0 }
  const check: DefinedCheck<Ports> = {
    ...{ id: 'extension', parts: ['extension'], keptSeconds, limitSeconds: 0.2 },
    run: async () => {
      state.runs += 1
      if (state.finds instanceof Error) throw state.finds
      return [state.finds]
    },
  }
  const ports = { clock: { now: () => new Date(now) }, checkResults: createCheckResults() }
  const context = { ports, settings: {} as never }
  return {
    state,
    check,
    context,
    read: async (starts = true) => (await partsOf(check, context, { starts }))[0],
    pass: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

describe('a periodic check', () => {
  it('keeps a good result for five minutes with its time', async () => {
    const { state, read, pass } = world()
    expect(await read()).toEqual({ ...good, checkedAt: '2026-11-23T08:00:00.000Z' })
    pass(299)
    expect(await read()).toMatchObject({ checkedAt: '2026-11-23T08:00:00.000Z' })
    expect(state.runs).toBe(1)
    pass(1)
    expect(await read()).toMatchObject({ checkedAt: '2026-11-23T08:05:00.000Z' })
  })

  it('confirms a first red result with the next report, and then runs once a minute', async () => {
    const { state, read, pass } = world()
    state.finds = bad
    await read()
    pass(20)
    await read()
    expect(state.runs).toBe(2)
    pass(20)
    expect(await read()).toMatchObject(bad)
    expect(state.runs).toBe(2)
    pass(40)
    state.finds = good
    expect(await read()).toMatchObject(good)
  })

  it('is green in the next report after a red moment, so nobody is notified', async () => {
    const { state, read, pass } = world()
    await read()
    pass(300)
    state.finds = bad
    expect(await read()).toMatchObject({ state: 'red' })
    pass(20)
    state.finds = good
    expect(await read()).toMatchObject({ state: 'green' })
  })

  it('keeps its last answer without a new one, and runs again after a minute', async () => {
    const { state, read, pass } = world()
    await read()
    pass(300)
    state.finds = new Error('Microsoft Graph cannot be reached.')
    expect(await read()).toEqual({ ...good, checkedAt: '2026-11-23T08:00:00.000Z' })
    pass(59)
    await read()
    expect(state.runs).toBe(2)
    pass(1)
    state.finds = bad
    expect(await read()).toMatchObject({ state: 'red', checkedAt: '2026-11-23T08:06:00.000Z' })
  })

  it('reports the reason if it never got an answer', async () => {
    const { state, read } = world()
    state.finds = new Error('The directory is away.', { cause: new Error('Microsoft Graph answered 503.') })
    expect(await read()).toMatchObject({
      state: 'amber',
      says: 'notChecked',
      problem: asWritten('Microsoft Graph answered 503.'),
    })
  })

  it('has no part while it must not start yet', async () => {
    const { state, read } = world()
    expect([await read(false), state.runs]).toEqual([undefined, 0])
  })

  it('counts as not checked while its first run takes longer than a report waits, and has its result afterwards', async () => {
    const { check, context, state, read } = world()
    state.finds = bad
    const gate = new EventEmitter()
    const slow = { ...check, limitSeconds: 60, run: () => once(gate, 'open').then(() => check.run(context, never)) }
    expect(await partsOf(slow, context, { starts: true })).toEqual([
      { name: 'extension', state: 'amber', says: 'notChecked', problem: because('checkRunning') },
    ])
    gate.emit('open')
    await context.ports.checkResults.running('extension')
    expect(await read()).toMatchObject(bad)
  })

  it('runs once for concurrent reports', async () => {
    const { state, read } = world()
    await Promise.all([read(), read(), read()])
    expect(state.runs).toBe(1)
  })

  it('counts as not checked after its time limit', async () => {
    const { check, context } = world()
    const parts = await runCheck({ ...check, run: () => new Promise(() => undefined) }, context)
    expect(parts).toMatchObject([
      { name: 'extension', says: 'notChecked', problem: because('checkTimedOut', { seconds: 0.2 }) },
    ])
  })
})
