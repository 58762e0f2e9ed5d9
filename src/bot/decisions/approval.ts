import { z } from 'zod'
import { cards, decidesNow } from '../../cards/index.ts'
import { type ErrorCode, everAsked, isApproved, ProvisioningError, type Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, requestId, stage } from '../define-card-action.ts'
import { statusOf, unlessWithdrawn } from '../requests/actions.ts'

/** Approves; the card becomes the record of the decision. */
export const approveRequest = defineCardAction({
  verb: 'approval.approve',
  decides: 'approve',
  data: z.object({ requestId, stage, comment }),
  handle: (turn, { requestId, stage, comment }) =>
    decided(turn, { requestId, stage }, () => turn.core.approve(turn.actor, { requestId, comment, stage })),
})

/** Rejects; without a comment the card comes back asking for one. */
export const rejectRequest = defineCardAction({
  verb: 'approval.reject',
  decides: 'reject',
  data: z.object({ requestId, stage, comment }),
  async handle(turn, { requestId, stage, comment }) {
    try {
      return await decided(turn, { requestId, stage }, () =>
        turn.core.reject(turn.actor, { requestId, comment, stage }),
      )
    } catch (error) {
      if (!(error instanceof ProvisioningError) || error.code !== 'comment-required') throw error
      const request = await turn.core.readRequest(turn.actor, { requestId })
      if (!decidesNow(request, turn.viewer, stage)) return { card: cards.approvalNow(request, turn.viewer, stage) }
      return { card: cards.approval(request, turn.viewer, { comment, commentMissing: true }) }
    }
  },
})

/** Reads the present state, and changes nothing: what was typed is still there. */
export const refreshApproval = defineCardAction({
  verb: 'approval.refresh',
  data: z.object({ requestId, stage, comment }),
  handle: (turn, click) => unlessWithdrawn(turn, click.requestId, () => approvalAsNow(turn, click)),
})

async function approvalAsNow(
  turn: Turn,
  { requestId, stage, comment }: { requestId: string; stage?: number | undefined; comment: string },
): Promise<Reply> {
  const request = await turn.core.readRequest(turn.actor, { requestId })
  const isOver = request.approvals.some((one) => one.stage === stage && isApproved(one))
  const isAsked = everAsked(request.approvals).some(({ id }) => id === turn.actor.id)
  if (isOver && isAsked) return { card: cards.approvalNow(request, turn.viewer, stage) }
  return statusOf(turn, requestId, { comment, commentMissing: false })
}

/** The record of the decision. A person who clicks too late or too early sees the request's present card. */
async function decided(
  turn: Turn,
  { requestId, stage }: { requestId: string; stage: number | undefined },
  decide: () => Promise<Request>,
): Promise<Reply> {
  try {
    return { card: cards.approvalDecided(await decide(), turn.viewer, stage) }
  } catch (error) {
    const late = error instanceof ProvisioningError && lateCodes.includes(error.code)
    const request = late ? await turn.core.readRequest(turn.actor, { requestId }) : undefined
    if (!request || !everAsked(request.approvals).some(({ id }) => id === turn.actor.id)) throw error
    // Who is asked and refused all the same has left the group that was asked: the card would ask them once more.
    const isRefused = error instanceof ProvisioningError && error.code === 'not-an-approver'
    if (isRefused && decidesNow(request, turn.viewer)) throw error
    return { card: cards.approvalNow(request, turn.viewer, stage) }
  }
}

const lateCodes: readonly ErrorCode[] = ['already-decided', 'already-ended', 'not-an-approver']
