import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  asWritten,
  attentionOf,
  deadlines,
  type OwnHealth,
  provisioningRequest,
  type Request,
  type RequestState,
  requestStates,
  type ServiceHealth,
} from '../../src/core/index.ts'
import { requestOf } from '../support/card-requests.ts'
import {
  actorOf,
  approversGroup,
  dana,
  kim,
  omar,
  priya,
  stranger,
  tenantId,
  tenantWith,
  withCore,
} from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

const start = Date.parse('2026-11-20T09:00:00.000Z')
const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString()
const admin = actorOf(priya, true)
const { signal } = new AbortController()

/** Returns a request that has been in its state since the start. */
const inState = (status: RequestState, more: object = {}): Request =>
  provisioningRequest.parse({
    ...requestOf({ requestId: randomUUID(), tenantId, status }),
    ...{ submittedAt: at(0), updatedAt: at(0), queuedAt: status === 'pendingApproval' ? null : at(0) },
    ...{ finishedAt: status === 'succeeded' ? at(0) : null, followUp: { state: 'waiting' } },
    ...{ approvals: [{ stage: 1, rule: 'any', approvers: [dana, omar], decisions: [] }] },
    ...more,
  })

const needs = {
  pendingApproval: { why: 'waitsFor', remedies: ['reassign', 'override'] },
  queued: { why: 'notStarted', remedies: ['retry'] },
  provisioning: { why: 'standsStill', remedies: ['retry'] },
  failed: { why: 'failed', remedies: ['retry'] },
  succeeded: { why: 'notFound', remedies: ['look'] },
} as const

describe('a request needs an admin', () => {
  it.each(Object.entries(needs))('in the state %s exactly from its deadline on', (status, need) => {
    const request = inState(status as keyof typeof needs)
    const deadline = deadlines[status as keyof typeof needs]
    const when = (seconds: number) => attentionOf(request, new Date(start + seconds * 1000))
    if (deadline > 0) expect(when(deadline - 1)).toBeUndefined()
    expect(when(deadline)).toEqual({ ...need, since: at(0) })
    expect(when(deadline * 100)).toEqual({ ...need, since: at(0) })
  })

  it.each(requestStates.filter((state) => deadlines[state] === null))('never in the state %s', (status) => {
    expect(attentionOf(inState(status), new Date(start + 1e9))).toBeUndefined()
  })

  it('no longer after its announcement', () => {
    const announced = inState('succeeded', { followUp: { state: 'announced', by: 'state' } })
    expect(attentionOf(announced, new Date(start + 1e9))).toBeUndefined()
  })

  it('after a time that counts from its last change', () => {
    const moving = inState('provisioning', { updatedAt: at(1000) })
    expect(attentionOf(moving, new Date(start + 1_500_000))).toBeUndefined()
    const approvedLate = inState('queued', { submittedAt: at(-9e5), queuedAt: at(0) })
    expect(attentionOf(approvedLate, new Date(start + 299_000))).toBeUndefined()
  })
})

describe('an admin', () => {
  const core = withCore()
  let number = 4000
  beforeEach(() => core.database.query('DELETE FROM requests'))
  const stored = async (status: RequestState, more: object = {}): Promise<string> => {
    number += 1
    const request = inState(status, { number, ...more })
    await core.ports.requests.insert(request)
    return request.requestId
  }
  const later = (seconds: number) => core.with({ clock: { now: () => new Date(start + seconds * 1000) } })

  it('sees all open requests with counts by state, first those that need an admin, the oldest first', async () => {
    const fresh = await stored('queued', { queuedAt: at(3500) })
    const old = await stored('provisioning', { updatedAt: at(100) })
    const failed = await stored('failed', { updatedAt: at(50) })
    const waiting = await stored('pendingApproval', { submittedAt: at(10) })
    const unfound = await stored('succeeded', { finishedAt: at(20) })
    await stored('succeeded', { followUp: { state: 'announced', by: 'poll' } })
    for (const ended of ['rejected', 'cancelled', 'expired'] as const) await stored(ended)
    await stored('failed', { tenantId: randomUUID() })
    const { counts, open, entries } = await later(3600).readQueue(admin)
    expect([counts, open]).toEqual([{ waiting: 1, creating: 2, failed: 1 }, 5])
    const ids = (list: typeof entries) => list.map(({ request }) => request.requestId)
    expect(ids(entries)).toEqual([unfound, failed, old, waiting, fresh])
    expect(entries.map(({ attention }) => attention?.why)).toEqual([
      ...['notFound', 'failed', 'standsStill', undefined, undefined],
    ])
    expect(entries.map(({ since }) => since)).toEqual([at(20), at(50), at(100), at(10), at(3500)])
    const stuck = await later(3600).readStuck(admin)
    expect([ids(stuck.entries), stuck.count]).toEqual([[unfound, failed, old], 3])
  })

  it('sees the oldest fifty of a state, and the number of all', async () => {
    const first = await stored('failed')
    for (let more = 0; more < 54; more += 1) await stored('failed', { updatedAt: at(more + 1) })
    for (let more = 0; more < 52; more += 1) await stored('succeeded', { finishedAt: at(more + 100) })
    const { counts, open, entries } = await later(3600).readQueue(admin)
    expect([counts.failed, open, entries.length, entries[0]?.request.requestId]).toEqual([55, 107, 100, first])
    const stuck = await later(3600).readStuck(admin)
    expect([stuck.count, stuck.entries.length]).toEqual([107, 100])
  })

  it('counts requests as stuck exactly from the deadline of their state, regardless of later writes', async () => {
    await stored('succeeded', { finishedAt: at(0), updatedAt: at(290) })
    await stored('queued', { queuedAt: at(0), updatedAt: at(290) })
    await stored('pendingApproval', { submittedAt: at(0), approvals: [] })
    const counted = async (seconds: number) => {
      const { count, entries } = await later(seconds).readStuck(admin)
      expect(count).toBe(entries.length)
      return count
    }
    expect([await counted(299), await counted(300), await counted(4 * 86_400)]).toEqual([0, 2, 2])
  })

  it('sees requests that need an admin, also among many open ones', async () => {
    for (let more = 0; more < 54; more += 1) await stored('provisioning', { updatedAt: at(3000) })
    const old = await stored('provisioning', { updatedAt: at(100) })
    const { open, entries } = await later(3600).readQueue(admin)
    expect([open, entries.length, entries[0]?.request.requestId]).toEqual([55, 51, old])
    expect(await later(3600).readStuck(admin)).toMatchObject({ count: 1, entries: [{ request: { requestId: old } }] })
  })

  it('sees nothing without open requests', async () => {
    const counts = { waiting: 0, creating: 0, failed: 0 }
    expect(await later(0).readQueue(admin)).toEqual({ counts, open: 0, entries: [], isDirectorySilent: false })
    expect(await later(0).readStuck(admin)).toEqual({
      ...{ count: 0, entries: [], isDirectorySilent: false, deadLetters: 0 },
    })
  })

  it.each([
    ['the requester', actorOf(kim)],
    ['an approver', actorOf(dana)],
    ['anybody', actorOf(stranger)],
  ])('has access alone: %s is refused', async (_, who) => {
    for (const read of [core.provisioning.readQueue, core.provisioning.readStuck, core.provisioning.readHealth])
      expect((await refusal(() => read(who))).code).toBe('forbidden')
  })

  it('sees the health of the service and Microsoft 365, also if a part does not answer', async () => {
    const own: OwnHealth = {
      ...{ databaseMilliseconds: null, queue: { waiting: 3, oldestSeconds: 7 }, watchedAt: null },
      ...{ version: '1.2.3', startedAt: new Date(start) },
    }
    const services: ServiceHealth[] = [
      { name: 'graph', milliseconds: 12 },
      { name: 'exchange', milliseconds: 5000, problem: asWritten('It did not answer in 5 seconds.') },
    ]
    const now = new Date(start + 1000)
    const provisioning = core.with({
      clock: { now: () => now },
      ownHealth: { read: async () => own },
      tenant: { ...core.ports.tenant, health: async () => services },
    })
    const report = await provisioning.readHealth(admin)
    // The parts of the installation have their own tests.
    const parts = report.parts.filter(({ checkedAt }) => checkedAt === undefined)
    expect({ ...report, parts }).toEqual({
      ...{ state: 'red', at: now, version: '1.2.3', startedAt: own.startedAt },
      parts: [
        { name: 'database', state: 'red', says: 'silent', sinceAt: now.toISOString() },
        { name: 'exchange', state: 'red', says: 'fails', problem: asWritten('It did not answer in 5 seconds.') },
        { name: 'graph', state: 'green', says: 'answers', milliseconds: 12 },
        { name: 'signIn', state: 'green', says: 'notSignedIn', tokens: 0 },
        { name: 'certificate', state: 'green', says: 'certificateNotNeeded' },
        { name: 'botSecret', state: 'green', says: 'secretNotNeeded' },
        { name: 'clock', state: 'green', says: 'clockGood', skewSeconds: 0 },
      ],
    })
  })

  describe('retries a stuck request', () => {
    const jobsOf = async (requestId: string) => (await core.orders(requestId)).map(({ name }) => name)
    it.each([
      ['queued', deadlines.queued],
      ['provisioning', deadlines.provisioning],
    ] as const)('in the state %s: it gets a new job, and an entry in the timeline', async (status, deadline) => {
      const requestId = await stored(status)
      const early = await refusal(() => later(deadline - 1).retryRequest(admin, { requestId }))
      expect([early.code, await jobsOf(requestId)]).toEqual(['illegal-transition', []])
      const after = await later(deadline).retryRequest(admin, { requestId, comment: 'The job is gone' })
      expect([after.status, after.queuedAt]).toEqual([status, at(0)])
      expect(await jobsOf(requestId)).toContain('provision')
      const [last] = await core.ports.audit.timeline(requestId)
      expect(last).toMatchObject({ action: 'restarted', actor: { id: priya.id }, comment: 'The job is gone' })
      await core.with({ tenant: tenantWith() }).system.provision(requestId, { lastAttempt: false, signal })
      expect((await core.provisioning.readRequest(admin, { requestId })).status).toBe('succeeded')
    })

    it('that is created but not announced: it gets a directory poll at once, and an entry in the timeline', async () => {
      const requestId = await stored('succeeded', { finishedAt: at(0) })
      const early = await refusal(() => later(deadlines.succeeded - 1).retryRequest(admin, { requestId }))
      expect([early.code, await jobsOf(requestId)]).toEqual(['illegal-transition', []])
      for (const _ of [1, 2]) await later(deadlines.succeeded).retryRequest(admin, { requestId })
      const polls = (await core.orders(requestId)).filter(({ name }) => name === 'follow-up')
      expect(polls.map(({ startAfter }) => Number(startAfter) <= start + 300_000)).toEqual([true])
      const [last] = await core.ports.audit.timeline(requestId)
      expect(last).toMatchObject({ action: 'restarted', actor: { id: priya.id } })
    })

    it('several times, and two concurrent jobs create the resource once', async () => {
      const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
      const body = { name: 'stands', displayName: 'Stands', templateId }
      const { requestId } = await core.provisioning.submitMailbox(actorOf(kim), { body })
      const late = new Date(Date.now() + 3_600_000)
      const provisioning = core.with({ clock: { now: () => late } })
      await Promise.all([1, 2, 3].map(() => provisioning.retryRequest(admin, { requestId })))
      const provisionJobs = (await jobsOf(requestId)).filter((name) => name === 'provision')
      expect(provisionJobs).toHaveLength(2)
      const run = { lastAttempt: false, signal }
      await Promise.all(provisionJobs.map(() => core.with({ tenant: tenantWith() }).system.provision(requestId, run)))
      const { status, steps } = await core.provisioning.readRequest(admin, { requestId })
      expect([status, steps.every((step) => step.status === 'done')]).toEqual(['succeeded', true])
      const ends = (await core.ports.audit.timeline(requestId)).filter(({ action }) => action === 'succeeded')
      expect(ends).toHaveLength(1)
    })

    it('but not a request that waits for approval, which can be cancelled', async () => {
      const { id: templateId } = await core.template({
        approval: { stages: [{ approvers: [{ group: approversGroup }] }] },
      })
      const { requestId } = await core.provisioning.submitSite(actorOf(kim), {
        body: { templateId, displayName: 'Waits' },
      })
      const months = core.with({ clock: { now: () => new Date(Date.now() + 1e10) } })
      expect((await refusal(() => months.retryRequest(admin, { requestId }))).code).toBe('illegal-transition')
      expect((await months.cancelRequest(admin, { requestId })).status).toBe('cancelled')
    })
  })
})
