import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  type ApprovalStage,
  asWritten,
  attentionOf,
  isRetryable,
  type LostPeople,
  type Request,
  TenantError,
} from '../../src/core/index.ts'
import { requestOf, stageOf, stepsUntil } from '../support/card-requests.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, tenantWith, withCore } from '../support/core.ts'

const now = new Date('2026-11-20T12:00:00.000Z')
const lost = (...people: readonly { id: string }[]): LostPeople => new Map(people.map(({ id }) => [id, 'gone']))
const waiting = (approvers: readonly (typeof dana)[], more: Partial<ApprovalStage> = {}): Request =>
  requestOf({ approvals: [stageOf(1, [...approvers], { openedAt: '2026-11-20T09:00:00.000Z', ...more })] })
const needs = (request: Request, who: LostPeople) => {
  const { why, people = [], remedies } = attentionOf(request, now, who) ?? {}
  return why && { why, people: people.map(({ id }) => id), remedies }
}
const remedies = ['reassign', 'override']

describe('a request that waits for a person who cannot decide', () => {
  it('needs attention at once if nobody else can complete its stage', () => {
    expect(needs(waiting([dana]), lost(dana))).toEqual({ why: 'gone', people: [dana.id], remedies })
    expect(needs(waiting([dana, omar], { rule: 'all' }), lost(omar))).toEqual({
      why: 'gone',
      people: [omar.id],
      remedies,
    })
    const quorum = { rule: 'quorum', quorum: 2 } as const
    expect(needs(waiting([dana, omar, priya], quorum), lost(dana, omar))?.people).toEqual([dana.id, omar.id])
  })

  it('needs no attention while the others or a stand-in can decide', () => {
    expect(needs(waiting([dana, omar]), lost(dana))).toBeUndefined()
    expect(needs(waiting([dana, omar, priya], { rule: 'quorum', quorum: 2 }), lost(dana))).toBeUndefined()
    const since = '2026-11-20T09:30:00.000Z'
    const standIns: ApprovalStage['standIns'] = [
      { person: omar, insteadOf: [dana.id], why: 'unreachable', as: 'manager', since },
    ]
    expect(needs(waiting([dana], { standIns }), lost(dana))).toBeUndefined()
    expect(needs(waiting([dana], { standIns }), lost(dana, omar))?.people).toEqual([dana.id])
    expect(
      needs(waiting([dana], { decisions: [{ by: dana, decision: 'approved', at: since }] }), lost(dana)),
    ).toBeUndefined()
  })

  it('shows since when a person is unreachable, and names a deleted person before an unreachable one', () => {
    const at = '2026-11-20T09:30:00.000Z'
    const unreachable = [{ person: dana, why: 'NoChat', at }]
    const nobody: LostPeople = new Map()
    expect(attentionOf(waiting([dana], { unreachable }), now, nobody)).toMatchObject({ why: 'unreached', since: at })
    expect(needs(waiting([dana, omar], { rule: 'all', unreachable }), lost(omar))).toEqual({
      why: 'gone',
      people: [omar.id],
      remedies,
    })
  })
})

describe('a request whose step is retried repeatedly', () => {
  const tried = (startedAt: string): Request => ({
    ...requestOf({ status: 'provisioning', updatedAt: '2026-11-20T11:59:59.000Z' }),
    steps: stepsUntil(1, {
      status: 'running',
      attempts: 3,
      startedAt,
      problem: { code: 'timeout', detail: 'No answer.' },
    }),
  })

  it('needs attention long before its deadline, and can be retried at once', () => {
    expect(attentionOf(tried('2026-11-20T11:59:50.000Z'), now)).toBeUndefined()
    const since = '2026-11-20T11:59:30.000Z'
    expect(attentionOf(tried(since), now)).toEqual({ why: 'retrying', since, remedies: ['retry'] })
    expect(isRetryable(tried(since), now)).toBe(true)
    const steps = stepsUntil(1, { status: 'running', attempts: 1, startedAt: since })
    expect(attentionOf({ ...tried(since), steps }, now)).toBeUndefined()
  })
})

describe('the list of stuck requests', () => {
  const core = withCore()
  const admin = actorOf(priya, true)
  const pendingRequest = async (...approvers: object[]) => {
    const { id } = await core.template({ approval: { stages: [{ approvers }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }
  const stuck = (parts: Parameters<typeof core.with>[0] = {}) => core.with(parts).readStuck(admin)
  const whyOf = async (requestId: string) =>
    (await stuck()).entries.find(({ request }) => request.requestId === requestId)?.attention?.why

  it('has a request as soon as its approver is deleted, blocked or leaves the group, until it is reassigned', async () => {
    const { requestId } = await pendingRequest({ user: dana.id })
    const ofGroup = await pendingRequest({ group: approversGroup })
    expect(await whyOf(requestId)).toBeUndefined()
    const members = core.world.groups.get(approversGroup) ?? []
    try {
      core.world.people.set(dana.id, { ...dana, isBlocked: true })
      expect(await whyOf(requestId)).toBe('blocked')
      expect(await whyOf(ofGroup.requestId)).toBeUndefined()
      core.world.people.delete(dana.id)
      expect(await whyOf(requestId)).toBe('gone')
      core.world.groups.set(approversGroup, [])
      expect(await whyOf(ofGroup.requestId)).toBe('gone')
      core.world.people.set(dana.id, dana)
      expect(await whyOf(ofGroup.requestId)).toBe('left')
      core.world.people.delete(dana.id)
      const entry = (await core.provisioning.readQueue(admin)).entries.find(
        (one) => one.request.requestId === requestId,
      )
      expect(entry?.attention).toMatchObject({ why: 'gone', people: [dana] })
      await core.provisioning.reassign(admin, { requestId, to: omar.id })
      expect(await whyOf(requestId)).toBeUndefined()
    } finally {
      core.world.people.set(dana.id, dana)
      core.world.groups.set(approversGroup, members)
    }
  })

  it('reports a directory that does not answer in time, and has all other requests', async () => {
    const { requestId } = await pendingRequest({ user: dana.id })
    const directory = { ...core.ports.directory }
    const before = (await stuck()).count
    core.world.up = false
    expect(await stuck()).toMatchObject({ count: before, isDirectorySilent: true })
    core.world.up = true
    const slow = await stuck({ directory: { ...directory, people: () => pause(10_000, [], { ref: false }) } })
    expect(slow).toMatchObject({ count: before, isDirectorySilent: true })
    const defect = stuck({
      directory: { ...directory, people: async () => Promise.reject(new Error('a defect of ours')) },
    })
    await expect(defect).rejects.toThrow('a defect of ours')
    expect(
      (await core.provisioning.readQueue(admin)).entries.some(({ request }) => request.requestId === requestId),
    ).toBe(true)
  })

  it('has a request that is retried, with the next attempt, and lets an admin retry it at once', async () => {
    const { id } = await core.template({ approval: null })
    const { requestId } = await core.provisioning.submitSite(actorOf(kim), {
      body: { displayName: 'Throttled', templateId: id },
    })
    const throttled = async () => {
      throw new TenantError('throttled', asWritten('SharePoint has too much to do (429).'), { retryable: true })
    }
    const run = { lastAttempt: false, signal: AbortSignal.timeout(10_000) }
    const failing = core.with({ tenant: tenantWith({ 'create-site': throttled }) })
    await expect(failing.system.provision(requestId, run)).rejects.toThrow('429')
    const startAfter = new Date(Date.now() + 90_000)
    await core.ports.jobs.enqueue([{ name: 'provision', payload: { v: 1, requestId }, id: randomUUID(), startAfter }])
    const later = { clock: { now: () => new Date(Date.now() + 30_000) } }
    const entry = (await stuck(later)).entries.find(({ request }) => request.requestId === requestId)
    expect(entry).toMatchObject({ attention: { why: 'retrying' }, nextTryAt: startAfter })
    const before = (await core.orders(requestId)).length
    await core.with(later).retryRequest(admin, { requestId })
    expect((await core.orders(requestId)).slice(before).map(({ name }) => name)).toEqual(['provision', 'refresh-cards'])
  })
})
