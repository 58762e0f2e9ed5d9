import { approvalsCard, approvalsView, myRequestsCard, myRequestsView } from '../../src/cards/requests/lists.ts'
import { maxCounted, type Request } from '../../src/core/index.ts'
import { mailboxes } from './card-mailboxes.ts'
import { dana, kim, omar, onePage, priya, requestOf, requests, stageOf, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

const asKim = viewerOf(kim)
const asDana = viewerOf(dana)

/** Returns a request with this number and submission time, and with this name if it is set. */
function numbered<R extends Request>(request: R, number: number, submittedAt: string, displayName?: string): R {
  const details = displayName === undefined ? request.details : { ...request.details, displayName }
  return { ...request, number, submittedAt, details }
}

/** A request with a recent reminder, so it cannot be nudged before tomorrow. */
const reminded = requestOf({
  approvals: [stageOf(1, [dana, omar], { reminders: [{ at: '2026-11-20T08:00:00Z', by: kim }] })],
})
const expiring = requestOf({
  approvals: [stageOf(1, [dana, omar, priya], { rule: 'quorum', quorum: 2, warnedAt: '2026-11-19T09:02:00Z' })],
})

const addressTaken = numbered(requests.addressTaken, 1044, '2026-11-20T09:10:00Z')
const newest = [
  numbered(requests.secondStage, 1042, '2026-11-20T09:02:00Z'),
  numbered(requests.creating, 1041, '2026-11-20T08:40:00Z', 'Works council'),
  numbered(requests.ready, 1037, '2026-11-18T08:00:00Z'),
  numbered(requests.rejected, 1033, '2026-11-12T08:00:00Z', 'Board of directors, minutes and decisions since 1990'),
  numbered(requests.failed, 1029, '2026-11-09T08:00:00Z'),
  numbered(requests.expired, 1018, '2025-10-27T08:00:00Z'),
]
const older = [
  numbered(reminded, 1012, '2026-11-20T10:30:00Z'),
  numbered(expiring, 1011, '2026-11-07T09:02:00Z', 'Minutes'),
  numbered(mailboxes.sharedReady, 1010, '2026-11-05T09:02:00Z'),
  numbered(mailboxes.ready, 1009, '2026-09-05T09:02:00Z'),
  numbered(mailboxes.nameTaken, 1008, '2026-09-04T09:02:00Z'),
  numbered(requests.cancelled, 1007, '2024-09-04T09:02:00Z', 'Library'),
]
const toDecide = [requests.waiting, requestOf({ number: 1040, submittedAt: '2026-11-19T08:00:00Z' })]

/** Lists in each variant. */
export const listSamples: readonly Sample[] = [
  sample('', myRequestsCard, () => myRequestsView({ requests: newest, newer: 0, older: 14 }, asKim)),
  sample('older', myRequestsCard, () => myRequestsView({ requests: older, newer: 6, older: 8 }, asKim)),
  sample('far', myRequestsCard, () => myRequestsView({ requests: older, newer: maxCounted, older: maxCounted }, asKim)),
  sample('many', myRequestsCard, () => myRequestsView({ requests: newest, newer: 0, older: maxCounted }, asKim)),
  sample('address', myRequestsCard, () => myRequestsView(onePage(addressTaken, ...newest.slice(0, 1)), asKim)),
  sample('all', myRequestsCard, () => myRequestsView(onePage(...newest.slice(0, 3)), asKim, 1)),
  sample('', approvalsCard, () => approvalsView(onePage(...toDecide.toReversed()), asDana)),
  sample('older', approvalsCard, () => approvalsView({ requests: toDecide.toReversed(), newer: 6, older: 0 }, asDana)),
  sample('far', approvalsCard, () =>
    approvalsView({ requests: toDecide.toReversed(), newer: 6, older: maxCounted }, asDana),
  ),
]
