import { describe, expect, it } from 'vitest'
import type { HistoryEvent } from '../laboratory/history.ts'
import {
  dana,
  found,
  good,
  history,
  id,
  omar,
  other,
  second,
  timelineOf,
  wholeTimeline,
  withTimeline,
  work,
} from '../support/good-history.ts'

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
    ['a second question', history({}, { ...good.question, at: second(15) }), '2 cards up to question in dana'],
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
