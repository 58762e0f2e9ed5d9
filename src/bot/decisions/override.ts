import { z } from 'zod'
import { cardsFor, type Notice } from '../../cards/index.ts'
import {
  lastDecision,
  overrideOf,
  ProvisioningError,
  type Request,
  referenceOf,
  refuseOverride,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, isRefusal, requestId, showNotice } from '../define.ts'
import { defineAdminVerb, statusOf } from '../requests/index.ts'

const data = z.object({ requestId, comment })

/** `admin approve REQ-1042 Dana has left`: shows a confirmation. The click overrides the approvers. */
export const adminApproveCommand = defineAdminVerb('approve', (turn, request, comment) =>
  confirmOverride(turn, request, 'approved', { comment }),
)

/** `admin reject REQ-1042 we close this office`: shows a confirmation, as `admin approve` does. */
export const adminRejectCommand = defineAdminVerb('reject', (turn, request, comment) =>
  confirmOverride(turn, request, 'rejected', { comment }),
)

/** Approves a request and overrides the approvers. The card becomes the status card. */
export const approveAsAdmin = defineCardAction({
  verb: 'admin.approve',
  forAdmins: true,
  data,
  handle: (turn, click) => override(turn, 'approved', click),
})

/** Rejects a request and overrides the approvers. The card becomes the status card. */
export const rejectAsAdmin = defineCardAction({
  verb: 'admin.reject',
  forAdmins: true,
  data,
  handle: (turn, click) => override(turn, 'rejected', click),
})

type Decision = 'approved' | 'rejected'
const verbs = { approved: 'admin.approve', rejected: 'admin.reject' } as const

/** Decides a request. Without a reason the card returns and requires one. A second click shows the first decision. */
async function override(turn: Turn, decision: Decision, { requestId, comment }: z.output<typeof data>): Promise<Reply> {
  const { core, actor } = turn
  try {
    await core.override(actor, { requestId, decision, comment })
  } catch (error) {
    if (isRefusal(error, 'name-taken')) return statusOf(turn, requestId)
    if (!isRefusal(error, 'comment-required', 'already-decided')) throw error
    const request = await core.readRequest(actor, { requestId })
    if (error.code === 'comment-required') return confirmOverride(turn, request, decision, { commentMissing: true })
    const last = overrideOf(request.approvals)
    if (last?.by.id !== actor.id || last.decision !== decision) throw error
  }
  return statusOf(turn, requestId)
}

/** Asks an admin to confirm an override of the approvers. If there is nothing to decide, shows a notice. */
async function confirmOverride(
  turn: Turn,
  request: Request,
  decision: Decision,
  more: { comment?: string; commentMissing?: boolean },
): Promise<Reply> {
  const { actor, viewer } = turn
  try {
    refuseOverride(request, actor)
  } catch (error) {
    if (!(error instanceof ProvisioningError)) throw error
    return showNotice(turn, whyNot(error, request))
  }
  return { card: cardsFor(viewer).adminConfirm({ verb: verbs[decision], request, ...more }, viewer) }
}

/** Returns why a request can no longer be decided: its state, or the person and the time of the decision. */
export function whyNot({ code }: Pick<ProvisioningError, 'code'>, request: Request): Notice {
  const about = { reference: referenceOf(request), requestId: request.requestId }
  const { status, cancelledBy, finishedAt, approvals } = request
  const at = finishedAt ?? request.updatedAt
  if (code === 'self-approval') return { code: 'selfApproval', ...about }
  if (status === 'expired') return { code: 'expiredBefore', at, ...about }
  if (status === 'cancelled')
    return cancelledBy
      ? { code: 'cancelledBefore', by: cancelledBy.displayName, at, ...about }
      : { code: 'alreadyEnded', ...about }
  const last = lastDecision(approvals)
  if (!last) return { code: 'nothingToDecide', ...about }
  return { code: 'decidedBefore', by: last.by.displayName, at: last.at, ...about }
}
