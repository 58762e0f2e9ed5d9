import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type AuditEntry,
  type Decision,
  periodOf,
  provisioningRequest,
  type RequestForSite,
} from '../../src/core/index.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { dana, kim, omar, sam, stageOf, tenantId } from '../support/card-world.ts'
import { withCore } from '../support/core.ts'
import { engines, withDatabase } from '../support/database.ts'

const now = new Date('2026-11-20T10:45:00Z')
const [minute, hour, day] = [60, 3600, 86_400]
/** Returns the time of so many seconds ago. */
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
type Decided = Decision
const system = { kind: 'system' } as const

describe.each(engines)('the statistics of a period, %s', (engine) => {
  const store = withDatabase(engine)
  const core = withCore(engine)
  let stores: Stores
  beforeAll(() => {
    stores = createStores(store.database)
  })

  const entryOf = (requestId: string, at: string, action: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
    ...{ requestId, tenantId, at, actor: system, action, ...more },
  })
  /** Stores a request in its final state, with its entries. */
  async function history(more: Partial<RequestForSite>, ...lines: ((requestId: string) => AuditEntry)[]) {
    const request = provisioningRequest.parse(requestOf({ ...more, tenantId, requestId: randomUUID() }))
    await store.database.transaction(async () => {
      await stores.requests.insert(request)
      await stores.audit.append([
        entryOf(request.requestId, request.submittedAt, 'pendingApproval', { actor: kim }),
        ...lines.map((line) => line(request.requestId)),
      ])
    })
    return request.requestId
  }
  const line =
    (at: string, action: string, more: Partial<AuditEntry> = {}) =>
    (requestId: string) =>
      entryOf(requestId, at, action, more)
  const decision = ({ by, decision, at }: Decided) => line(at, decision, { actor: by })
  const stage = (openedAt: string, ...decisions: Decided[]) => stageOf(1, [dana, omar], { openedAt, decisions })
  const read = async (name: 'week' | 'month' = 'week') => {
    const { stats } = stores
    const provisioning = core.with({ stats })
    const admin = { ...sam, tenantId, isAdmin: true }
    return provisioning.readStats(admin, { period: periodOf(name, now, { timeZone: 'UTC', locale: 'en' }) })
  }

  it('are empty without entries', async () => {
    const { now, kinds, templates, approvers, approverCount, failures } = await read()
    expect(now).toMatchObject({ asked: 0, decided: 0, rejectionRate: null, toDecision: null, work: null })
    expect([kinds, templates, approvers, approverCount, failures]).toEqual([[], [], [], 0, []])
  })

  it('count requests, decisions, created resources and failures in it, with their durations', async () => {
    const made = (submitted: number, took: number, worked: number, by = dana) => {
      const decided = { by, decision: 'approved' as const, at: ago(submitted - took) }
      const end = ago(submitted - took - worked)
      return history(
        {
          ...{ status: 'succeeded', submittedAt: ago(submitted), queuedAt: decided.at, finishedAt: end },
          approvals: [stage(ago(submitted), decided)],
        },
        decision(decided),
        line(decided.at, 'queued'),
        line(end, 'succeeded'),
      )
    }
    // Submitted before the week, decided and created in it.
    await made(8 * day, 2 * day, 40)
    await made(day, hour, 20)
    await made(day, 3 * hour, 60, omar)
    // Everything in the week before.
    await made(10 * day, day, 30)
    const no = { by: dana, decision: 'rejected' as const, at: ago(hour) }
    await history(
      { status: 'rejected', submittedAt: ago(2 * hour), approvals: [stage(ago(90 * minute), no)] },
      decision(no),
    )
    // The first of two stages was approved, and the second is undecided.
    const first = { by: dana, decision: 'approved' as const, at: ago(3 * hour) }
    await history(
      { status: 'expired', submittedAt: ago(4 * hour), approvals: [stage(ago(4 * hour), first)] },
      decision(first),
    )
    const over = { by: sam, decision: 'approved' as const, at: ago(8.5 * day), override: true as const }
    await history(
      { status: 'succeeded', submittedAt: ago(9 * day), queuedAt: over.at, approvals: [stage(ago(9 * day), over)] },
      decision(over),
    )
    // Without approval; it failed, was retried and failed for another reason.
    const problem = (code: string) => ({ data: { code, detail: 'No.' } })
    await history(
      {
        ...{ status: 'failed', submittedAt: ago(5 * hour), queuedAt: ago(5 * hour), approvals: [] },
        kind: 'communicationSite',
      },
      line(ago(4 * hour), 'failed', problem('timeout')),
      line(ago(2 * hour), 'failed', problem('name-taken')),
    )
    const stats = await read()
    expect(stats.now).toMatchObject({ asked: 5, decided: 4, rejected: 1, rejectionRate: 25, made: 3, failed: 2 })
    expect(stats.now.toDecision?.median).toBe(2 * hour)
    expect(stats.now.work).toEqual({ median: 40, p95: 58 })
    expect(stats.now.toCompletion?.median).toBe(3 * hour + 60)
    expect(stats.before).toMatchObject({ asked: 3, decided: 2, made: 1, failed: 0, work: { median: 30, p95: 30 } })
    expect(stats.kinds).toEqual([
      { kind: 'teamSite', count: 4 },
      { kind: 'communicationSite', count: 1 },
    ])
    expect(stats.templates).toMatchObject([
      { name: 'Project site', count: 5, states: { succeeded: 2, rejected: 1, expired: 1, failed: 1 } },
    ])
    expect(stats.approvers).toMatchObject([
      { person: { id: dana.id, displayName: dana.displayName }, decisions: 4, rejections: 1, median: hour },
      { person: { id: omar.id }, decisions: 1, rejections: 0, median: 3 * hour },
    ])
    expect(stats.approverCount).toBe(2)
    expect(stats.failures).toEqual([
      { code: 'name-taken', count: 1 },
      { code: 'timeout', count: 1 },
    ])
    const month = await read('month')
    expect(month.now).toMatchObject({ asked: 8, decided: 6, made: 4 })
    expect(month.approvers.map(({ person }) => person.id)).toEqual([dana.id, omar.id])
    expect(month.before).toMatchObject({ asked: 0, decided: 0 })
  })

  it('count requests with removed details, and ignore other organisations', async () => {
    const before = await read()
    await store.database.query(`UPDATE audit_log SET body = NULL WHERE action = 'failed'`)
    const after = await read()
    expect(after.failures).toEqual([{ code: 'unknown', count: 2 }])
    expect({ ...after, failures: [] }).toEqual({ ...before, failures: [] })
    const elsewhere = await stores.stats.submitted(randomUUID(), { from: new Date(0), until: now })
    expect(elsewhere).toEqual([])
  })

  it('name a template as its newest request does', async () => {
    const renamed = { ...requestOf().template, name: 'Project site, new' }
    await history({ template: renamed, submittedAt: ago(minute), status: 'queued', number: 1 })
    const [first] = (await read()).templates
    expect(first).toMatchObject({ name: 'Project site, new', count: 6 })
  })
})
