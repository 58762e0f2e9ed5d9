import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { asWritten, type Ports, type RequestForSite, TenantError } from '../../src/core/index.ts'
import { requests } from '../support/card-requests.ts'
import { asSite, tenantId, withCore } from '../support/core.ts'

const queuedAt = '2026-11-20T10:00:00.000Z'
const since = (seconds: number) => new Date(Date.parse(queuedAt) + seconds * 1000)
const hour = 3600

describe('a directory poll for the group of a site', () => {
  const core = withCore()
  let number = 6000
  const stored = async (more: Partial<RequestForSite> = {}): Promise<string> => {
    number += 1
    const requestId = randomUUID()
    await core.ports.requests.insert({ ...asSite(requests.finding), requestId, number, tenantId, queuedAt, ...more })
    return requestId
  }
  type Find = Ports['directory']['findProvisionedGroup']
  const polledBy = (find: Find, at: Date) =>
    core.with({ directory: { ...core.ports.directory, findProvisionedGroup: find }, clock: { now: () => at } }).system
  /** Polls at a moment; returns the time of the next poll, if any. */
  const poll = async (requestId: string, index: number, at: Date, find: Find = async () => undefined) => {
    expect(await polledBy(find, at).pollDirectory(requestId, index)).toBeUndefined()
    return nextAfter(requestId, index)
  }
  const nextAfter = async (requestId: string, index: number): Promise<Date | undefined> => {
    const orders = (await core.orders(requestId)).filter(({ name }) => name === 'follow-up')
    return orders.find(({ payload }) => payload['look'] === index + 1)?.startAfter ?? undefined
  }

  it.each([
    ['may end', true, false],
    ['may end, in the last attempt', true, true],
    ['stays', false, false],
  ])('orders the next one after a refusal of the directory that %s', async (_, retryable, lastAttempt) => {
    const requestId = await stored()
    const refuse = () => Promise.reject(new TenantError('refused', asWritten('The directory refuses.'), { retryable }))
    // Only a failed attempt that the queue repeats soon helps. Other failures would only be dead letters.
    const polled = polledBy(refuse, since(20)).pollDirectory(requestId, 0, lastAttempt)
    if (retryable && !lastAttempt) await expect(polled).rejects.toThrow('The directory refuses.')
    else expect((await polled)?.message).toBe('The directory refuses.')
    expect(await nextAfter(requestId, 0)).toEqual(since(30))
    expect(await poll(requestId, 1, since(30))).toEqual(since(40))
  })

  it('orders the next one with the usual interval after an outage of hours', async () => {
    const requestId = await stored()
    const late = since(5 * hour)
    expect(await poll(requestId, 1, late)).toEqual(new Date(late.getTime() + 10_000))
  })

  it('is followed by others for a week, at last one an hour', async () => {
    const requestId = await stored()
    const times = [since(20)]
    for (let at: Date | undefined = times[0]; at; ) {
      at = await poll(requestId, times.length - 1, at)
      if (at) times.push(at)
    }
    expect(times.slice(0, 8)).toEqual([20, 30, 40, 50, 60, 300, 900, hour].map(since))
    const hourly = times.slice(8)
    expect(hourly).toEqual(Array.from({ length: 7 * 24 }, (_, index) => since((index + 2) * hour)))
  })

  it('is the last one if it finds the group, or if the resource was already announced', async () => {
    const requestId = await stored()
    const find = async () => ({ id: randomUUID(), displayName: 'SPO-project-aurora-2' })
    expect(await poll(requestId, 9, since(2 * hour), find)).toBeUndefined()
    expect((await core.ports.requests.find(requestId))?.followUp).toMatchObject({ state: 'announced', by: 'poll' })
    expect(await poll(requestId, 10, since(3 * hour))).toBeUndefined()
  })
})
