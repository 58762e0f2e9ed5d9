import type { ApprovalStage, RequestForSite, StandIn } from '../../src/core/index.ts'
import { approvedBy, at, dana, kim, omar, priya, rejectedBy, requestOf, sam, stageOf } from './card-requests.ts'

const sunday = '2026-11-15T09:02:00Z'
const times = {
  reachBy: '2026-11-15T09:32:00Z',
  remindAt: '2026-11-17T09:02:00Z',
  escalateAt: '2026-11-19T09:02:00Z',
  warnAt: '2026-11-27T09:02:00Z',
  expiresAt: '2026-11-29T09:02:00Z',
}
const standIn = (more: Partial<StandIn> & Pick<StandIn, 'person' | 'insteadOf' | 'why'>): StandIn => ({
  as: more.why === 'delegated' ? 'delegate' : 'manager',
  since: '2026-11-19T09:02:00Z',
  ...more,
})
const waits = (stage: Partial<ApprovalStage>, approvers = [dana, priya]): RequestForSite =>
  requestOf({
    submittedAt: sunday,
    approvals: [stageOf(1, approvers, { openedAt: sunday, times, ...stage })],
  })

const overComment = 'Dana has *left* us, and it is needed on Monday.'
const untilMonday = { until: '2026-11-30T23:00:00.000Z' }
const omarForDana = standIn({ person: omar, insteadOf: [dana.id], why: 'delegated', by: dana, ...untilMonday })
const nobody = { by: null, at: '2026-11-17T09:02:00Z' }

/**
 * Requests that have waited for some time, each in a situation with a different look. Kim requests, Dana and Priya
 * decide.
 */
export const inTime = {
  /** Dana is away, and Omar decides. */
  delegated: waits({ standIns: [omarForDana] }),
  /** Omar is away too, and Sam decides for both. */
  delegatedOn: waits({
    rule: 'all',
    standIns: [
      omarForDana,
      standIn({ person: sam, insteadOf: [dana.id], why: 'delegated', by: omar, ...untilMonday }),
      standIn({ person: sam, insteadOf: [priya.id], why: 'delegated', by: priya, ...untilMonday }),
    ],
  }),
  reminded: waits({ reminders: [nobody] }),
  nudged: waits({ reminders: [nobody, { by: kim, at: at('10:31') }] }),
  escalated: waits({
    reminders: [nobody],
    escalatedAt: times.escalateAt,
    standIns: [standIn({ person: sam, insteadOf: [dana.id, priya.id], why: 'escalated' })],
  }),
  escalatedForOne: waits(
    { escalatedAt: times.escalateAt, standIns: [standIn({ person: sam, insteadOf: [dana.id], why: 'escalated' })] },
    [dana],
  ),
  unreachable: waits(
    {
      unreachable: [{ person: dana, why: 'NoChat', at: '2026-11-15T09:32:00Z' }],
      standIns: [standIn({ person: sam, insteadOf: [dana.id], why: 'unreachable' })],
    },
    [dana],
  ),
  /** The reachable approver suffices, so no other person was asked. */
  partlyUnreachable: waits({ unreachable: [{ person: dana, why: 'NoChat', at: '2026-11-15T09:32:00Z' }] }),
  nobodyReached: waits({ unreachable: [{ person: dana, why: 'NoChat', at: '2026-11-15T09:32:00Z' }] }, [dana]),
  handed: waits(
    {
      reassigned: [
        { from: [dana], to: omar, by: sam, at: at('09:31'), comment: 'Dana has left the *Zürich* project.' },
      ],
    },
    [omar, priya],
  ),
  handedSelf: waits({ reassigned: [{ from: [dana], to: sam, by: sam, at: at('09:31'), needsSecondAdmin: true }] }, [
    sam,
    priya,
  ]),
  handedOwn: waits({ reassigned: [{ from: [dana], to: omar, by: dana, at: at('09:31') }] }, [omar, priya]),
  expiring: waits({ warnedAt: at('09:31'), times: { ...times, expiresAt: '2026-11-22T09:02:00Z' } }),
  approvedFor: requestOf({
    approvals: [
      stageOf(1, [dana, sam], { decisions: [{ ...approvedBy(omar, '09:31', 'Fine.'), insteadOf: [dana] }] }),
      stageOf(2, [priya]),
    ],
  }),
  rejectedFor: requestOf({
    status: 'rejected',
    finishedAt: at('09:31'),
    approvals: [
      stageOf(1, [dana, priya], { decisions: [{ ...rejectedBy(omar, '09:31', 'Too large.'), insteadOf: [dana] }] }),
    ],
  }),
  /** Sam, an admin, overrode both stages; Dana and Priya had been asked in the first. */
  overridden: requestOf({
    status: 'queued',
    queuedAt: at('09:31'),
    approvals: [[dana, priya], [omar]].map((approvers, index) =>
      stageOf(index + 1, approvers, { decisions: [{ ...approvedBy(sam, '09:31', overComment), override: true }] }),
    ),
  }),
  rejectedOver: requestOf({
    status: 'rejected',
    finishedAt: at('09:31'),
    approvals: [
      stageOf(1, [dana, priya], {
        decisions: [{ ...rejectedBy(sam, '09:31', 'We close *this* office.'), override: true }],
      }),
    ],
  }),
} as const satisfies Record<string, RequestForSite>
