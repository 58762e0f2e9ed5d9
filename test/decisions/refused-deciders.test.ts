import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { actorOf, approversGroup, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

describe('a rejected attempt to decide', () => {
  const core = withCore()
  const pendingRequest = async (approvers: object[]) => {
    const { id } = await core.template({ approval: { stages: [{ approvers }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }
  const admin = actorOf(priya, true)
  const refused = async (requestId: string) => {
    const report = await core.provisioning.readAudit(admin, { requestId })
    if (!report) throw new Error('a request without an audit')
    expect(report.findings, 'the chain proves').toEqual([])
    const { value } = JSON.parse(JSON.stringify({ value: await core.ports.audit.timeline(requestId) })) as {
      value: { action: string; actor: { id?: string }; data?: { tried: string; code: string } }[]
    }
    return value.flatMap(({ action, actor, data }) =>
      action === 'refused' ? [[actor.id, data?.tried, data?.code]] : [],
    )
  }

  it('is in the audit chain once an hour, not in the timeline, and does not change the request', async () => {
    const { requestId } = await pendingRequest([{ user: dana.id }])
    const { approve, reject, reassign } = core.provisioning
    for (let time = 0; time < 3; time += 1) await refusal(() => approve(actorOf(stranger), { requestId }))
    await refusal(() => reject(actorOf(stranger), { requestId, comment: 'No.' }))
    await refusal(() => approve(actorOf(kim), { requestId }))
    await refusal(() => approve(admin, { requestId }))
    await refusal(() => reassign(actorOf(stranger), { requestId, to: stranger.id }))
    await refusal(() => reassign({ ...actorOf(kim), isAdmin: true }, { requestId, to: stranger.id }))
    expect(await refused(requestId)).toEqual([
      [stranger.id, 'approve', 'not-found'],
      [stranger.id, 'reject', 'not-found'],
      [kim.id, 'approve', 'self-approval'],
      [priya.id, 'approve', 'not-an-approver'],
      [stranger.id, 'reassign', 'not-found'],
      [kim.id, 'reassign', 'self-approval'],
    ])
    expect((await core.provisioning.readTimeline(admin, { requestId })).map(({ action }) => action)).toEqual([
      'pendingApproval',
    ])
    expect((await core.provisioning.readRequest(admin, { requestId })).version).toBe(1)
    const later = core.with({ clock: { now: () => new Date(Date.now() + 3_600_001) } })
    await refusal(() => later.approve(actorOf(stranger), { requestId }))
    expect(await refused(requestId)).toHaveLength(7)
    expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('queued')
    expect(await refused(requestId)).toHaveLength(7)
  })

  it('is recorded for a former approver, who left the group or was replaced', async () => {
    const group = core.world.groups.get(approversGroup) ?? []
    const left = await pendingRequest([{ group: approversGroup }])
    core.world.groups.set(approversGroup, [omar])
    await refusal(() => core.provisioning.approve(actorOf(dana), { requestId: left.requestId }))
    core.world.groups.set(approversGroup, group)
    expect(await refused(left.requestId)).toEqual([[dana.id, 'approve', 'not-an-approver']])
    const handedOn = await pendingRequest([{ user: dana.id }])
    await core.provisioning.reassign(actorOf(dana), { requestId: handedOn.requestId, to: omar.id, comment: 'Yours.' })
    const late = await refusal(() => core.provisioning.approve(actorOf(dana), { requestId: handedOn.requestId }))
    expect(sentenceOf(late)).toBe(`${omar.displayName} is now the approver instead of you.`)
    expect(await refused(handedOn.requestId)).toEqual([[dana.id, 'approve', 'not-an-approver']])
  })

  it('does not count for the next stage if others decide the checked stage meanwhile', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    core.world.groups.set(first, [dana, omar])
    core.world.groups.set(second, [dana, priya])
    const stages = [first, second].map((group) => ({ approvers: [{ group }] }))
    const { id: templateId } = await core.template({ approval: { stages } })
    const body = { displayName: `Site ${randomUUID()}`, templateId }
    const { requestId } = await core.provisioning.submitSite(actorOf(kim), { body })
    core.world.groups.set(second, [priya])
    let isFirst = true
    const find: typeof core.ports.requests.find = async (id) => {
      const found = await core.ports.requests.find(id)
      if (isFirst) {
        isFirst = false
        await core.provisioning.approve(actorOf(omar), { requestId })
      }
      return found
    }
    const slow = core.with({ requests: { ...core.ports.requests, find } })
    expect((await refusal(() => slow.approve(actorOf(dana), { requestId }))).code).toBe('already-decided')
    const { status, approvals } = await core.provisioning.readRequest(admin, { requestId })
    expect([status, approvals.map(({ decisions }) => decisions.length)]).toEqual(['pendingApproval', [1, 0]])
  })

  it('is recorded with the id of an unknown person, and not for an unknown request', async () => {
    const { requestId } = await pendingRequest([{ user: dana.id }])
    const id = randomUUID()
    await core.provisioning.system.noteForbidden({ id, tenantId }, requestId, 'approve')
    await core.provisioning.system.noteForbidden({ id, tenantId }, randomUUID(), 'approve')
    const [line] = (await core.ports.audit.timeline(requestId)).filter(({ action }) => action === 'refused')
    expect(line).toMatchObject({ actor: { kind: 'system' }, data: { who: id, code: 'forbidden' }, tenantId })
  })

  it('is forbidden to an approver whose account was blocked later', async () => {
    const { requestId } = await pendingRequest([{ user: dana.id }])
    core.world.people.set(dana.id, { ...dana, isBlocked: true })
    const { code } = await refusal(() => core.provisioning.actor({ tenantId, id: dana.id }))
    core.world.people.set(dana.id, dana)
    expect(code).toBe('forbidden')
    expect((await core.provisioning.readRequest(admin, { requestId })).status).toBe('pendingApproval')
  })

  it('cannot start with a reassignment to the requester, even if the policy allows self-approval', async () => {
    const { id: templateId } = await core.template({
      approval: { stages: [{ approvers: [{ user: dana.id }], selfApproval: true }] },
    })
    const site = { displayName: `Site ${randomUUID()}`, templateId }
    const { requestId } = await core.provisioning.submitSite(actorOf(kim), { body: site })
    const { faults } = await refusal(() => core.provisioning.reassign(actorOf(dana), { requestId, to: kim.id }))
    expect(faults).toMatchObject([{ pointer: '/to', code: 'asked-for-it' }])
  })

  it('is not recorded if it only comes too late', async () => {
    const { requestId } = await pendingRequest([{ user: dana.id }, { user: omar.id }])
    await core.provisioning.approve(actorOf(omar), { requestId })
    expect((await refusal(() => core.provisioning.approve(actorOf(dana), { requestId }))).code).toBe('already-decided')
    expect(await refused(requestId)).toEqual([])
  })
})
