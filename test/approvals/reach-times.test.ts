import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ApprovalStage } from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, priya, withCore } from '../support/core.ts'

describe('a person who becomes an approver after the stage opened', () => {
  const core = withCore()
  const ask = async () => {
    const { id } = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }
  /** The times of the ordered timer runs. */
  const timerRuns = async (requestId: string) =>
    (await core.orders(requestId)).flatMap(({ name, startAfter }) =>
      name === 'tend-approval' ? [startAfter?.getTime() ?? 0] : [],
    )
  const patience = ({ openedAt = '', times }: ApprovalStage) => Date.parse(times?.reachBy ?? '') - Date.parse(openedAt)
  const unreachable = async (requestId: string) =>
    (await core.ports.requests.find(requestId))?.approvals[0]?.unreachable?.map(({ person }) => person.id) ?? []
  /** Runs the timers of the first stage at another time. */
  const runTimersAt = (requestId: string, at: number) =>
    core.with({ clock: { now: () => new Date(at) } }).system.runApprovalTimers({ v: 1, requestId, stage: 1 })

  it('by a reassignment gets the full time to open a chat, and a timer run at its end', async () => {
    const { requestId, approvals } = await ask()
    const [stage] = approvals
    if (!stage) throw new Error('a request without a stage')
    const later = Date.parse(stage.times?.reachBy ?? '') - 60_000
    await core
      .with({ clock: { now: () => new Date(later) } })
      .reassign(actorOf(priya, true), { requestId, to: omar.id, comment: 'Dana is busy.' })
    const due = later + patience(stage)
    await runTimersAt(requestId, Date.parse(stage.times?.reachBy ?? ''))
    expect(await timerRuns(requestId)).toContain(due)
    await runTimersAt(requestId, due - 1)
    expect(await unreachable(requestId)).toEqual([])
    await runTimersAt(requestId, due)
    expect(await unreachable(requestId)).toEqual([omar.id])
  })

  it('as a delegate gets the full time too, but not the approver who delegates', async () => {
    const { requestId, approvals } = await ask()
    const [stage] = approvals
    if (!stage) throw new Error('a request without a stage')
    const later = Date.parse(stage.times?.reachBy ?? '') - 60_000
    const then = core.with({ clock: { now: () => new Date(later) } })
    const until = new Date(later + 86_400_000).toISOString()
    await then.beginDelegation(actorOf(dana), { to: omar.id, until })
    await then.system.realignApprovals({ tenantId: actorOf(dana).tenantId, personId: dana.id })
    const due = later + patience(stage)
    await runTimersAt(requestId, Date.parse(stage.times?.reachBy ?? ''))
    expect(await timerRuns(requestId)).toContain(due)
    await runTimersAt(requestId, due - 1)
    expect(await unreachable(requestId)).toEqual([dana.id])
    await runTimersAt(requestId, due)
    expect(await unreachable(requestId)).toEqual([dana.id, omar.id])
  })
})
