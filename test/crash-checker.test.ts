import { describe, expect, it } from 'vitest'
import { violationsIn } from './laboratory/checker.ts'
import type { HistoryEvent } from './laboratory/history.ts'

const id = '77777777-1111-4111-8111-000000000001'
const other = '77777777-1111-4111-8111-000000000002'
const [kim, dana, omar] = ['kim', 'dana', 'omar']
const second = (at: number) => 1_800_000_000_000 + at * 1000

const timelineOf = (...actions: string[]) =>
  actions.map((action, index) => ({ at: second(10 + index), action, by: action === 'approved' ? dana : 'system' }))
const wholeTimeline = timelineOf(
  ...['pendingApproval', 'approved', 'queued', 'provisioning', 'step:create-site', 'step:link-group', 'succeeded'],
  'announced',
)

/** A team site that was asked for, approved, made and told of, while the service was killed twice. */
const good = {
  up: { event: 'up', at: second(0), replica: 0 },
  asked: { event: 'asked', at: second(1), n: 1, channel: 'rest', kind: 'teamSite', approval: true, by: kim },
  killed: { event: 'killed', at: second(2), replica: 0 },
  upAgain: { event: 'up', at: second(4), replica: 0 },
  acknowledged: { event: 'acknowledged', at: second(10), n: 1, requestId: id },
  question: { event: 'card', at: second(11), n: 1, card: 'question', chat: dana },
  decided: { event: 'decided', at: second(12), n: 1, requestId: id, by: dana, verdict: 'approved' },
  late: { event: 'late', at: second(12), n: 1, by: omar },
  webhook: { event: 'webhook', at: second(17), id: 'msg_1', type: 'site.provisioned', requestId: id },
  followUp: { event: 'card', at: second(18), n: 1, card: 'followUp', chat: kim },
  killedAgain: { event: 'killed', at: second(30), replica: 0 },
  lastUp: { event: 'up', at: second(32), replica: 0 },
  end: {
    ...{ event: 'end', at: second(40), n: 1, requestId: id, status: 'succeeded', timeline: wholeTimeline },
    decisions: [{ by: dana, verdict: 'approved' }],
  },
  group: { event: 'made', at: second(41), n: 1, what: 'unifiedGroup', name: 'Lab 0001', requestId: id },
  security: { event: 'made', at: second(41), n: 1, what: 'securityGroup', name: 'SPO-lab-0001', requestId: id },
  site: { event: 'made', at: second(41), n: 1, what: 'site', name: 'lab-0001', requestId: id },
} as const satisfies Record<string, HistoryEvent>

type Part = keyof typeof good
/** The good history with parts left out or changed, and further events. */
function history(change: Partial<Record<Part, HistoryEvent | null>>, ...more: HistoryEvent[]): HistoryEvent[] {
  const parts = Object.entries({ ...good, ...change }).flatMap(([, event]) => (event === null ? [] : [event]))
  return [...parts, ...more].sort((one, next) => one.at - next.at)
}
const found = (events: readonly HistoryEvent[]): string[] =>
  violationsIn(events).map(({ rule, n, what }) => `${n}: ${rule}: ${what}`)
const withTimeline = (status: string, ...actions: string[]) => ({
  end: { ...good.end, status, timeline: timelineOf(...actions) },
})
const work = ['provisioning', 'step:create-site', 'succeeded'] as const

describe('the checker of histories', () => {
  it('finds nothing in a good one', () => {
    expect(found(history({}))).toEqual([])
  })

  it('finds nothing in a rejection, of which nothing was made', () => {
    const rejected: Parameters<typeof history>[0] = {
      ...{ group: null, security: null, site: null, followUp: null },
      decided: { ...good.decided, verdict: 'rejected' },
      end: {
        ...{ ...good.end, status: 'rejected', timeline: timelineOf('pendingApproval', 'rejected') },
        decisions: [{ by: dana, verdict: 'rejected' }],
      },
    }
    expect(found(history(rejected))).toEqual([])
  })

  it.each<[string, HistoryEvent[], string]>([
    ['an acknowledged request that is lost', history({ end: null }), 'was acknowledged and is lost'],
    ['a request that nobody was told of', history({ acknowledged: null }), 'exists and was never acknowledged'],
    [
      'a second request for the same wish',
      history({}, { ...good.end, requestId: other }),
      `${other} exists and was never acknowledged`,
    ],
    [
      'two acknowledgements that name two requests',
      history({}, { ...good.acknowledged, requestId: other }, { ...good.end, requestId: other }),
      `was acknowledged as ${id} and ${other}`,
    ],
    [
      'a request that stands still',
      history(withTimeline('queued', 'pendingApproval', 'approved', 'queued')),
      'is queued in the end',
    ],
    ['one that failed', history(withTimeline('failed', 'queued', 'provisioning', 'failed')), 'is failed in the end'],
    [
      'one that took longer than a minute after the last start',
      history({
        end: {
          ...good.end,
          timeline: wholeTimeline.map((line) => (line.action === 'succeeded' ? { ...line, at: second(93) } : line)),
        },
      }),
      'ended 61.0 s after the last start',
    ],
    [
      'a duplicate in the tenant',
      history({}, { ...good.group, name: 'Lab 0001 (2)' }),
      '2 × unifiedGroup instead of 1',
    ],
    ['one that is half made', history({ security: null }), '0 × securityGroup instead of 1'],
    [
      'something that was made without a request',
      history({}, { ...good.site, n: 9, requestId: null }),
      '9: made once and whole: site lab-0001 bears no mark',
    ],
    [
      'something with the mark of no request',
      history({ site: { ...good.site, requestId: other } }),
      'which is no request',
    ],
    [
      'a thing that was made of what was rejected',
      history(withTimeline('rejected', 'pendingApproval', 'rejected')),
      '1 × site instead of 0',
    ],
    [
      'a decision that counts twice',
      history({ end: { ...good.end, decisions: [...good.end.decisions, { by: omar, verdict: 'approved' }] } }),
      '2 decisions instead of 1',
    ],
    [
      'two decisions in the timeline',
      history(withTimeline('succeeded', 'pendingApproval', 'approved', 'approved', 'queued', ...work)),
      'the timeline has 2 decisions',
    ],
    [
      'an acknowledged decision that is not kept',
      history({ decided: { ...good.decided, by: omar } }),
      'omar was told that it is approved',
    ],
    [
      'a second follow-up card, the first of which was heard',
      history({}, { ...good.followUp, at: second(20) }),
      '2 × followUp in kim, of which 1 were heard',
    ],
    ['a second question', history({}, { ...good.question, at: second(15) }), '2 × question in dana'],
    ['a request of which nobody was told that it is ready', history({ followUp: null }), 'nobody was told'],
    [
      'a follow-up card of what was never made',
      history(withTimeline('rejected', 'pendingApproval', 'rejected')),
      'was called ready and is not',
    ],
    [
      'a jump over a state',
      history(withTimeline('succeeded', 'pendingApproval', 'approved', ...work)),
      'legal timeline: provisioning in pendingApproval, provisioning',
    ],
    [
      'life after the end',
      history(withTimeline('succeeded', 'queued', ...work, 'provisioning', 'succeeded')),
      'provisioning in queued, provisioning, succeeded, provisioning',
    ],
    [
      'a step that was done twice',
      history(withTimeline('succeeded', 'queued', 'provisioning', 'step:a', 'step:a', 'succeeded')),
      'step:a twice',
    ],
    [
      'a step after the end',
      history(withTimeline('succeeded', 'queued', 'provisioning', 'succeeded', 'step:a')),
      'step:a outside of the work',
    ],
    [
      'two announcements',
      history(withTimeline('succeeded', 'queued', ...work, 'announced', 'announced')),
      'announced twice',
    ],
    [
      'a state that the timeline does not know of',
      history({ end: { ...good.end, timeline: timelineOf('queued', 'provisioning') } }),
      'ends as provisioning and is succeeded',
    ],
    [
      'a time that runs backwards',
      history({
        end: {
          ...good.end,
          timeline: wholeTimeline
            .toReversed()
            .map((line, index) => ({ ...line, action: wholeTimeline[index]?.action ?? '' })),
        },
      }),
      'goes back in time',
    ],
    ['an event that no subscriber heard of', history({ webhook: null }), 'no webhook tells that it is succeeded'],
    [
      'one event under two ids',
      history({}, { ...good.webhook, id: 'msg_2' }),
      '2 events: site.provisioned msg_1, site.provisioned msg_2',
    ],
    [
      'a client that was refused',
      history({}, { event: 'refused', at: second(5), n: 1, why: '422 name-taken' }),
      'answered rightly: 422 name-taken',
    ],
  ])('finds %s', (_, events, violation) => {
    expect(found(events).join('\n')).toContain(violation)
  })

  it('takes a card for unheard that comes when its sender is dead', () => {
    const sent = { ...good.followUp, at: good.killedAgain.at + 5 }
    const again = { ...good.followUp, at: good.lastUp.at + 1000 }
    expect(found(history({ followUp: sent }, again))).toEqual([])
  })

  it('takes a card for unheard whose answer the connector kept, however long before a kill', () => {
    const sent = { ...good.followUp, at: good.killedAgain.at - 8000 }
    const again = { ...good.followUp, at: good.lastUp.at + 1000 }
    expect(found(history({ followUp: { ...sent, unheard: true } }, again))).toEqual([])
    expect(found(history({ followUp: sent }, again))).toEqual([
      '1: told once: 2 × followUp in kim, of which 1 were heard before the last',
    ])
  })

  it('takes a card for unheard that was sent right before a kill', () => {
    const sent = { ...good.followUp, at: good.killedAgain.at - 100 }
    expect(found(history({ followUp: sent }, { ...sent, at: second(33) }))).toEqual([])
  })

  it('takes the repetition of a webhook, under the same id, for what it is', () => {
    expect(found(history({}, { ...good.webhook, at: second(25) }))).toEqual([])
  })
})
