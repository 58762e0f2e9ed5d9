import { describe, expect, it } from 'vitest'
import { dueOf, nextLook, opened, outOfReach, reachBy, warned } from '../../src/core/approvals/times.ts'
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

describe('a stage whose turn has come', () => {
  const policy = (more: object, all: object = {}): ApprovalPolicy => ({
    stages: [{ approvers: [{ user: dana.id }], rule: 'any', ...more }],
    ...all,
  })
  const timesBy = (given: ApprovalPolicy | null, more = settings) =>
    opened(stageOf(1, [dana], { place: 1 }), given, more, hour(0)).times

  it('has its times by the settings, or by its policy', () => {
    expect(timesBy(null)).toEqual({
      ...{ reachBy: hour(1 / 6), remindAt: hour(24), escalateAt: hour(72) },
      ...{ warnAt: hour(12 * 24), expiresAt: hour(14 * 24) },
    })
    expect(timesBy(policy({ remindAfterHours: 1, escalateAfterHours: 2 }, { expiresAfterDays: 5 }))).toMatchObject({
      ...{ remindAt: hour(1), escalateAt: hour(2), warnAt: hour(4 * 24), expiresAt: hour(5 * 24) },
    })
  })

  it.each([
    ['0 is never', policy({ remindAfterHours: 0, escalateAfterHours: 0 })],
    ['nor is what would come after the end', policy({}, { expiresAfterDays: 1 })],
  ])('%s', (_, given) => {
    const times = timesBy(given)
    expect(times?.remindAt).toBeUndefined()
    expect(times?.escalateAt).toBeUndefined()
  })

  it('is looked at whenever something may be due, also of those who are asked later', () => {
    const stage = begun([dana], { standIns: [standIn(omar, [dana], { since: hour(30) })] })
    const looks: string[] = []
    for (let at: string | undefined = hour(0); at; at = nextLook(stage, at)) looks.push(at)
    expect(looks).toEqual([0, 1 / 6, 24, 30 + 1 / 6, 72, 12 * 24, 14 * 24].map(hour))
    expect(reachBy(stage, omar.id)).toBe(hour(30 + 1 / 6))
    const given = begun([dana], {
      reassigned: [{ from: [omar], to: dana, by: priya, at: hour(5) }],
    })
    expect(reachBy(given, dana.id)).toBe(hour(5 + 1 / 6))
    expect(nextLook(stageOf(1, [dana]), hour(0)), 'of before there were times').toBeUndefined()
  })
})

describe('what is due of a stage', () => {
  const by = (stage: ApprovalStage, at: string) =>
    Object.entries(dueOf(stage, at)).flatMap(([what, isDue]) => (isDue ? [what] : []))
  const reminded = { reminders: [{ at: hour(24), by: null }] }

  it.each<[string, number, Partial<ApprovalStage>, string[]]>([
    ['nothing before its time', 23.99, {}, []],
    ['a reminder, at its very moment', 24, {}, ['remind']],
    ['no second one', 25, reminded, []],
    ['one also after a nudge, which is somebody else’s', 25, { reminders: [{ at: hour(2), by: kim }] }, ['remind']],
    ['others are asked, reminded or not', 72, {}, ['escalate']],
    ['once', 73, { ...reminded, escalatedAt: hour(72) }, []],
    ['no reminder that was missed after that', 73, { escalatedAt: hour(72) }, []],
    ['a warning', 12 * 24, { escalatedAt: hour(72) }, ['warn']],
    ['once', 13 * 24, { escalatedAt: hour(72), warnedAt: hour(12 * 24) }, []],
    ['the end', 14 * 24, { escalatedAt: hour(72), warnedAt: hour(12 * 24) }, ['expire']],
    ['the end alone, whatever else was not done', 15 * 24, { warnedAt: hour(12 * 24) }, ['expire']],
    ['after days of standstill: nothing ends unwarned', 40 * 24, {}, ['warn', 'escalate']],
  ])('%s', (_, hours, more, expected) => {
    expect(by({ ...begun([dana]), ...more }, hour(hours))).toEqual(expected)
  })

  it('of one without times is nothing', () => {
    expect(by(stageOf(1, [dana]), hour(1000))).toEqual([])
  })

  it('a late warning puts the end off, a punctual one does not', () => {
    expect(warned(begun([dana]), hour(12 * 24 + 1)).times?.expiresAt).toBe(hour(14 * 24))
    expect(warned(begun([dana]), hour(13 * 24 + 1)).times?.expiresAt).toBe(hour(15 * 24 + 1))
    const late = warned(begun([dana]), hour(40 * 24))
    expect([late.warnedAt, late.times?.expiresAt]).toEqual([hour(40 * 24), hour(42 * 24)])
  })
})

describe('for whom somebody else has to be asked', () => {
  const quorum = { rule: 'quorum', quorum: 2 } as const
  const silent = { escalatedAt: hour(72) }
  it.each<[string, ApprovalStage, Person[]]>([
    ['nobody while all can be told', begun([dana, omar]), []],
    ['any: nobody while one can be told', begun([dana, omar], { unreachable: [lost(dana)] }), []],
    ['any: all when none can', begun([dana, omar], { unreachable: [lost(dana), lost(omar)] }), [dana, omar]],
    ['all: whoever cannot', begun([dana, omar], { rule: 'all', unreachable: [lost(dana)] }), [dana]],
    ['quorum: nobody while enough can', begun([dana, omar, priya], { ...quorum, unreachable: [lost(dana)] }), []],
    [
      'quorum: who cannot, when the others are too few',
      begun([dana, omar], { ...quorum, unreachable: [lost(dana)] }),
      [dana],
    ],
    [
      'nobody for whom a stand-in can be told',
      begun([dana], { unreachable: [lost(dana)], standIns: [standIn(omar, [dana])] }),
      [],
    ],
    [
      'again when the stand-in cannot either',
      begun([dana], { unreachable: [lost(dana), lost(omar)], standIns: [standIn(omar, [dana])] }),
      [dana],
    ],
    [
      'whoever let their time pass and whose stand-in cannot be told',
      begun([dana], { ...silent, unreachable: [lost(omar)], standIns: [standIn(omar, [dana])] }),
      [dana],
    ],
    [
      'not whoever was asked since',
      begun([dana], { ...silent, reassigned: [{ from: [omar], to: dana, by: priya, at: hour(80) }] }),
      [],
    ],
    [
      'quorum: one stand-in for two is one head, so another is looked for',
      begun([dana, omar], { ...quorum, ...silent, standIns: [standIn(priya, [dana, omar])] }),
      [dana, omar],
    ],
  ])('%s', (_, stage, expected) => {
    expect(ids(outOfReach(stage))).toEqual(ids(expected))
  })
})
