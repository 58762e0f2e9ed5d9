import { describe, expect, it } from 'vitest'
import { dueOf, nextTimerRun, opened, outOfReach, reachBy, warned } from '../../src/core/approvals/times.ts'
import type { ApprovalPolicy, ApprovalStage, Person, StandIn } from '../../src/core/index.ts'
import { dana, kim, omar, priya, stageOf } from '../support/card-world.ts'

const start = Date.parse('2026-11-02T08:00:00.000Z')
const hour = (hours: number): string => new Date(start + hours * 3_600_000).toISOString()
const settings = { reachMinutes: 10, remindAfterHours: 24, escalateAfterHours: 72, expireAfterDays: 14 }
const begun = (approvers: Person[], more: Partial<ApprovalStage> = {}): ApprovalStage =>
  opened(stageOf(1, approvers, more), null, settings, hour(0))
const lost = (person: Person) => ({ person, why: 'NoChat', at: hour(1) })
const standIn = (person: Person, insteadOf: Person[], more: Partial<StandIn> = {}): StandIn => ({
  ...{ person, insteadOf: insteadOf.map(({ id }) => id), why: 'escalated', as: 'manager', since: hour(72) },
  ...more,
})
const ids = (people: readonly Person[]) => people.map(({ id }) => id)

describe('an open stage', () => {
  const policy = (more: object, all: object = {}): ApprovalPolicy => ({
    stages: [{ approvers: [{ user: dana.id }], rule: 'any', ...more }],
    ...all,
  })
  const timesBy = (policy: ApprovalPolicy | null, more = settings) =>
    opened(stageOf(1, [dana], { place: 1 }), policy, more, hour(0)).times

  it('takes its times from its policy, else from the settings', () => {
    expect(timesBy(null)).toEqual({
      ...{ reachBy: hour(1 / 6), remindAt: hour(24), escalateAt: hour(72) },
      ...{ warnAt: hour(12 * 24), expiresAt: hour(14 * 24) },
    })
    expect(timesBy(policy({ remindAfterHours: 1, escalateAfterHours: 2 }, { expiresAfterDays: 5 }))).toMatchObject({
      ...{ remindAt: hour(1), escalateAt: hour(2), warnAt: hour(4 * 24), expiresAt: hour(5 * 24) },
    })
  })

  it.each([
    ['with the setting 0', policy({ remindAfterHours: 0, escalateAfterHours: 0 })],
    ['if they would come after the expiry', policy({}, { expiresAfterDays: 1 })],
  ])('has no reminder or escalation %s', (_, approval) => {
    const times = timesBy(approval)
    expect(times?.remindAt).toBeUndefined()
    expect(times?.escalateAt).toBeUndefined()
  })

  it('runs its timers whenever one may be due, also for people added later', () => {
    const stage = begun([dana], { standIns: [standIn(omar, [dana], { since: hour(30) })] })
    const runs: string[] = []
    for (let at: string | undefined = hour(0); at; at = nextTimerRun(stage, at)) runs.push(at)
    expect(runs).toEqual([0, 1 / 6, 24, 30 + 1 / 6, 72, 12 * 24, 14 * 24].map(hour))
    expect(reachBy(stage, omar.id)).toBe(hour(30 + 1 / 6))
    const handedOn = begun([dana], {
      reassigned: [{ from: [omar], to: dana, by: priya, at: hour(5) }],
    })
    expect(reachBy(handedOn, dana.id)).toBe(hour(5 + 1 / 6))
    expect(nextTimerRun(stageOf(1, [dana]), hour(0)), 'a stage of an earlier version, without times').toBeUndefined()
  })
})

describe('the due timers of a stage', () => {
  const by = (stage: ApprovalStage, at: string) =>
    Object.entries(dueOf(stage, at)).flatMap(([what, isDue]) => (isDue ? [what] : []))
  const reminded = { reminders: [{ at: hour(24), by: null }] }

  it.each<[string, number, Partial<ApprovalStage>, string[]]>([
    ['none before the first time', 23.99, {}, []],
    ['a reminder, exactly at its time', 24, {}, ['remind']],
    ['no second reminder', 25, reminded, []],
    ['a reminder, even after a nudge by a person', 25, { reminders: [{ at: hour(2), by: kim }] }, ['remind']],
    ['an escalation, even without a reminder', 72, {}, ['escalate']],
    ['no second escalation', 73, { ...reminded, escalatedAt: hour(72) }, []],
    ['no missed reminder after an escalation', 73, { escalatedAt: hour(72) }, []],
    ['a warning', 12 * 24, { escalatedAt: hour(72) }, ['warn']],
    ['no second warning', 13 * 24, { escalatedAt: hour(72), warnedAt: hour(12 * 24) }, []],
    ['the expiry', 14 * 24, { escalatedAt: hour(72), warnedAt: hour(12 * 24) }, ['expire']],
    ['only the expiry, even after missed timers', 15 * 24, { warnedAt: hour(12 * 24) }, ['expire']],
    ['a warning before the expiry, even if the service was stopped for days', 40 * 24, {}, ['warn', 'escalate']],
  ])('%s', (_, hours, more, expected) => {
    expect(by({ ...begun([dana]), ...more }, hour(hours))).toEqual(expected)
  })

  it('do not exist without times', () => {
    expect(by(stageOf(1, [dana]), hour(1000))).toEqual([])
  })

  it('move the expiry after a late warning, not after a punctual one', () => {
    expect(warned(begun([dana]), hour(12 * 24 + 1)).times?.expiresAt).toBe(hour(14 * 24))
    expect(warned(begun([dana]), hour(13 * 24 + 1)).times?.expiresAt).toBe(hour(15 * 24 + 1))
    const late = warned(begun([dana]), hour(40 * 24))
    expect([late.warnedAt, late.times?.expiresAt]).toEqual([hour(40 * 24), hour(42 * 24)])
  })
})

describe('approvers who need a stand-in', () => {
  const quorum = { rule: 'quorum', quorum: 2 } as const
  const silent = { escalatedAt: hour(72) }
  it.each<[string, ApprovalStage, Person[]]>([
    ['nobody while all are reachable', begun([dana, omar]), []],
    ['any: nobody while one is reachable', begun([dana, omar], { unreachable: [lost(dana)] }), []],
    ['any: all if all are unreachable', begun([dana, omar], { unreachable: [lost(dana), lost(omar)] }), [dana, omar]],
    ['all: each unreachable approver', begun([dana, omar], { rule: 'all', unreachable: [lost(dana)] }), [dana]],
    [
      'quorum: nobody while enough are reachable',
      begun([dana, omar, priya], { ...quorum, unreachable: [lost(dana)] }),
      [],
    ],
    [
      'quorum: the unreachable ones, if the others are too few',
      begun([dana, omar], { ...quorum, unreachable: [lost(dana)] }),
      [dana],
    ],
    [
      'not an approver with a reachable stand-in',
      begun([dana], { unreachable: [lost(dana)], standIns: [standIn(omar, [dana])] }),
      [],
    ],
    [
      'an approver whose stand-in is unreachable too',
      begun([dana], { unreachable: [lost(dana), lost(omar)], standIns: [standIn(omar, [dana])] }),
      [dana],
    ],
    [
      'a silent approver with an unreachable stand-in',
      begun([dana], { ...silent, unreachable: [lost(omar)], standIns: [standIn(omar, [dana])] }),
      [dana],
    ],
    [
      'not a person who became an approver after the escalation',
      begun([dana], { ...silent, reassigned: [{ from: [omar], to: dana, by: priya, at: hour(80) }] }),
      [],
    ],
    [
      'quorum: both approvers of one stand-in, who counts once',
      begun([dana, omar], { ...quorum, ...silent, standIns: [standIn(priya, [dana, omar])] }),
      [dana, omar],
    ],
  ])('%s', (_, stage, expected) => {
    expect(ids(outOfReach(stage))).toEqual(ids(expected))
  })
})
