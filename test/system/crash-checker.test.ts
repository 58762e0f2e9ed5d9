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

describe('the history checker', () => {
  it('accepts a complete history', () => {
    expect(found(history({}))).toEqual([])
  })

  it('accepts a rejection without any resource', () => {
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
    ['a request without an acknowledgement', history({ acknowledged: null }), 'exists and was never acknowledged'],
    [
      'a second request for the same submission',
      history({}, { ...good.end, requestId: other }),
      `${other} exists and was never acknowledged`,
    ],
    [
      'two acknowledgements with two requests',
      history({}, { ...good.acknowledged, requestId: other }, { ...good.end, requestId: other }),
      `was acknowledged as ${id} and ${other}`,
    ],
    [
      'a stuck request',
      history(withTimeline('queued', 'pendingApproval', 'approved', 'queued')),
      'is queued in the end',
    ],
    [
      'a failed request, with its problem',
      history({
        end: {
          ...{ ...good.end, status: 'failed', problem: 'interrupted' },
          timeline: timelineOf('queued', 'provisioning', 'failed'),
        },
      }),
      'is failed in the end: interrupted',
    ],
    [
      'a request that took longer than a minute after the last start',
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
    ['an incomplete resource', history({ security: null }), '0 × securityGroup instead of 1'],
    [
      'a resource without a request',
      history({}, { ...good.site, n: 9, requestId: null }),
      '9: created once and completely: site lab-0001 has no mark',
    ],
    [
      'a resource with the mark of an unknown request',
      history({ site: { ...good.site, requestId: other } }),
      'which is not a request',
    ],
    [
      'a resource of a rejected request',
      history(withTimeline('rejected', 'pendingApproval', 'rejected')),
      '1 × site instead of 0',
    ],
    [
      'two decisions',
      history({ end: { ...good.end, decisions: [...good.end.decisions, { by: omar, verdict: 'approved' }] } }),
      '2 decisions instead of 1',
    ],
    [
      'two decisions in the timeline',
      history(withTimeline('succeeded', 'pendingApproval', 'approved', 'approved', 'queued', ...work)),
      'the timeline has 2 decisions',
    ],
    [
      'an acknowledged decision that is not stored',
      history({ decided: { ...good.decided, by: omar } }),
      'the decision of omar (approved) was acknowledged',
    ],
    [
      'a second follow-up card after an acknowledged one',
      history({}, { ...good.followUp, at: second(20) }),
      '2 × followUp in kim, of which 1 were acknowledged',
    ],
    ['a second first card', history({}, { ...good.question, at: second(15) }), '2 cards up to question in dana'],
    ['a ready request without a notification', history({ followUp: null }), 'nobody was notified'],
    [
      'a follow-up card for a resource that does not exist',
      history(withTimeline('rejected', 'pendingApproval', 'rejected')),
      'was reported as ready and is not',
    ],
    [
      'a skipped state',
      history(withTimeline('succeeded', 'pendingApproval', 'approved', ...work)),
      'legal timeline: provisioning in pendingApproval, provisioning',
    ],
    [
      'work after the end',
      history(withTimeline('succeeded', 'queued', ...work, 'provisioning', 'succeeded')),
      'provisioning in queued, provisioning, succeeded, provisioning',
    ],
    [
      'a repeated step',
      history(withTimeline('succeeded', 'queued', 'provisioning', 'step:a', 'step:a', 'succeeded')),
      'step:a twice',
    ],
    [
      'a step after the end',
      history(withTimeline('succeeded', 'queued', 'provisioning', 'succeeded', 'step:a')),
      'step:a outside of provisioning',
    ],
    [
      'two announcements',
      history(withTimeline('succeeded', 'queued', ...work, 'announced', 'announced')),
      'announced twice',
    ],
    [
      'a state that is missing in the timeline',
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
    ['an event without a delivery', history({ webhook: null }), 'no webhook reports that it is succeeded'],
    [
      'one event with two ids',
      history({}, { ...good.webhook, id: 'msg_2' }),
      '2 events: site.provisioned msg_1, site.provisioned msg_2',
    ],
    [
      'a refused client',
      history({}, { event: 'refused', at: second(5), n: 1, why: '422 name-taken' }),
      'answered correctly: 422 name-taken',
    ],
  ])('reports %s', (_, events, violation) => {
    expect(found(events).join('\n')).toContain(violation)
  })

  it('accepts a repeated card if the first one arrived after its sender had died', () => {
    const sent = { ...good.followUp, at: good.killedAgain.at + 5 }
    const again = { ...good.followUp, at: good.lastUp.at + 1000 }
    expect(found(history({ followUp: sent }, again))).toEqual([])
  })

  it('accepts a repeated card if the connector kept its answer back, at any time before a kill', () => {
    const sent = { ...good.followUp, at: good.killedAgain.at - 8000 }
    const again = { ...good.followUp, at: good.lastUp.at + 1000 }
    expect(found(history({ followUp: { ...sent, unheard: true } }, again))).toEqual([])
    expect(found(history({ followUp: sent }, again))).toEqual([
      '1: notified once: 2 × followUp in kim, of which 1 were acknowledged before the last',
    ])
  })

  it('accepts a repeated card if the first one was sent right before a kill', () => {
    const sent = { ...good.followUp, at: good.killedAgain.at - 100 }
    expect(found(history({ followUp: sent }, { ...sent, at: second(33) }))).toEqual([])
  })

  it('accepts a repeated webhook with the same id', () => {
    expect(found(history({}, { ...good.webhook, at: second(25) }))).toEqual([])
  })
})
