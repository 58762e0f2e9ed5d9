import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { viewOf } from '../../src/core/index.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

describe('an approver by membership in a group', () => {
  const core = withCore()
  const group = core.world.groups
  const pendingRequest = async (...approvers: object[]) => {
    const { id } = await core.template({ approval: { stages: [{ approvers }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }
  const left = async (work: () => Promise<void>) => {
    const members = group.get(approversGroup) ?? []
    group.set(
      approversGroup,
      members.filter(({ id }) => id !== dana.id),
    )
    try {
      await work()
    } finally {
      group.set(approversGroup, members)
    }
  }

  it('decides as a member', async () => {
    const { requestId } = await pendingRequest({ group: approversGroup })
    expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('queued')
  })

  it('is rejected without any change after leaving the group, and the others can decide', async () => {
    const { requestId } = await pendingRequest({ group: approversGroup })
    await left(async () => {
      const before = await core.rows()
      for (const verb of ['approve', 'reject'] as const) {
        const error = await refusal(() => core.provisioning[verb](actorOf(dana), { requestId, comment: 'Mine.' }))
        expect([error.code, sentenceOf(error)]).toEqual([
          'not-an-approver',
          'You are no longer an approver of this request.',
        ])
      }
      expect(await core.rows()).toEqual(before)
      expect((await core.provisioning.approve(actorOf(omar), { requestId })).status).toBe('queued')
    })
  })

  it('cannot reassign their part after leaving the group', async () => {
    const { requestId } = await pendingRequest({ group: approversGroup })
    await left(async () => {
      const { code } = await refusal(() => core.provisioning.reassign(actorOf(dana), { requestId, to: priya.id }))
      expect(code).toBe('not-an-approver')
      expect((await refusal(() => core.provisioning.approve(actorOf(priya), { requestId }))).code).toBe('not-found')
    })
    const { approvals } = await core.provisioning.reassign(actorOf(dana), { requestId, to: priya.id })
    expect(approvals[0]?.approvers.map(({ id }) => id)).toContain(priya.id)
  })

  it('is represented by their manager after an escalation, even after leaving the group', async () => {
    const only = randomUUID()
    group.set(only, [dana])
    core.world.managers.set(dana.id, omar)
    const { requestId } = await pendingRequest({ group: only })
    const later = new Date(Date.now() + 80 * 3_600_000)
    const provisioning = core.with({ clock: { now: () => later } })
    await provisioning.system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    group.set(only, [])
    expect((await refusal(() => provisioning.approve(actorOf(dana), { requestId }))).code).toBe('not-an-approver')
    expect((await provisioning.approve(actorOf(omar), { requestId })).status).toBe('queued')
  })

  it('loses their delegate when blocked or deleted', async () => {
    const { requestId } = await pendingRequest({ user: dana.id })
    const until = new Date(Date.now() + 86_400_000).toISOString()
    await core.provisioning.beginDelegation(actorOf(dana), { to: omar.id, until })
    const decides = () => core.provisioning.approve(actorOf(omar), { requestId })
    try {
      core.world.people.set(dana.id, { ...dana, isBlocked: true })
      expect((await refusal(decides)).code).toBe('not-an-approver')
      core.world.people.delete(dana.id)
      expect((await refusal(decides)).code).toBe('not-an-approver')
    } finally {
      core.world.people.set(dana.id, dana)
    }
    expect((await decides()).status).toBe('queued')
    await core.provisioning.endDelegation(actorOf(dana))
  })

  it('still decides if the policy also names the person or another of their groups', async () => {
    const other = randomUUID()
    group.set(other, [dana])
    const named = await pendingRequest({ group: approversGroup }, { user: dana.id })
    const twice = await pendingRequest({ group: approversGroup }, { group: other })
    await left(async () => {
      for (const { requestId } of [named, twice])
        expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('queued')
    })
    group.delete(other)
  })

  it('is rejected as a former admin in a stage of admins', async () => {
    const admins = randomUUID()
    group.set(admins, [omar])
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: kim.id }] }] } })
    const provisioning = core.with({}, { admins: [admins, priya.id] })
    const { requestId, approvals } = await provisioning.submitSite(actorOf(kim), {
      body: { displayName: 'Late', templateId },
    })
    expect(approvals[0]?.approvers.map(({ id }) => id)).toEqual([omar.id, priya.id])
    group.delete(admins)
    expect((await refusal(() => provisioning.approve(actorOf(omar), { requestId }))).code).toBe('not-an-approver')
    expect((await provisioning.approve(actorOf(priya), { requestId })).status).toBe('queued')
  })

  it('cannot decide while the directory does not answer', async () => {
    const { requestId } = await pendingRequest({ group: approversGroup })
    core.world.up = false
    expect((await refusal(() => core.provisioning.approve(actorOf(dana), { requestId }))).code).toBe('unavailable')
    core.world.up = true
    expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('queued')
  })

  it('appears in the API without the groups', async () => {
    const request = await pendingRequest({ group: approversGroup })
    expect(request.approvals[0]?.membership?.groups).toEqual([approversGroup])
    expect(JSON.stringify(viewOf(request))).not.toContain(approversGroup)
  })
})
