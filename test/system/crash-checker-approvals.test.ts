import { describe, expect, it } from 'vitest'
import { courses } from '../laboratory/course.ts'
import type { CardKind, HistoryEvent } from '../laboratory/history.ts'
import { runSettings, standIns, wishesOf } from '../laboratory/plan.ts'
import { dana, found, good, history, kim, omar, second, withTimeline, work } from '../support/good-history.ts'

const [max, mei] = ['max', 'mei']
/** Who is asked where nobody decides at first: reminded after 4 s, others asked after 8 s, over after 20 s. */
const asks = {
  ...{ approvers: [dana, omar], delegates: [max], backups: [mei], course: 'expires' as const },
  times: { remind: 4, escalate: 8, expire: 20 },
}
const at = (seconds: number, action: string, by = 'system') => ({ at: second(10 + seconds), action, by })
const expiring = [at(0, 'pendingApproval'), at(4, 'reminded'), at(8, 'escalated'), at(16, 'warned'), at(20, 'expired')]
const card = (seconds: number, kind: CardKind, chat: string) =>
  ({ event: 'card', at: second(10 + seconds), n: 1, card: kind, chat }) as const

/** A site that nobody decided: its people were reminded, another was asked too, all were warned, and it expired. */
const undecided = {
  ...{ decided: null, late: null, followUp: null, group: null, security: null, site: null, question: null },
  asked: { ...good.asked, at: second(9), asks },
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

/** The good site, decided by somebody in the place of its approvers. */
const standInTimes = { ...asks, course: 'standIn' as const, times: { ...asks.times, expire: 86_400 } }
const decidedBy = (by: string, insteadOf: string[] | undefined, ...before: string[]) => {
  const decision = { by, verdict: 'approved' as const, ...(insteadOf && { insteadOf }) }
  const lines = ['pendingApproval', ...before, 'approved', 'queued', ...work, 'announced']
  const timeline = lines.map((action, index) => at(action === 'pendingApproval' ? 0 : 9 + index, action))
  return history({
    asked: { ...good.asked, at: second(9), asks: standInTimes },
    decided: { ...good.decided, at: second(25), by },
    end: { ...good.end, timeline, decisions: [decision] },
  })
}

describe('the checker of histories, of approvals that nobody gives at first', () => {
  it('finds nothing in one that nobody decided in time, and of which everybody was told', () => {
    expect(found(expired())).toEqual([])
  })

  it('finds nothing in what was decided in the place of approvers', () => {
    expect(found(decidedBy(mei, [dana, omar], 'reminded', 'escalated'))).toEqual([])
    expect(found(decidedBy(max, [dana]))).toEqual([])
  })

  it.each<[string, HistoryEvent[], string]>([
    [
      'an approval that expired although somebody decides it',
      history(
        { ...undecided, asked: { ...undecided.asked, asks: { ...asks, course: 'standIn' } } },
        ...[...asking, ...ending],
      ),
      'is expired in the end',
    ],
    [
      'one that nobody decided and that did not expire',
      expiredAs({ status: 'pendingApproval', timeline: expiring.slice(0, -1) }),
      'is pendingApproval in the end',
    ],
    [
      'one that expired and was decided too',
      expiredAs({ decisions: [{ by: dana, verdict: 'approved' }] }),
      '1 decisions instead of 0',
    ],
    [
      'one that expired and was made nevertheless',
      history({ ...undecided, security: good.security }, ...asking, ...ending),
      '1 × securityGroup instead of 0',
    ],
    [
      'one that expired after somebody was told that they decided it',
      history({ ...undecided, decided: { ...good.decided, by: mei } }, ...asking, ...ending),
      'mei was told that it is approved',
    ],
    ['one that expired and nobody was told', history(undecided, ...asking), 'nobody was told that it is expired'],
    ['one whose end was told twice', expired(card(24, 'expired', kim)), '2 × expired in kim'],
    ['a second warning', expired(card(18, 'warning', kim)), '2 × warning in kim'],
    ['one that was called expired and is made', history({}, card(21, 'expired', kim)), 'was called expired and is not'],
    [
      'one that expired unwarned',
      expiredAs({ timeline: expiring.filter(({ action }) => action !== 'warned') }),
      'expired and was never warned',
    ],
    [
      'one that expired and nobody else was asked',
      expiredAs({ timeline: expiring.filter(({ action }) => action !== 'escalated') }),
      'expired and was never escalated',
    ],
    [
      'an escalation that was made twice',
      expiredAs({ timeline: [...expiring.slice(0, 3), at(9, 'escalated'), ...expiring.slice(3)] }),
      'escalated 2 times',
    ],
    [
      'a reminder that comes too early',
      expiredAs({ timeline: [at(0, 'pendingApproval'), at(3, 'reminded'), ...expiring.slice(2)] }),
      'reminded 1.0 s too early',
    ],
    [
      'an end that comes too early',
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
      'a reminder of what nobody is slow with',
      history(withTimeline('succeeded', 'pendingApproval', 'reminded', 'approved', 'queued', ...work)),
      'reminded, and no time for it was near',
    ],
    ['a second reminder', expired(card(6, 'reminder', dana)), '3 cards up to reminder in dana'],
    ['a second last call', expired(card(18, 'lastCall', omar)), '4 cards up to lastCall in omar'],
    ['a second question to who stands in', expired(card(11, 'question', mei)), '2 cards up to question in mei'],
    ['a question to somebody else', expired(card(2, 'question', 'zoe')), "zoe was asked and is nobody's who decides"],
    ['a decision of somebody who was never asked', decidedBy('zoe', [dana]), 'zoe decided and was never asked'],
    ['a decision in the place of nobody', decidedBy(max, undefined), 'max decided for nobody'],
    ['a decision in the place of somebody else', decidedBy(max, [kim]), 'max decided for kim'],
    [
      'a decision of a backup that was not asked yet',
      decidedBy(mei, [dana, omar]),
      'mei decided before they were asked',
    ],
  ])('finds %s', (_, events, violation) => {
    expect(found(events).join('\n')).toContain(violation)
  })

  it('takes a reminder for unheard that was sent right before a kill, and a late question for what it is', () => {
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
    'of %i requests has each course, one approval in eight, and decisions of a delegate',
    (requests) => {
      const wishes = wishesOf({ ...runSettings({}), requests, seed: requests })
      const count = (course: string) => wishes.filter((one) => one.course === course).length
      const tardy = Math.max(3, Math.round(requests / 16))
      expect(courses.map(count).reduce((sum, one) => sum + one)).toBe(tardy)
      for (const course of courses) expect(count(course)).toBeGreaterThanOrEqual(Math.floor(tardy / courses.length))
      const [delegate] = standIns
      expect(wishes.filter(({ deciders }) => deciders.some((one) => one === delegate)).length).toBeGreaterThan(0)
      expect(wishes.filter(({ approval, deciders }) => !approval && deciders.length > 0)).toEqual([])
      for (const { course, deciders } of wishes) if (course === 'expires') expect(deciders).toEqual([])
    },
  )
})
