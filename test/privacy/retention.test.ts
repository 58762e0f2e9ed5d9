import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Core,
  type NoticeKey,
  noticeSubject,
  type Request,
  readRetentionNotice,
  requestView,
  type Settings,
  viewOf,
} from '../../src/core/index.ts'
import { provedAll } from '../../src/store/audit/chain.ts'
import { auditKey } from '../support/audit-chains.ts'
import { viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, approversGroup, kim, omar, priya, tenantId, tenantWith, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { cards } from '../support/english-cards.ts'

const canary = 'Xylophon-canary'
const never = new AbortController().signal

describe.each(engines)('a request that ended long ago, %s', (engine) => {
  const core = withCore(engine)
  let now = new Date('2026-01-05T10:00:00Z')
  let provisioning: Core
  const clock = { now: () => now }
  const asAdmin = actorOf(priya, true)
  const ids: Record<string, string> = {}
  const find = async (name: string): Promise<Request> => {
    const request = await core.ports.requests.find(ids[name] ?? '')
    if (!request) throw new Error(`${name} is gone`)
    return request
  }

  beforeAll(async () => {
    const tenant = tenantWith()
    provisioning = core.with({ clock, tenant }, { retentionDays: 365 })
    const template = await core.template({
      fields: [{ key: 'why', type: 'text', label: 'Why' }],
      approval: { stages: [{ approvers: [{ group: approversGroup }] }] },
    })
    const bodyOf = (name: string) => ({
      ...{ displayName: `${canary} ${name}`, description: canary, templateId: template.id },
      ...{ owners: [omar.id], metadata: { why: canary, other: canary } },
    })
    const asks = async (name: string) => {
      const { requestId } = await provisioning.submitSite(actorOf(kim), { body: bodyOf(name) })
      ids[name] = requestId
      return requestId
    }
    const asksInBatch = async (name: string) => {
      const batchId = randomUUID()
      const rows = [{ key: canary, body: bodyOf(name) }]
      await provisioning.beginBatch(actorOf(kim), { batchId, resource: 'site', rows })
      const attempt = { lastAttempt: false, signal: never, report: () => undefined }
      await provisioning.system.runBatch({ v: 1, batchId, turn: 0 }, attempt)
      const [request] = await core.ports.requests.list({ tenantId, batchId, limit: 1 })
      ids[name] = request?.requestId ?? ''
      return ids[name]
    }
    await provisioning.reject(actorOf(omar), { requestId: await asksInBatch('rejected'), comment: canary })
    await provisioning.cancelRequest(asAdmin, { requestId: await asks('cancelled'), comment: canary })
    await provisioning.approve(actorOf(omar), { requestId: await asks('made'), comment: canary })
    await provisioning.system.provision(ids['made'] ?? '', { signal: never, isLastAttempt: false } as never)
    await asks('open')
    now = new Date('2027-01-04T10:00:00Z')
    await provisioning.reject(actorOf(omar), { requestId: await asks('later'), comment: canary })
  })

  it('stays complete during the retention', async () => {
    now = new Date('2027-01-05T09:00:00Z')
    expect(await provisioning.system.reduceOld(never)).toBe(0)
    expect(await core.with({ clock }, {}).system.reduceOld(never)).toBe(0)
  })

  const announcements = async (): Promise<string[]> => {
    const { rows } = await core.database.query<{ notice: string }>(
      `SELECT payload ->> 'notice' AS notice FROM ordered_jobs WHERE name = 'tell-admins' ORDER BY place`,
    )
    return rows.map(({ notice }) => notice)
  }
  const cardOf = (notice: NoticeKey, settings: Partial<Settings> = { retentionDays: 365 }) => {
    const subject = noticeSubject(notice)
    if (subject.kind !== 'retention') throw new Error(notice)
    const context = { ports: { ...core.ports, clock }, settings: { ...provisioning.settings, ...settings } }
    return readRetentionNotice(context as Parameters<typeof readRetentionNotice>[0], subject.startsAt)
  }

  it('is announced to the admins 72 hours before, once, by one of two concurrent runs', async () => {
    now = new Date('2027-01-06T10:00:00Z')
    const startsAt = '2027-01-09T10:00:00.000Z'
    expect(await announcements()).toEqual([])
    const counts = await Promise.all([provisioning.system.reduceOld(never), provisioning.system.reduceOld(never)])
    expect(counts).toEqual([0, 0])
    expect(await announcements()).toEqual([`retention:${startsAt}`])
    expect(await cardOf(`retention:${startsAt}`)).toEqual({ kind: 'retention', days: 365, startsAt, count: 3 })
    now = new Date('2027-01-09T09:59:00Z')
    expect(await provisioning.system.reduceOld(never)).toBe(0)
    expect(await announcements()).toHaveLength(1)
    for (const name of ['rejected', 'cancelled', 'made']) expect(JSON.stringify(await find(name))).toContain(canary)
  })

  it('is not removed after retention is off again, and the next start is announced again', async () => {
    expect(await core.with({ clock }, {}).system.reduceOld(never)).toBe(0)
    expect(await cardOf('retention:2027-01-09T10:00:00.000Z')).toBeUndefined()
    now = new Date('2027-01-10T10:00:00Z')
    expect(await provisioning.system.reduceOld(never)).toBe(0)
    expect(await announcements()).toEqual(['retention:2027-01-09T10:00:00.000Z', 'retention:2027-01-13T10:00:00.000Z'])
    expect(await cardOf('retention:2027-01-13T10:00:00.000Z', { retentionDays: undefined } as never)).toBeUndefined()
  })

  it('is then reduced to what the audit needs, once, by one of two concurrent runs', async () => {
    // `later` ended less than 365 days before the start.
    now = new Date('2027-01-13T10:00:00Z')
    const before = await find('rejected')
    await Promise.all([provisioning.system.reduceOld(never), provisioning.system.reduceOld(never)])
    for (const name of ['rejected', 'cancelled', 'made']) {
      const request = await find(name)
      expect(request, name).toMatchObject({ reducedAt: now.toISOString(), requester: kim })
      const { updatedAt, submittedAt, finishedAt } = request
      expect(JSON.stringify(request)).not.toContain(canary)
      expect([updatedAt, submittedAt]).toEqual([finishedAt, before.submittedAt])
      const timeline = await core.ports.audit.timeline(request.requestId)
      expect(timeline.filter(({ action }) => action === 'reduced')).toHaveLength(1)
    }
    expect((await find('rejected')).approvals[0]?.decisions).toEqual([
      { by: omar, decision: 'rejected', at: before.finishedAt },
    ])
    expect(await provisioning.system.reduceOld(never)).toBe(0)
  })

  it('is announced again after a change to fewer days, not after a change to more', async () => {
    const runs = async (retentionDays: number) => core.with({ clock }, { retentionDays }).system.reduceOld(never)
    const before = await announcements()
    expect([await runs(400), await announcements()]).toEqual([0, before])
    expect([await runs(5), (await announcements()).slice(before.length)]).toEqual([
      0,
      ['retention:2027-01-16T10:00:00.000Z'],
    ])
    expect(JSON.stringify(await find('later'))).toContain(canary)
  })

  it('is reduced without changes to open and recently ended requests', async () => {
    for (const name of ['open', 'later']) expect(JSON.stringify(await find(name))).toContain(canary)
  })

  it('can be read by the API, on its card and in the list, and counts in statistics', async () => {
    const viewer = viewerOf(kim)
    for (const name of ['rejected', 'cancelled', 'made']) {
      const request = await find(name)
      const view = requestView.parse(viewOf(request))
      expect(view.reducedAt).toBe(request.reducedAt)
      const text = textOf(cards.requestStatus(request, { ...viewer, now }))
      expect(text).toMatch(/Details removed: .*\. Your organisation keeps details only for a limited time\./)
      expect(text).not.toMatch(/Edit and send again|Request another/)
    }
    expect(JSON.stringify(cards.ready(await find('made'), viewer))).not.toContain('Request another')
    expect((await find('made')).resource).not.toBeNull()
    expect((await provisioning.listOwnRequests(actorOf(kim), { limit: 10 })).requests).toHaveLength(5)
  })

  it('sends no card about its end again when its requester installs the app again', async () => {
    const cardsOf = async (name: string) =>
      (await core.orders(ids[name] ?? '')).filter(
        (order) => order.name === 'notify' && order.payload['personId'] === kim.id,
      )
    const before = { reduced: await cardsOf('cancelled'), complete: await cardsOf('later') }
    await provisioning.system.catchUp({ tenantId, id: kim.id })
    expect(await cardsOf('cancelled')).toEqual(before.reduced)
    expect((await cardsOf('later')).length).toBe(before.complete.length + 1)
  })

  it('cannot be requested again: the click shows its status', async () => {
    for (const [name, again] of [
      ['rejected', 'draftFromRequest'],
      ['made', 'draftLikeRequest'],
    ] as const) {
      const view = await provisioning[again](actorOf(kim), { requestId: ids[name] ?? '' })
      expect(view).toMatchObject({ step: 'submitted', request: { requestId: ids[name] } })
    }
  })

  it('leaves every chain with a valid proof', async () => {
    for await (const proof of provedAll(core.database, auditKey))
      expect(proof.findings.filter(({ kind }) => kind !== 'anchor')).toEqual([])
  })
})
