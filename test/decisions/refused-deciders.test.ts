import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { actorOf, approversGroup, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

describe('whoever tries to decide and may not', () => {
  const core = withCore()
  const asked = async (approvers: object[]) => {
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

  it('stands in the chain, once an hour for the same, which proves; the request stays, and the timeline is silent', async () => {
    const { requestId } = await asked([{ user: dana.id }])
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

  it('also when they were an approver a second ago: left the group, or was asked no more', async () => {
    const group = core.world.groups.get(approversGroup) ?? []
    const left = await asked([{ group: approversGroup }])
    core.world.groups.set(approversGroup, [omar])
    await refusal(() => core.provisioning.approve(actorOf(dana), { requestId: left.requestId }))
    core.world.groups.set(approversGroup, group)
    expect(await refused(left.requestId)).toEqual([[dana.id, 'approve', 'not-an-approver']])
    const given = await asked([{ user: dana.id }])
    await core.provisioning.reassign(actorOf(dana), { requestId: given.requestId, to: omar.id, comment: 'Yours.' })
    const error = await refusal(() => core.provisioning.approve(actorOf(dana), { requestId: given.requestId }))
    expect(sentenceOf(error)).toBe(`${omar.displayName} decides this in your place now.`)
    expect(await refused(given.requestId)).toEqual([[dana.id, 'approve', 'not-an-approver']])
  })

  it('is nobody of ours, and is told by id; of a request that there is not, nothing', async () => {
    const { requestId } = await asked([{ user: dana.id }])
    const id = randomUUID()
    await core.provisioning.system.noteForbidden({ id, tenantId }, requestId, 'approve')
    await core.provisioning.system.noteForbidden({ id, tenantId }, randomUUID(), 'approve')
    const [line] = (await core.ports.audit.timeline(requestId)).filter(({ action }) => action === 'refused')
    expect(line).toMatchObject({ actor: { kind: 'system' }, data: { who: id, code: 'forbidden' }, tenantId })
  })

  it('is blocked since they were asked, whatever they are still signed in to', async () => {
    const { requestId } = await asked([{ user: dana.id }])
    core.world.people.set(dana.id, { ...dana, isBlocked: true })
    const { code } = await refusal(() => core.provisioning.actor({ tenantId, id: dana.id }))
    core.world.people.set(dana.id, dana)
    expect(code).toBe('forbidden')
    expect((await core.provisioning.readRequest(admin, { requestId })).status).toBe('pendingApproval')
  })

  it('asked for it: nobody gives them their part, also where the policy lets approvers decide their own', async () => {
    const { id: templateId } = await core.template({
      approval: { stages: [{ approvers: [{ user: dana.id }], selfApproval: true }] },
    })
    const site = { displayName: `Site ${randomUUID()}`, templateId }
    const { requestId } = await core.provisioning.submitSite(actorOf(kim), { body: site })
    const { faults } = await refusal(() => core.provisioning.reassign(actorOf(dana), { requestId, to: kim.id }))
    expect(faults).toMatchObject([{ pointer: '/to', code: 'asked-for-it' }])
  })

  it('too late is no such thing: who decided, and when, is answered and not written down', async () => {
    const { requestId } = await asked([{ user: dana.id }, { user: omar.id }])
    await core.provisioning.approve(actorOf(omar), { requestId })
    expect((await refusal(() => core.provisioning.approve(actorOf(dana), { requestId }))).code).toBe('already-decided')
    expect(await refused(requestId)).toEqual([])
  })
})
