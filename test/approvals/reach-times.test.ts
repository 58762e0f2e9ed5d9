import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ApprovalStage } from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, priya, withCore } from '../support/core.ts'

describe('whoever is asked after a stage’s turn came', () => {
  const core = withCore()
  const ask = async () => {
    const { id } = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }
  /** When the looks are that were ordered. */
  const looks = async (requestId: string) =>
    (await core.orders(requestId)).flatMap(({ name, startAfter }) =>
      name === 'tend-approval' ? [startAfter?.getTime() ?? 0] : [],
    )
  const patience = ({ openedAt = '', times }: ApprovalStage) => Date.parse(times?.reachBy ?? '') - Date.parse(openedAt)
  const unreachable = async (requestId: string) =>
    (await core.ports.requests.find(requestId))?.approvals[0]?.unreachable?.map(({ person }) => person.id) ?? []
  /** The core as it is at another time, looking after the first stage. */
  const lookAt = (requestId: string, at: number) =>
    core.with({ clock: { now: () => new Date(at) } }).system.runApprovalTimers({ v: 1, requestId, stage: 1 })

  it('instead of another has as long to get a chat as the first ones had, and is looked after then', async () => {
    const { requestId, approvals } = await ask()
    const [stage] = approvals
    if (!stage) throw new Error('a request without a stage')
    const later = Date.parse(stage.times?.reachBy ?? '') - 60_000
    await core
      .with({ clock: { now: () => new Date(later) } })
      .reassign(actorOf(priya, true), { requestId, to: omar.id, comment: 'Dana is busy.' })
    const due = later + patience(stage)
    await lookAt(requestId, Date.parse(stage.times?.reachBy ?? ''))
    expect(await looks(requestId)).toContain(due)
    await lookAt(requestId, due - 1)
    expect(await unreachable(requestId)).toEqual([])
    await lookAt(requestId, due)
    expect(await unreachable(requestId)).toEqual([omar.id])
  })

  it('as a delegate, too; but for those who were asked at first the time is over', async () => {
    const { requestId, approvals } = await ask()
    const [stage] = approvals
    if (!stage) throw new Error('a request without a stage')
    const later = Date.parse(stage.times?.reachBy ?? '') - 60_000
    const then = core.with({ clock: { now: () => new Date(later) } })
    const until = new Date(later + 86_400_000).toISOString()
    await then.beginDelegation(actorOf(dana), { to: omar.id, until })
    await then.system.realignApprovals({ tenantId: actorOf(dana).tenantId, personId: dana.id })
    const due = later + patience(stage)
    await lookAt(requestId, Date.parse(stage.times?.reachBy ?? ''))
    expect(await looks(requestId)).toContain(due)
    await lookAt(requestId, due - 1)
    expect(await unreachable(requestId)).toEqual([dana.id])
    await lookAt(requestId, due)
    expect(await unreachable(requestId)).toEqual([dana.id, omar.id])
  })
})
