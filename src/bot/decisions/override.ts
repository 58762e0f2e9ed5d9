import { z } from 'zod'
import { cards, type Notice } from '../../cards/index.ts'
import {
  type ErrorCode,
  lastDecision,
  overrideOf,
  ProvisioningError,
  type Request,
  referenceOf,
  refuseOverride,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, requestId } from '../define-card-action.ts'
import { statusOf } from '../requests/actions.ts'

const data = z.object({ requestId, comment })

/** Approves over the heads of the approvers; the card becomes its status card. */
export const approveAsAdmin = defineCardAction({
  verb: 'admin.approve',
  forAdmins: true,
  data,
  handle: (turn, click) => overridden(turn, 'approved', click),
})

/** Rejects over the heads of the approvers; the card becomes its status card. */
export const rejectAsAdmin = defineCardAction({
  verb: 'admin.reject',
  forAdmins: true,
  data,
  handle: (turn, click) => overridden(turn, 'rejected', click),
})

type Decision = 'approved' | 'rejected'
const verbs = { approved: 'admin.approve', rejected: 'admin.reject' } as const

/** Decides. Without a reason the card returns and requires one. A second click shows the decision of the first. */
async function overridden(
  turn: Turn,
  decision: Decision,
  { requestId, comment }: z.output<typeof data>,
): Promise<Reply> {
  const { core, actor } = turn
  try {
    await core.override(actor, { requestId, decision, comment })
  } catch (error) {
    if (!(error instanceof ProvisioningError) || !answered.includes(error.code)) throw error
    const request = await core.readRequest(actor, { requestId })
    if (error.code === 'comment-required') return confirmOverride(turn, request, decision, { commentMissing: true })
    const last = overrideOf(request.approvals)
    if (last?.by.id !== actor.id || last.decision !== decision) throw error
  }
  return statusOf(turn, requestId)
}

const answered: readonly ErrorCode[] = ['comment-required', 'already-decided']

/** Asks an admin to confirm an override of the approvers. A notice says if there is nothing to decide. */
export async function confirmOverride(
  turn: Turn,
  request: Request,
  decision: Decision,
  more: { comment?: string; commentMissing?: boolean } = {},
): Promise<Reply> {
  const { actor, viewer } = turn
  try {
    refuseOverride(request, actor)
  } catch (error) {
    if (!(error instanceof ProvisioningError)) throw error
    return { card: cards.notice(whyNot(error, request), viewer) }
  }
  return { card: cards.adminConfirm({ verb: verbs[decision], request, ...more }, viewer) }
}

/** Why nobody can decide a request any more, and who did, when. */
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
