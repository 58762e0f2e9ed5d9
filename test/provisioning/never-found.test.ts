import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { provisioningRequest } from '../../src/core/index.ts'
import { requestOf, stepsUntil } from '../support/card-requests.ts'
import { kim, tenantId, withCore } from '../support/core.ts'

const day = 24 * 3_600_000
const finished = Date.parse('2026-11-20T10:00:00.000Z')
const after = (milliseconds: number): Date => new Date(finished + milliseconds)
const core = withCore()

async function neverFound(): Promise<string> {
  const [requestId, finishedAt] = [randomUUID(), after(0).toISOString()]
  await core.ports.requests.insert(
    provisioningRequest.parse(
      requestOf({
        ...{ requestId, tenantId, requester: kim, approvals: [], steps: stepsUntil(6), status: 'succeeded' },
        ...{ submittedAt: finishedAt, queuedAt: finishedAt, finishedAt, updatedAt: finishedAt },
        ...{ progress: {}, followUp: { state: 'late' }, resource: null },
      }),
    ),
  )
  return requestId
}
const at = (time: Date) => core.with({ clock: { now: () => time } }).system
const pollsOf = async (requestId: string) => (await core.orders(requestId)).filter(({ name }) => name === 'follow-up')

it('a site that the directory never shows is polled for a week', async () => {
  const requestId = await neverFound()
  const polls = () => pollsOf(requestId)
  for (const time of [day, day + 2 * 3_600_000]) await at(after(time)).watch([], [])
  const orders = await polls()
  expect(orders.map(({ startAfter }) => startAfter)).toEqual([after(day), after(day + 2 * 3_600_000)])

  // Such a poll is a single one: it orders no other, and writes no version.
  const look = Number(orders[0]?.payload['look'])
  const version = async () => (await core.ports.requests.find(requestId))?.version
  const before = await version()
  await at(after(day)).pollDirectory(requestId, look)
  expect(await polls()).toHaveLength(2)
  expect(await version()).toBe(before)

  for (const days of [8, 9, 30]) await at(after(days * day)).watch([], [])
  expect(await polls()).toHaveLength(2)
})

it('a site that was not polled for a week is polled once', async () => {
  const requestId = await neverFound()
  for (const days of [9, 10]) await at(after(days * day)).watch([], [])
  expect(await pollsOf(requestId)).toHaveLength(1)
})
