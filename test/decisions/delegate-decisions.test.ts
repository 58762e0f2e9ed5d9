import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { realigned } from '../../src/core/approvals/stand-ins.ts'
import { opened } from '../../src/core/approvals/times.ts'
import {
  type ApprovalStage,
  type Delegation,
  decide,
  missing,
  type Person,
  representedBy,
  type StandIn,
  waitingFor,
} from '../../src/core/index.ts'
import { dana, kim, omar, priya, stageOf, tenantId } from '../support/card-world.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

const start = Date.parse('2026-11-02T08:00:00.000Z')
const hour = (hours: number): string => new Date(start + hours * 3_600_000).toISOString()
const settings = { reachMinutes: 10, remindAfterHours: 24, escalateAfterHours: 72, expireAfterDays: 14 }
const begun = (approvers: Person[], more: Partial<ApprovalStage> = {}): ApprovalStage =>
  opened(stageOf(1, approvers, more), null, settings, hour(0))
const standIn = (person: Person, insteadOf: Person[], more: Partial<StandIn> = {}): StandIn => ({
  ...{ person, insteadOf: insteadOf.map(({ id }) => id), why: 'escalated', as: 'manager', since: hour(72) },
  ...more,
})
const ids = (people: readonly Person[]) => people.map(({ id }) => id)

describe('the stand-in of an absent approver', () => {
  const away = (person: Person, delegate: Person, until = 100, more: Partial<Delegation> = {}): Delegation => ({
    ...{ delegationId: randomUUID(), tenantId, person, delegate, from: hour(-1), until: hour(until), endedAt: null },
    ...more,
  })
  const extra: Person = { id: randomUUID(), displayName: 'Ana Silva', userPrincipalName: 'ana@contoso.example' }
  const standing = (stage: ApprovalStage, delegations: Delegation[], at = hour(0)) =>
    (realigned(stage, delegations, kim.id, at).standIns ?? []).map(
      ({ person, insteadOf, until }) => [person.id, insteadOf, until] as const,
    )

  it('is the delegate until the delegation ends', () => {
    expect(standing(begun([dana]), [away(dana, omar)])).toEqual([[omar.id, [dana.id], hour(100)]])
    expect(standing(begun([dana]), [away(dana, omar)], hour(100))).toEqual([])
    expect(standing(begun([dana]), [away(dana, omar, 100, { endedAt: hour(1) })])).toEqual([])
  })

  it('is never the requester or their delegate, even if the policy lets the requester decide', () => {
    for (const more of [{}, { selfApproval: true }])
      expect(standing(begun([dana], more), [away(dana, kim), away(kim, omar)])).toEqual([])
  })

  it('is also the delegate’s delegate, until the first of both delegations ends', () => {
    const chain = [away(dana, omar, 50), away(omar, priya, 90)]
    expect(standing(begun([dana]), chain)).toEqual([
      [omar.id, [dana.id], hour(50)],
      [priya.id, [dana.id], hour(50)],
    ])
    expect(standing(begun([dana]), [...chain].reverse())).toHaveLength(2)
  })

  it('all: decides for two absent approvers, for each as long as delegated', () => {
    const stage = begun([dana, omar], { rule: 'all' })
    const aligned = realigned(stage, [away(dana, omar, 50), away(omar, priya, 90)], kim.id, hour(0))
    expect(ids(representedBy(aligned, omar.id, hour(1)))).toEqual([dana.id, omar.id])
    expect(ids(representedBy(aligned, priya.id, hour(49)))).toEqual([dana.id, omar.id])
    expect(ids(representedBy(aligned, priya.id, hour(50)))).toEqual([omar.id])
    const { stages, outcome } = decide([aligned], kim.id, { by: priya, decision: 'approved', at: hour(1) })
    expect([outcome, stages[0]?.decisions[0]?.insteadOf]).toEqual(['approved', [dana, omar]])
  })

  it('is never the approver themselves, even in a circle of delegates', () => {
    const circle = [away(dana, omar), away(omar, priya), away(priya, dana)]
    expect(standing(begun([dana]), circle).map(([id]) => id)).toEqual([omar.id, priya.id])
    const all = realigned(begun([dana, omar, priya], { rule: 'all' }), circle, kim.id, hour(0))
    for (const person of [dana, omar, priya]) expect(representedBy(all, person.id, hour(1))).toHaveLength(3)
  })

  it('is also the delegate of a stand-in', () => {
    const stage = begun([dana], { standIns: [standIn(omar, [dana])] })
    expect(standing(stage, [away(omar, extra)])).toContainEqual([extra.id, [dana.id], hour(100)])
  })

  it('stays the same object without a change, even with other stand-ins', () => {
    const first = realigned(begun([dana]), [away(dana, omar)], kim.id, hour(0))
    const delegations = [away(dana, omar, 100)]
    expect(realigned(first, delegations, kim.id, hour(0))).toBe(first)
    const later = { ...first, standIns: [...(first.standIns ?? []), standIn(priya, [dana])] }
    expect(realigned(later, delegations, kim.id, hour(0))).toBe(later)
    expect(realigned(later, [], kim.id, hour(0)).standIns).toEqual([standIn(priya, [dana])])
  })

  it('any, quorum: is never another approver of the stage', () => {
    expect(standing(begun([dana, omar]), [away(dana, omar)])).toEqual([])
    expect(standing(begun([dana, omar], { rule: 'quorum', quorum: 2 }), [away(dana, omar)])).toEqual([])
  })

  it('does not exist for an approver who has decided', () => {
    const decided = begun([dana, omar], {
      rule: 'all',
      decisions: [{ by: dana, decision: 'approved', at: hour(1) }],
    })
    expect(standing(decided, [away(dana, priya)])).toEqual([])
  })
})

describe('a decision on behalf of others', () => {
  const approve = (stage: ApprovalStage, by: Person, hours = 80, lapsed: string[] = []) =>
    decide([stage], kim.id, { by, decision: 'approved', at: hour(hours) }, lapsed)
  const only = (stages: ApprovalStage[]) => stages[0] ?? begun([dana])

  it('quorum: counts once, and the other represented approver can still decide', () => {
    const stage = begun([dana, omar], { rule: 'quorum', quorum: 2, standIns: [standIn(priya, [dana, omar])] })
    const first = approve(stage, priya)
    expect([first.outcome, only(first.stages).decisions[0]?.insteadOf]).toEqual(['waiting', [dana]])
    expect(ids(waitingFor(first.stages))).toEqual([omar.id])
    expect(missing(only(first.stages))).toBe(1)
    expect(approve(only(first.stages), omar).outcome).toBe('approved')
  })

  it('quorum: counts for an approver who cannot act before one who can', () => {
    const quorum = { rule: 'quorum' as const, quorum: 2, standIns: [standIn(priya, [dana, omar])] }
    for (const more of [
      { excluded: [omar.id] },
      { unreachable: [{ person: omar, why: 'NoChat', at: hour(1) }] },
      // An unreachable person can still come back. An excluded one cannot decide at all.
      { excluded: [omar.id], unreachable: [{ person: dana, why: 'NoChat', at: hour(1) }] },
    ]) {
      const first = approve(begun([dana, omar], { ...quorum, ...more }), priya)
      expect(only(first.stages).decisions[0]?.insteadOf).toEqual([omar])
      expect(approve(only(first.stages), dana).outcome).toBe('approved')
    }
  })

  it('quorum: is rejected from an approver who has decided for themselves', async () => {
    const stage = begun([dana, omar], { rule: 'quorum', quorum: 2, standIns: [standIn(dana, [omar])] })
    const { stages, outcome } = approve(stage, dana)
    expect([outcome, only(stages).decisions[0]?.insteadOf]).toEqual(['waiting', undefined])
    expect((await refusal(() => approve(only(stages), dana))).code).toBe('already-decided')
  })

  it('all: counts for each represented approver, and names the decider to them', async () => {
    const stage = begun([dana, omar], { rule: 'all', standIns: [standIn(priya, [dana])] })
    const { stages, outcome } = approve(stage, priya)
    expect(outcome).toBe('waiting')
    const { code, context } = await refusal(() => approve(only(stages), dana))
    expect([code, context?.['by']]).toEqual(['already-decided', priya.displayName])
    expect(approve(only(stages), omar).outcome).toBe('approved')
  })

  it('is rejected after the delegation ended, even before its job has run', async () => {
    const stage = begun([dana], { standIns: [standIn(omar, [dana], { why: 'delegated', until: hour(80) })] })
    expect(approve(stage, omar, 79).outcome).toBe('approved')
    expect(sentenceOf(await refusal(() => approve(stage, omar, 80)))).toContain('no longer the delegate')
  })

  it('does not count for people who are no longer approvers', async () => {
    const stage = begun([dana, omar], { rule: 'all', standIns: [standIn(priya, [dana, omar])] })
    expect(only(approve(stage, priya, 80, [dana.id]).stages).decisions[0]?.insteadOf).toEqual([omar])
    expect((await refusal(() => approve(stage, priya, 80, [dana.id, omar.id]))).code).toBe('not-an-approver')
  })
})
