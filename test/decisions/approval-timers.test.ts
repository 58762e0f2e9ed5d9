import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Person } from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

const hour = 3_600_000
const day = 24 * hour

describe('a stage that nobody decides', () => {
  const core = withCore()
  const begin = Date.now()
  let now = begin
  const provisioning = (settings = {}) => core.with({ clock: { now: () => new Date(now) } }, settings)
  const ask = async (policy: object, more: object = {}) => {
    now = begin
    const { id: templateId } = await core.template({ approval: { stages: [policy], ...more } })
    const { requestId } = await provisioning().submitSite(actorOf(kim), {
      body: {
        displayName: `S ${randomUUID()}`,
        templateId,
      },
    })
    return requestId
  }
  const of = (...people: Person[]) => ({ approvers: people.map(({ id }) => ({ user: id })) })
  /** Runs the timers some time after the stage opened. */
  const runTimers = async (requestId: string, milliseconds: number, settings = {}) => {
    now = begin + milliseconds
    await provisioning(settings).system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    return stageOf(requestId)
  }
  const read = (requestId: string) => provisioning().readRequest(actorOf(priya, true), { requestId })
  const stageOf = async (requestId: string) => {
    const [stage] = (await read(requestId)).approvals
    if (!stage) throw new Error('a request without approval')
    return stage
  }
  const actions = async (requestId: string) =>
    (await provisioning().readTimeline(actorOf(kim), { requestId })).map(({ action }) => action)
  /** The ordered cards with their people. */
  const cards = async (requestId: string) =>
    (await core.orders(requestId)).flatMap(({ name, payload }) =>
      name === 'notify' ? [`${payload['card']} ${nameOf(String(payload['personId']))}`] : [],
    )
  const names = { [kim.id]: 'Kim', [dana.id]: 'Dana', [omar.id]: 'Omar', [priya.id]: 'Priya', [stranger.id]: 'Sasha' }
  const nameOf = (id: string) => names[id] ?? id
  const timerRuns = async (requestId: string) =>
    (await core.orders(requestId))
      .filter(({ name }) => name === 'tend-approval')
      .map(({ startAfter }) => ((startAfter?.getTime() ?? 0) - begin) / hour)
  const met = (...people: Person[]) =>
    Promise.all(
      people.map(({ id: personId }) =>
        core.ports.conversations.put({
          ...{ tenantId, personId, conversationId: `chat-${personId}`, reference: {} },
          ...{ locale: 'en', timeZone: 'UTC' },
        }),
      ),
    )

  it('goes to the admins instead of managers if it has too many approvers', async () => {
    const many = Array.from({ length: 21 }, (_, index) => {
      const userPrincipalName = `many-${index}@contoso.example`
      return { id: randomUUID(), displayName: `Many ${index}`, userPrincipalName }
    })
    const group = randomUUID()
    core.world.groups.set(group, many)
    for (const one of many) core.world.managers.set(one.id, omar)
    const requestId = await ask({ approvers: [{ group }] })
    const { standIns } = await runTimers(requestId, 73 * hour)
    expect(standIns?.map(({ person, as }) => [person.id, as])).toEqual([[priya.id, 'admin']])
    core.world.groups.set(group, many.slice(1))
    const fewer = await ask({ approvers: [{ group }] })
    expect((await runTimers(fewer, 73 * hour)).standIns?.map(({ as }) => as)).toEqual(['manager'])
  })

  it('gets one reminder, one escalation to the manager, one warning and one expiry from any number of runs', async () => {
    await met(kim, dana, omar, priya)
    core.world.managers.set(dana.id, omar)
    const requestId = await ask(of(dana))
    expect(await timerRuns(requestId)).toEqual([1 / 6])
    for (const time of [hour / 6, hour / 6, 23 * hour]) await runTimers(requestId, time)
    expect(await actions(requestId)).toEqual(['pendingApproval'])
    expect(await timerRuns(requestId)).toEqual([1 / 6, 24])
    for (const time of [24 * hour, 24 * hour, 30 * hour, 24 * hour]) await runTimers(requestId, time)
    const escalated = await runTimers(requestId, 72 * hour)
    expect(escalated.standIns).toMatchObject([{ person: omar, insteadOf: [dana.id], why: 'escalated', as: 'manager' }])
    for (const time of [72 * hour, 72 * hour + hour / 6]) await runTimers(requestId, time)
    const warned = await runTimers(requestId, 12 * day)
    expect(warned.times?.expiresAt).toBe(new Date(begin + 14 * day).toISOString())
    await runTimers(requestId, 13 * day)
    expect(await actions(requestId)).toEqual(['pendingApproval', 'reminded', 'escalated', 'warned'])
    expect(await cards(requestId)).toEqual([
      ...['approval:1 Dana', 'reminder:1:1 Dana', 'approval:1 Omar'],
      ...['reminder:1:2 Dana', 'reminder:1:2 Omar', 'warning:1 Kim'],
    ])
    await runTimers(requestId, 14 * day)
    await runTimers(requestId, 14 * day)
    expect(await actions(requestId)).toEqual(['pendingApproval', 'reminded', 'escalated', 'warned', 'expired'])
    expect((await read(requestId)).status).toBe('expired')
    expect((await cards(requestId)).at(-1)).toBe('outcome:expired Kim')
    expect((await refusal(() => provisioning().approve(actorOf(dana), { requestId }))).code).toBe('already-ended')
    expect(await timerRuns(requestId)).toEqual([1 / 6, 24, 72, 72 + 1 / 6, 12 * 24, 14 * 24])
    core.world.managers.delete(dana.id)
  })

  it('escalates to the policy’s backup, who decides for the silent approver', async () => {
    const requestId = await ask({ ...of(dana, omar), rule: 'all', backup: [{ user: stranger.id }] })
    await provisioning().approve(actorOf(omar), { requestId })
    const { standIns } = await runTimers(requestId, 72 * hour)
    expect(standIns).toMatchObject([{ person: stranger, insteadOf: [dana.id], as: 'backup' }])
    const done = await provisioning().approve(actorOf(stranger), { requestId })
    expect([done.status, done.approvals[0]?.decisions[1]?.insteadOf]).toEqual(['queued', [dana]])
  })

  it('escalates to the admins without a manager, or if the manager is the requester', async () => {
    for (const manager of [undefined, kim]) {
      if (manager) core.world.managers.set(dana.id, manager)
      const requestId = await ask(of(dana))
      const { standIns } = await runTimers(requestId, 72 * hour)
      expect(standIns).toMatchObject([{ person: priya, insteadOf: [dana.id], as: 'admin' }])
    }
    core.world.managers.delete(dana.id)
  })

  it('still waits without a stand-in, and the admins are notified', async () => {
    const requestId = await ask(of(priya))
    const { standIns, escalatedAt } = await runTimers(requestId, 72 * hour)
    expect([standIns, escalatedAt]).toEqual([undefined, new Date(now).toISOString()])
    expect(await core.orderedJobs(requestId)).toContain('notify-admins')
    expect((await provisioning().approve(actorOf(priya), { requestId })).status).toBe('queued')
  })

  it('with a quorum gets the admins too if one stand-in for two approvers is not enough', async () => {
    const requestId = await ask({ ...of(dana, omar), rule: 'quorum', quorum: 2, backup: [{ user: stranger.id }] })
    await met(stranger)
    await runTimers(requestId, 72 * hour)
    const { standIns } = await runTimers(requestId, 72 * hour + hour / 6)
    expect(standIns?.map(({ person, as }) => [person.id, as])).toEqual([
      [stranger.id, 'backup'],
      [priya.id, 'admin'],
    ])
    expect((await provisioning().approve(actorOf(stranger), { requestId })).status).toBe('pendingApproval')
    expect((await refusal(() => provisioning().approve(actorOf(stranger), { requestId }))).code).toBe('already-decided')
    expect((await provisioning().approve(actorOf(priya, true), { requestId })).status).toBe('queued')
  })

  it('gets a warning before it expires, even after weeks without timers', async () => {
    const requestId = await ask(of(dana))
    await runTimers(requestId, 40 * day)
    expect(await actions(requestId)).toEqual(['pendingApproval', 'escalated', 'warned'])
    expect((await runTimers(requestId, 41.9 * day)).times?.expiresAt).toBe(new Date(begin + 42 * day).toISOString())
    await runTimers(requestId, 42 * day)
    expect((await read(requestId)).status).toBe('expired')
  })

  it('gets its other timers while the directory does not answer, and the escalation afterwards', async () => {
    const requestId = await ask(of(dana))
    core.world.up = false
    await expect(runTimers(requestId, 40 * day)).rejects.toMatchObject({ putOffMilliseconds: 60_000 })
    expect(await actions(requestId)).toEqual(['pendingApproval', 'warned'])
    core.world.up = true
    expect((await runTimers(requestId, 40 * day + hour)).standIns).toMatchObject([{ person: priya, why: 'escalated' }])
    expect(await actions(requestId)).toEqual(['pendingApproval', 'warned', 'escalated'])
  })

  it('changes once if many timer runs and a decision race', async () => {
    const requestId = await ask(of(dana, omar))
    now = begin + 72 * hour
    const at = provisioning()
    const many = Array.from({ length: 5 }, () => at.system.runApprovalTimers({ v: 1, requestId, stage: 1 }))
    const [decision, ...ends] = await Promise.allSettled([at.approve(actorOf(dana), { requestId }), ...many])
    expect(decision.status).toBe('fulfilled')
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject({ name: 'PutOff' })
    await at.system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    const entries = await actions(requestId)
    expect(new Set(entries).size).toBe(entries.length)
    expect(entries.slice(-2)).toEqual(['approved', 'queued'])
  })

  it('gets another timer run at the same time after an early one', async () => {
    const requestId = await ask(of(dana))
    await runTimers(requestId, 24 * hour - 100)
    await runTimers(requestId, 24 * hour - 50)
    expect((await timerRuns(requestId)).filter((one) => one === 24).length).toBeGreaterThan(1)
  })

  it('stays expired, even if a delegation ended without a record meanwhile', async () => {
    const requestId = await ask(of(dana))
    const until = new Date(begin + 14 * day - 1).toISOString()
    await provisioning().beginDelegation(actorOf(dana), { to: omar.id, until })
    await provisioning().system.realignApprovals({ tenantId, personId: dana.id })
    await runTimers(requestId, 12 * day)
    await runTimers(requestId, 14 * day)
    await provisioning().endDelegation(actorOf(dana))
    expect((await actions(requestId)).at(-1)).toBe('expired')
  })

  it('sends a new card to an approver who gets it back, and new cards for later reminders', async () => {
    const requestId = await ask(of(dana))
    const key = 'approval:1' as const
    await core.ports.sentCards.put({
      ...{ requestId, personId: dana.id, key, conversationId: `chat-${dana.id}`, activityId: 'first', state: 'sent' },
    })
    await provisioning().reassign(actorOf(dana), { requestId, to: omar.id })
    await provisioning().reassign(actorOf(omar), { requestId, to: dana.id })
    await provisioning().nudge(actorOf(kim), { requestId })
    expect(await cards(requestId)).toEqual([`${key} Dana`, `${key} Omar`, 'reminder:1:2 Dana', 'reminder:1:3 Dana'])
  })

  it('has times of its own as a second stage', async () => {
    now = begin
    const { id: templateId } = await core.template({ approval: { stages: [of(dana), of(omar)] } })
    const { requestId } = await provisioning().submitSite(actorOf(kim), {
      body: {
        displayName: `S ${randomUUID()}`,
        templateId,
      },
    })
    now = begin + 5 * day
    const { approvals } = await provisioning().approve(actorOf(dana), { requestId })
    expect(approvals[1]).toMatchObject({ openedAt: new Date(now).toISOString() })
    await runTimers(requestId, 20 * day)
    expect((await read(requestId)).status, 'the timers ran for the first stage').toBe('pendingApproval')
    await provisioning().system.runApprovalTimers({ v: 1, requestId, stage: 2 })
    expect((await actions(requestId)).slice(-2)).toEqual(['escalated', 'warned'])
  })

  it('gets times from the watchdog in a request of an earlier version, even after a notice that it is overdue', async () => {
    const requestId = await ask(of(dana))
    const withoutTimes = async () => {
      const request = await read(requestId)
      const approvals = request.approvals.map(({ openedAt: _, times: __, ...stage }) => stage)
      await core.ports.requests.update({ ...request, approvals, version: request.version + 1 })
    }
    for (const days of [4, 5]) {
      await withoutTimes()
      now = begin + days * day
      await provisioning().system.watch([], [])
      expect(await stageOf(requestId)).toMatchObject({ openedAt: new Date(now).toISOString() })
    }
    expect(await actions(requestId)).toEqual(['pendingApproval', 'overdue', 'timed', 'timed'])
  })

  it('without timer runs gets a run from the watchdog once a day until it ends', async () => {
    const requestId = await ask(of(dana))
    const forgotten = async () => {
      await core.database.query(`DELETE FROM ordered_jobs WHERE payload->>'requestId' = $1`, [requestId])
      for (let turn = 0; turn < 3; turn += 1) await provisioning().system.watch([], [])
      return (await timerRuns(requestId)).length
    }
    await provisioning().system.watch([], [requestId])
    expect(await timerRuns(requestId)).toHaveLength(1)
    expect(await forgotten()).toBe(1)
    expect((await read(requestId)).version).toBe(1)
    await provisioning().cancelRequest(actorOf(kim), { requestId })
    expect(await forgotten()).toBe(0)
  })
})
