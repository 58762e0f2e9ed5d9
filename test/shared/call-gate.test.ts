import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { checkingIdentity, createGate, from, type GateLimits } from '../../src/core/index.ts'

const limits: GateLimits = {
  ...{ running: 4, forIdentity: 1, runningOfOne: 2, waiting: 8, waitingOfOne: 5 },
  ...{ patience: 60_000, patienceOfJobs: 60_000 },
}

/** Returns a gate and calls through it that the test ends. */
function world(change: Partial<GateLimits> = {}) {
  const gate = createGate('calls to Microsoft Graph', { ...limits, ...change })
  const entered: string[] = []
  const ends = new Map<string, () => void>()
  const call = (name: string, who: string, signal?: AbortSignal) =>
    from({ from: 'rest', caller: who }, () =>
      gate.pass(() => {
        entered.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }, signal),
    )
  const end = async (name: string) => {
    ends.get(name)?.()
    await setTimeout(0)
  }
  return { gate, entered, call, end }
}

describe('a gate for calls to one service', () => {
  it('limits running calls and reserves places for identity checks', async () => {
    const { gate, entered, call, end } = world()
    const calls = ['kim', 'kim', 'omar', 'dana', 'sam'].map((who, index) => call(`${who} ${index}`, who))
    expect(entered).toEqual(['kim 0', 'kim 1', 'omar 2'])
    expect(gate.state()).toEqual({ running: 3, waiting: 2 })
    const own = from({ from: 'rest', caller: 'omar' }, () => checkingIdentity(() => gate.pass(async () => 'who is it')))
    expect(await own).toBe('who is it')
    for (const name of ['kim 0', 'kim 1', 'omar 2', 'dana 3', 'sam 4']) await end(name)
    expect(await Promise.all(calls)).toEqual(['kim 0', 'kim 1', 'omar 2', 'dana 3', 'sam 4'])
    expect(gate.state()).toEqual({ running: 0, waiting: 0 })
  })

  it('starts the calls of different callers in turn', async () => {
    const { entered, call, end } = world({ running: 2, runningOfOne: 1 })
    const calls = [...['a', 'b', 'c', 'd'].map((name) => call(name, 'kim')), call('dana', 'dana'), call('omar', 'omar')]
    expect(entered).toEqual(['a'])
    await end('a')
    await end('b')
    await end('dana')
    await end('omar')
    expect(entered).toEqual(['a', 'b', 'dana', 'omar', 'c'])
    await end('c')
    await end('d')
    await Promise.all(calls)
  })

  it('starts identity checks first', async () => {
    const { entered, gate, call, end } = world({ running: 2, forIdentity: 1 })
    const first = call('first', 'kim')
    const second = call('second', 'omar')
    const identity = (name: string) =>
      from({ from: 'chat', caller: name }, () =>
        checkingIdentity(() => gate.pass(async () => void entered.push(`check ${name}`))),
      )
    await Promise.all([identity('dana'), identity('sam'), identity('omar')])
    expect(entered).toEqual(['first', 'check dana', 'check sam', 'check omar'])
    await end('first')
    await end('second')
    await Promise.all([first, second])
  })

  it('refuses only the calls of a caller with too many waiting calls', async () => {
    const { call, end } = world({ running: 2, runningOfOne: 1, waitingOfOne: 1 })
    const running = call('a', 'kim')
    const waiting = call('b', 'kim')
    await expect(call('c', 'kim')).rejects.toMatchObject({ code: 'busy', retryable: true, retryAfterSeconds: 5 })
    const other = call('dana', 'dana')
    await end('a')
    await end('b')
    await end('dana')
    expect(await Promise.all([running, waiting, other])).toEqual(['a', 'b', 'dana'])
  })

  it('refuses a call when too many calls wait, or when the call has waited too long', async () => {
    const { gate, call, end } = world({ running: 2, runningOfOne: 1, waiting: 1, patience: 1 })
    const running = call('a', 'kim')
    const late = expect(call('b', 'kim')).rejects.toMatchObject({ code: 'busy' })
    await expect(call('c', 'kim')).rejects.toMatchObject({ code: 'busy' })
    await late
    expect(gate.state()).toEqual({ running: 1, waiting: 0 })
    await end('a')
    await running
  })

  it('accepts a waiting identity check when too many other calls wait', async () => {
    const { gate, call, end } = world({ running: 1, forIdentity: 0, runningOfOne: 1, waiting: 1 })
    const running = call('a', 'kim')
    const waiting = call('b', 'omar')
    const check = from({ from: 'chat', caller: 'dana' }, () =>
      checkingIdentity(() => gate.pass(async () => 'who is it')),
    )
    await end('a')
    expect(await check).toBe('who is it')
    await end('b')
    expect(await Promise.all([running, waiting])).toEqual(['a', 'b'])
  })

  it('removes an aborted call from the queue', async () => {
    const { gate, entered, call, end } = world({ running: 2, runningOfOne: 1 })
    const running = call('a', 'kim')
    const gone = new AbortController()
    const waiting = call('b', 'kim', gone.signal)
    gone.abort(new Error('hung up'))
    await expect(waiting).rejects.toThrow('hung up')
    expect(gate.state()).toEqual({ running: 1, waiting: 0 })
    await end('a')
    await running
    expect(entered).toEqual(['a'])
  })

  it('runs the next call after a failed call', async () => {
    const { gate } = world({ running: 1, forIdentity: 0, runningOfOne: 1 })
    const failing = gate.pass(() => Promise.reject(new Error('broken')))
    await expect(failing).rejects.toThrow('broken')
    expect(await gate.pass(async () => 'next')).toBe('next')
  })
})
