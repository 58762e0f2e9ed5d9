import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { actorOf, dana, kim, omar, priya, stranger, withCore } from '../support/core.ts'
import { detailOf, refusal } from '../support/refusal.ts'

const of = (...people: { readonly id: string }[]) => people.map(({ id }) => ({ user: id }))

describe('a policy that requires different people', () => {
  const core = withCore()
  const approve = (who: typeof dana, requestId: string) => core.provisioning.approve(actorOf(who), { requestId })
  async function submit(stages: object[], more: object = {}): Promise<string> {
    const { id: templateId } = await core.template({ approval: { stages, differentPeople: true, ...more } })
    const body = { displayName: `Different ${templateId}`, templateId }
    return (await core.provisioning.submitSite(actorOf(kim), { body })).requestId
  }
  const read = (requestId: string) => core.provisioning.readRequest(actorOf(kim), { requestId })
  const cards = async (requestId: string) =>
    (await core.orders(requestId)).flatMap(({ name, payload }) =>
      name === 'notify' ? [`${payload['card']} ${payload['personId']}`] : [],
    )

  it('asks only the others in the second stage, and refuses the person who approved the first', async () => {
    const requestId = await submit([{ approvers: of(dana, omar) }, { approvers: of(dana, omar) }])
    await approve(dana, requestId)
    const { approvals } = await read(requestId)
    expect(approvals[1]).toMatchObject({ approvers: [{ id: omar.id }], excluded: [dana.id] })
    expect(await cards(requestId)).not.toContain(`approval:2 ${dana.id}`)
    const refused = await refusal(() => approve(dana, requestId))
    expect([refused.code, refused.reason.key]).toEqual(['not-an-approver', 'approvedEarlierStage'])
    expect((await approve(omar, requestId)).status).toBe('queued')
  })

  it('refuses a delegation, a reassignment and an override to the same person', async () => {
    const requestId = await submit([{ approvers: of(dana) }, { approvers: of(omar) }])
    await approve(dana, requestId)
    const until = new Date(Date.now() + 86_400_000).toISOString()
    await core.provisioning.beginDelegation(actorOf(omar), { to: dana.id, until })
    expect((await refusal(() => approve(dana, requestId))).reason.key).toBe('approvedEarlierStage')
    await core.provisioning.endDelegation(actorOf(omar))
    const reassigned = refusal(() => core.provisioning.reassign(actorOf(omar), { requestId, to: dana.id }))
    expect(detailOf((await reassigned).faults[0])).toBe('Dana Fox approved an earlier stage. Choose another person.')
    const order = { requestId, decision: 'approved', comment: 'Now.' } as const
    const overridden = refusal(() => core.provisioning.override(actorOf(dana, true), order))
    expect((await overridden).reason.key).toBe('approvedEarlierStage')
  })

  it('asks a stand-in at once if nobody else is left', async () => {
    const requestId = await submit([{ approvers: of(dana, omar) }, { approvers: of(dana), backup: of(stranger) }])
    await approve(dana, requestId)
    const timers = (await core.orders(requestId)).filter(({ name }) => name === 'tend-approval')
    const due = Math.min(...timers.slice(1).map(({ startAfter }) => startAfter?.getTime() ?? 0))
    expect(due).toBeLessThanOrEqual(Date.now())
    await core.provisioning.system.runApprovalTimers({ v: 1, requestId, stage: 2 })
    const { approvals } = await read(requestId)
    expect(approvals[1]?.standIns).toMatchObject([{ person: { id: stranger.id }, as: 'backup', insteadOf: [dana.id] }])
    expect((await approve(stranger, requestId)).status).toBe('queued')
  })

  it('counts the decision of a stand-in for the excluded person, and the other approver decides', async () => {
    const quorum = { approvers: of(dana, omar), rule: 'quorum', quorum: 2, backup: of(stranger) }
    const requestId = await submit([{ approvers: of(omar) }, quorum])
    await approve(omar, requestId)
    await core.provisioning.system.runApprovalTimers({ v: 1, requestId, stage: 2 })
    const { approvals } = await approve(stranger, requestId)
    expect(approvals[1]?.decisions).toMatchObject([{ by: { id: stranger.id }, insteadOf: [{ id: omar.id }] }])
    expect((await approve(dana, requestId)).status).toBe('queued')
  })

  it('needs enough different people, also for a rule that counts them', async () => {
    const save = (stages: object[]) => {
      const id = randomUUID()
      const approval = { stages, differentPeople: true }
      const body = { id, version: 1, kind: 'teamSite', name: 'Different people', approval }
      return core.provisioning.putTemplate(actorOf(priya, true), { id, body, expected: 0 })
    }
    const two = { approvers: of(dana, omar), rule: 'all' }
    for (const stages of [
      [{ approvers: of(dana) }, { approvers: of(dana) }],
      [two, { approvers: of(dana, omar) }],
      [{ approvers: of(dana, omar) }, { approvers: of(dana, omar) }, { approvers: of(omar, dana) }],
      [{ approvers: of(dana, omar, priya), rule: 'quorum', quorum: 2 }, two],
    ]) {
      const { faults } = await refusal(() => save(stages))
      expect(faults.map(({ pointer }) => pointer)).toEqual(['/approval/differentPeople'])
    }
    for (const stages of [
      [{ approvers: of(dana) }, { approvers: of(dana, omar) }],
      [two, { approvers: of(dana, omar, priya) }],
      [{ approvers: of(dana) }, { approvers: [{ manager: true }] }],
    ])
      expect(await save(stages)).toMatchObject({ approval: { differentPeople: true } })
  })
})
