import { describe, expect, it } from 'vitest'
import { courses } from '../laboratory/course.ts'
import type { CardKind, HistoryEvent } from '../laboratory/history.ts'
import { planRequests, runSettings, standIns } from '../laboratory/plan.ts'
import { dana, found, good, history, kim, omar, second, withTimeline, work } from '../support/good-history.ts'

const [max, mei] = ['max', 'mei']
/** The people who are asked if nobody decides at first: reminder after 4 s, escalation after 8 s, expiry after 20 s. */
const asks = {
  ...{ approvers: [dana, omar], delegates: [max], backups: [mei], course: 'expires' as const },
  times: { remind: 4, escalate: 8, expire: 20 },
}
const at = (seconds: number, action: string, by = 'system') => ({ at: second(10 + seconds), action, by })
const expiring = [at(0, 'pendingApproval'), at(4, 'reminded'), at(8, 'escalated'), at(16, 'warned'), at(20, 'expired')]
const card = (seconds: number, kind: CardKind, chat: string) =>
  ({ event: 'card', at: second(10 + seconds), n: 1, card: kind, chat }) as const

/** A site without a decision: its people were reminded, a backup was asked, all were warned, and it expired. */
const undecided = {
  ...{ decided: null, late: null, followUp: null, group: null, security: null, site: null, question: null },
  submitted: { ...good.submitted, at: second(9), asks },
  webhook: { ...good.webhook, at: second(31), type: 'request.expired' },
  end: { ...good.end, status: 'expired', timeline: expiring, decisions: [] },
} satisfies Parameters<typeof history>[0]
const asking: HistoryEvent[] = [
  ...[card(1, 'question', dana), card(1, 'question', omar), card(1, 'question', max), card(9, 'question', mei)],
  ...[card(4, 'reminder', dana), card(4, 'reminder', omar), card(4, 'reminder', max)],
  ...[card(16, 'lastCall', dana), card(16, 'lastCall', omar), card(16, 'lastCall', max), card(16, 'lastCall', mei)],
]
const ending: HistoryEvent[] = [card(16, 'warning', kim), card(21, 'expired', kim)]
const expired = (...more: HistoryEvent[]) => history(undecided, ...asking, ...ending, ...more)
const expiredAs = (change: Partial<Extract<HistoryEvent, { event: 'end' }>>) =>
  history({ ...undecided, end: { ...undecided.end, ...change } }, ...asking, ...ending)

/** The complete site, decided by a delegate or backup. */
const standInTimes = { ...asks, course: 'standIn' as const, times: { ...asks.times, expire: 86_400 } }
const decidedBy = (by: string, insteadOf: string[] | undefined, ...before: string[]) => {
  const decision = { by, verdict: 'approved' as const, ...(insteadOf && { insteadOf }) }
  const lines = ['pendingApproval', ...before, 'approved', 'queued', ...work, 'announced']
  const timeline = lines.map((action, index) => at(action === 'pendingApproval' ? 0 : 9 + index, action))
  return history({
    submitted: { ...good.submitted, at: second(9), asks: standInTimes },
    decided: { ...good.decided, at: second(25), by },
    end: { ...good.end, timeline, decisions: [decision] },
  })
}

describe('the history checker for approvals that are not decided at first', () => {
  it('accepts a request that expired and whose people were all notified', () => {
    expect(found(expired())).toEqual([])
  })

  it('accepts a missing escalation only if one outage covers it and the expiry, or the expiry follows at once', () => {
    const lines = [at(0, 'pendingApproval'), at(4, 'reminded'), at(9.6, 'warned'), at(13, 'expired')]
    const killedAt = (seconds: number, expire = 12) => {
      const race = { ...asks, course: 'race' as const, times: { remind: 4, escalate: 8, expire } }
      return found(
        history(
          {
            ...{ ...undecided, submitted: { ...undecided.submitted, asks: race } },
            end: { ...undecided.end, timeline: lines },
          },
          ...asking.filter((one) => !('chat' in one && one.chat === mei)),
          ...ending,
          { event: 'up', at: second(8), replica: 0 },
          { event: 'killed', at: second(10 + seconds), replica: 0 },
          { event: 'up', at: second(22.5), replica: 0 },
        ),
      ).filter((what) => what.includes('escalated'))
    }
    expect(killedAt(8.8)).toEqual([])
    expect(killedAt(10.5)).toEqual([expect.stringContaining('expired and was never escalated')])
    expect(killedAt(10.5, 9)).toEqual([])
  })

  it('accepts decisions of delegates and backups', () => {
    expect(found(decidedBy(mei, [dana, omar], 'reminded', 'escalated'))).toEqual([])
    expect(found(decidedBy(max, [dana]))).toEqual([])
  })

  it.each<[string, HistoryEvent[], string]>([
    [
      'an approval that expired although a backup decides',
      history(
        { ...undecided, submitted: { ...undecided.submitted, asks: { ...asks, course: 'standIn' } } },
        ...[...asking, ...ending],
      ),
      'is expired in the end',
    ],
    [
      'an undecided approval that did not expire',
      expiredAs({ status: 'pendingApproval', timeline: expiring.slice(0, -1) }),
      'is pendingApproval in the end',
    ],
    [
      'an expired approval with a decision',
      expiredAs({ decisions: [{ by: dana, verdict: 'approved' }] }),
      '1 decisions instead of 0',
    ],
    [
      'an expired approval with a created resource',
      history({ ...undecided, security: good.security }, ...asking, ...ending),
      '1 × securityGroup instead of 0',
    ],
    [
      'an expired approval after an acknowledged decision',
      history({ ...undecided, decided: { ...good.decided, by: mei } }, ...asking, ...ending),
      'the decision of mei (approved) was acknowledged',
    ],
    ['an expiry without a notification', history(undecided, ...asking), 'nobody was notified that it is expired'],
    ['two notifications of an expiry', expired(card(24, 'expired', kim)), '2 × expired in kim'],
    ['a second warning', expired(card(18, 'warning', kim)), '2 × warning in kim'],
    [
      'a ready request that was reported as expired',
      history({}, card(21, 'expired', kim)),
      'was reported as expired and is not',
    ],
    [
      'an expiry without a warning',
      expiredAs({ timeline: expiring.filter(({ action }) => action !== 'warned') }),
      'expired and was never warned',
    ],
    [
      'an expiry without an escalation',
      expiredAs({ timeline: expiring.filter(({ action }) => action !== 'escalated') }),
      'expired and was never escalated',
    ],
    [
      'two escalations',
      expiredAs({ timeline: [...expiring.slice(0, 3), at(9, 'escalated'), ...expiring.slice(3)] }),
      'escalated 2 times',
    ],
    [
      'a reminder that comes too early',
      expiredAs({ timeline: [at(0, 'pendingApproval'), at(3, 'reminded'), ...expiring.slice(2)] }),
      'reminded 1.0 s too early',
    ],
    [
      'an expiry that comes too early',
      expiredAs({ timeline: [...expiring.slice(0, -1), at(19, 'expired')] }),
      'expired 1.0 s too early',
    ],
    [
      'an escalation that comes more than a minute late',
      expiredAs({ timeline: [...expiring.slice(0, 2), at(100, 'escalated'), at(100, 'warned'), at(104, 'expired')] }),
      'escalated 92.0 s too late',
    ],
    [
      'a reminder after the decision',
      decidedBy(mei, [dana, omar], 'escalated').map((one) =>
        one.event === 'end' ? { ...one, timeline: [...one.timeline, at(30, 'reminded')] } : one,
      ),
      'reminded after its end',
    ],
    [
      'a reminder that is not due',
      history(withTimeline('succeeded', 'pendingApproval', 'reminded', 'approved', 'queued', ...work)),
      'reminded, although it was not due',
    ],
    ['a second reminder', expired(card(6, 'reminder', dana)), '3 cards up to reminder in dana'],
    ['a second last call', expired(card(18, 'lastCall', omar)), '4 cards up to lastCall in omar'],
    ['a second first card for a backup', expired(card(11, 'question', mei)), '2 cards up to question in mei'],
    ['a card for a person who may not decide', expired(card(2, 'question', 'zoe')), 'zoe was asked and may not decide'],
    ['a decision of a person who was never asked', decidedBy('zoe', [dana]), 'zoe decided and was never asked'],
    ['a delegate’s decision without an approver', decidedBy(max, undefined), 'max decided for nobody'],
    ['a delegate’s decision for another person', decidedBy(max, [kim]), 'max decided for kim'],
    [
      'a decision of a backup that was not asked yet',
      decidedBy(mei, [dana, omar]),
      'mei decided before they were asked',
    ],
  ])('reports %s', (_, events, violation) => {
    expect(found(events).join('\n')).toContain(violation)
  })

  it('accepts a repeated reminder that was sent right before a kill, and a late first card', () => {
    const killed = { ...good.killed, at: second(14.5) }
    expect(found(expired(killed, card(7, 'reminder', dana)))).toEqual([])
    const late = asking.map((one) =>
      one.event === 'card' && one.chat === dana && one.card === 'question' ? card(5, 'reminder', dana) : one,
    )
    expect(found(history(undecided, ...late, ...ending))).toEqual([])
  })
})

describe('the plan of a run', () => {
  it.each([12, 24, 1000])(
    'with %i requests has each outcome, one approval in eight, and decisions of a delegate',
    (requests) => {
      const plan = planRequests({ ...runSettings({}), requests, seed: requests })
      const count = (course: string) => plan.filter((one) => one.course === course).length
      const tardy = Math.max(3, Math.round(requests / 16))
      expect(courses.map(count).reduce((sum, one) => sum + one)).toBe(tardy)
      for (const course of courses) expect(count(course)).toBeGreaterThanOrEqual(Math.floor(tardy / courses.length))
      const [delegate] = standIns
      expect(plan.filter(({ deciders }) => deciders.some((one) => one === delegate)).length).toBeGreaterThan(0)
      expect(plan.filter(({ approval, deciders }) => !approval && deciders.length > 0)).toEqual([])
      for (const { course, deciders } of plan) if (course === 'expires') expect(deciders).toEqual([])
    },
  )
})
