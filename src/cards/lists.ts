import { z } from 'zod'
import { type Delegation, isTerminal, type Request, referenceOf, requestState } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { delegateOf } from './delegation.ts'
import { looks, rowLook, shownState } from './look.ts'
import { cut, longest, moment, type Viewer } from './words.ts'

const row = { reference: z.string(), displayName: z.string(), at: z.string(), look: rowLook }

export const myRequestsCard = defineCard({
  name: 'my-requests',
  data: z.strictObject({
    open: z.int(),
    older: z.int(),
    requests: z.array(z.strictObject({ ...row, state: requestState })).min(1),
  }),
})
export const approvalsCard = defineCard({
  name: 'approvals',
  data: z.strictObject({
    waiting: z.int(),
    older: z.int(),
    /** Whoever decides for the viewer meanwhile; nobody has no name. */
    delegate: z.strictObject({ name: z.string(), at: z.string() }),
    requests: z.array(z.strictObject({ ...row, requester: z.string() })).min(1),
  }),
})

/** A list shows six rows; what is older is found by its reference. */
const mostRows = 6

const rowOf = (request: Request, viewer: Viewer, at: string) => {
  const { mark, color } = looks[shownState(request)]
  return {
    reference: referenceOf(request),
    displayName: cut(request.details.displayName, longest.name),
    at: moment(at, viewer, 'day'),
    look: { mark, color, now: false, later: false },
  }
}

/** The viewer's own requests, newest first. `older`: how many there are beyond those given. */
export function myRequestsView(
  requests: readonly Request[],
  older: number,
  viewer: Viewer,
): Parameters<typeof myRequestsCard.render>[0] {
  const shown = requests.slice(0, mostRows)
  return {
    open: requests.filter((request) => !isTerminal(shownState(request))).length,
    older: older + requests.length - shown.length,
    requests: shown.map((request) => ({ ...rowOf(request, viewer, request.updatedAt), state: shownState(request) })),
  }
}

/** What waits for the viewer's decision, and to whom they have delegated it. */
export function approvalsView(
  requests: readonly Request[],
  viewer: Viewer,
  own?: Delegation,
): Parameters<typeof approvalsCard.render>[0] {
  const shown = requests.slice(0, mostRows)
  return {
    waiting: requests.length,
    older: requests.length - shown.length,
    delegate: delegateOf(own, viewer),
    requests: shown.map((request) => ({
      ...rowOf(request, viewer, request.submittedAt),
      requester: cut(request.requester.displayName, longest.name),
    })),
  }
}
