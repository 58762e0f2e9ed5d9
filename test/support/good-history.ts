import { violationsIn } from '../laboratory/checker.ts'
import type { HistoryEvent } from '../laboratory/history.ts'

/** Ids of a request and of another one. */
export const id = '77777777-1111-4111-8111-000000000001'
export const other = '77777777-1111-4111-8111-000000000002'
/** The requester and the two approvers. */
export const [kim, dana, omar] = ['kim', 'dana', 'omar']
/** Returns the time this many seconds after the start of the history. */
export const second = (at: number) => 1_800_000_000_000 + at * 1000

export const timelineOf = (...actions: string[]) =>
  actions.map((action, index) => ({ at: second(10 + index), action, by: action === 'approved' ? dana : 'system' }))
export const wholeTimeline = timelineOf(
  ...['pendingApproval', 'approved', 'queued', 'provisioning', 'step:create-site', 'step:link-group', 'succeeded'],
  'announced',
)

/** A team site that was requested, approved, created and announced, while the service was killed twice. */
export const good = {
  up: { event: 'up', at: second(0), replica: 0 },
  submitted: { event: 'submitted', at: second(1), n: 1, channel: 'rest', kind: 'teamSite', approval: true, by: kim },
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
/** Returns the complete history with changed or omitted parts, and further events. */
export function history(change: Partial<Record<Part, HistoryEvent | null>>, ...more: HistoryEvent[]): HistoryEvent[] {
  const parts = Object.entries({ ...good, ...change }).flatMap(([, event]) => (event === null ? [] : [event]))
  return [...parts, ...more].sort((one, next) => one.at - next.at)
}
/** Returns the checker's violations, one in each line. */
export const found = (events: readonly HistoryEvent[]): string[] =>
  violationsIn(events).map(({ rule, n, what }) => `${n}: ${rule}: ${what}`)
export const withTimeline = (status: string, ...actions: string[]) => ({
  end: { ...good.end, status, timeline: timelineOf(...actions) },
})
export const work = ['provisioning', 'step:create-site', 'succeeded'] as const
