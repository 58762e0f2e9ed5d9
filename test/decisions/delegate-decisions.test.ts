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
  type StandIn,
  voicesOf,
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

describe('who decides for whoever is away', () => {
  const away = (person: Person, delegate: Person, until = 100, more: Partial<Delegation> = {}): Delegation => ({
    ...{ delegationId: randomUUID(), tenantId, person, delegate, from: hour(-1), until: hour(until), endedAt: null },
    ...more,
  })
  const extra: Person = { id: randomUUID(), displayName: 'Ana Silva', userPrincipalName: 'ana@contoso.example' }
  const standing = (stage: ApprovalStage, delegations: Delegation[], at = hour(0)) =>
    (realigned(stage, delegations, kim.id, at).standIns ?? []).map(
      ({ person, insteadOf, until }) => [person.id, insteadOf, until] as const,
    )

  it('the delegate, until the delegation ends', () => {
    expect(standing(begun([dana]), [away(dana, omar)])).toEqual([[omar.id, [dana.id], hour(100)]])
    expect(standing(begun([dana]), [away(dana, omar)], hour(100))).toEqual([])
    expect(standing(begun([dana]), [away(dana, omar, 100, { endedAt: hour(1) })])).toEqual([])
  })

  it('never whoever asks, also where the policy lets them decide, and nobody through them', () => {
    for (const more of [{}, { selfApproval: true }])
      expect(standing(begun([dana], more), [away(dana, kim), away(kim, omar)])).toEqual([])
  })

  it('a delegate’s delegate, for as long as the shortest of them', () => {
    const chain = [away(dana, omar, 50), away(omar, priya, 90)]
    expect(standing(begun([dana]), chain)).toEqual([
      [omar.id, [dana.id], hour(50)],
      [priya.id, [dana.id], hour(50)],
    ])
    expect(standing(begun([dana]), [...chain].reverse())).toHaveLength(2)
  })

  it('all: a delegate of two, themselves an approver or not, has both voices each for its time', () => {
    const stage = begun([dana, omar], { rule: 'all' })
    const made = realigned(stage, [away(dana, omar, 50), away(omar, priya, 90)], kim.id, hour(0))
    expect(ids(voicesOf(made, omar.id, hour(1)))).toEqual([dana.id, omar.id])
    expect(ids(voicesOf(made, priya.id, hour(49)))).toEqual([dana.id, omar.id])
    expect(ids(voicesOf(made, priya.id, hour(50)))).toEqual([omar.id])
    const { stages, outcome } = decide([made], kim.id, { by: priya, decision: 'approved', at: hour(1) })
    expect([outcome, stages[0]?.decisions[0]?.insteadOf]).toEqual(['approved', [dana, omar]])
  })

  it('a circle ends, and makes nobody a delegate of themselves', () => {
    const circle = [away(dana, omar), away(omar, priya), away(priya, dana)]
    expect(standing(begun([dana]), circle).map(([id]) => id)).toEqual([omar.id, priya.id])
    const all = realigned(begun([dana, omar, priya], { rule: 'all' }), circle, kim.id, hour(0))
    for (const person of [dana, omar, priya]) expect(voicesOf(all, person.id, hour(1))).toHaveLength(3)
  })

  it('whoever stood in for somebody hands that on too', () => {
    const stage = begun([dana], { standIns: [standIn(omar, [dana])] })
    expect(standing(stage, [away(omar, extra)])).toContainEqual([extra.id, [dana.id], hour(100)])
  })

  it('the same is the same, whatever was asked between', () => {
    const first = realigned(begun([dana]), [away(dana, omar)], kim.id, hour(0))
    const delegations = [away(dana, omar, 100)]
    expect(realigned(first, delegations, kim.id, hour(0))).toBe(first)
    const later = { ...first, standIns: [...(first.standIns ?? []), standIn(priya, [dana])] }
    expect(realigned(later, delegations, kim.id, hour(0))).toBe(later)
    expect(realigned(later, [], kim.id, hour(0)).standIns).toEqual([standIn(priya, [dana])])
  })

  it('any, quorum: not another approver, whose own word is enough', () => {
    expect(standing(begun([dana, omar]), [away(dana, omar)])).toEqual([])
    expect(standing(begun([dana, omar], { rule: 'quorum', quorum: 2 }), [away(dana, omar)])).toEqual([])
  })

  it('nobody for what is decided', () => {
    const decided = begun([dana, omar], {
      rule: 'all',
      decisions: [{ by: dana, decision: 'approved', at: hour(1) }],
    })
    expect(standing(decided, [away(dana, priya)])).toEqual([])
  })
})

describe('a decision in the place of others', () => {
  const approve = (stage: ApprovalStage, by: Person, hours = 80, lapsed: string[] = []) =>
    decide([stage], kim.id, { by, decision: 'approved', at: hour(hours) }, lapsed)
  const only = (stages: ApprovalStage[]) => stages[0] ?? begun([dana])

  it('quorum: one head is one voice, and whoever else they stand in for still decides', () => {
    const stage = begun([dana, omar], { rule: 'quorum', quorum: 2, standIns: [standIn(priya, [dana, omar])] })
    const first = approve(stage, priya)
    expect([first.outcome, only(first.stages).decisions[0]?.insteadOf]).toEqual(['waiting', [dana]])
    expect(ids(waitingFor(first.stages))).toEqual([omar.id])
    expect(missing(only(first.stages))).toBe(1)
    expect(approve(only(first.stages), omar).outcome).toBe('approved')
  })

  it('quorum: nobody twice, nor an approver again for another', async () => {
    const stage = begun([dana, omar], { rule: 'quorum', quorum: 2, standIns: [standIn(dana, [omar])] })
    const { stages, outcome } = approve(stage, dana)
    expect([outcome, only(stages).decisions[0]?.insteadOf]).toEqual(['waiting', undefined])
    expect((await refusal(() => approve(only(stages), dana))).code).toBe('already-decided')
  })

  it('all: it counts for each of them, and they are told who decided', async () => {
    const stage = begun([dana, omar], { rule: 'all', standIns: [standIn(priya, [dana])] })
    const { stages, outcome } = approve(stage, priya)
    expect(outcome).toBe('waiting')
    const { code, context } = await refusal(() => approve(only(stages), dana))
    expect([code, context?.['by']]).toEqual(['already-decided', priya.displayName])
    expect(approve(only(stages), omar).outcome).toBe('approved')
  })

  it('not after the delegation ended, before any job said so', async () => {
    const stage = begun([dana], { standIns: [standIn(omar, [dana], { why: 'delegated', until: hour(80) })] })
    expect(approve(stage, omar, 79).outcome).toBe('approved')
    expect(sentenceOf(await refusal(() => approve(stage, omar, 80)))).toContain('decides again')
  })

  it('not for whoever is an approver no more', async () => {
    const stage = begun([dana, omar], { rule: 'all', standIns: [standIn(priya, [dana, omar])] })
    expect(only(approve(stage, priya, 80, [dana.id]).stages).decisions[0]?.insteadOf).toEqual([omar])
    expect((await refusal(() => approve(stage, priya, 80, [dana.id, omar.id]))).code).toBe('not-an-approver')
  })
})
