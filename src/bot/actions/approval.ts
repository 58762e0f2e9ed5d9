import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { longestComment, ProvisioningError, type Request } from '../../core/index.ts'
import { defineCardAction } from '../define-card-action.ts'
import type { Reply, Turn } from '../turn.ts'
import { statusOf } from './request.ts'

const requestId = z.uuid()
const comment = z.string().trim().max(longestComment).catch('').default('')

/** Approves; the card becomes the record of the decision. */
export const approveRequest = defineCardAction({
  verb: 'approval.approve',
  data: z.object({ requestId, comment }),
  handle: async (turn, { requestId, comment }) =>
    decided(turn, await turn.provisioning.approve(turn.actor, requestId, comment)),
})

/** Rejects; without a comment the card comes back asking for one. */
export const rejectRequest = defineCardAction({
  verb: 'approval.reject',
  data: z.object({ requestId, comment }),
  async handle(turn, { requestId, comment }) {
    try {
      return decided(turn, await turn.provisioning.reject(turn.actor, requestId, comment))
    } catch (error) {
      if (!(error instanceof ProvisioningError) || error.code !== 'comment-required') throw error
      const request = await turn.provisioning.read(turn.actor, requestId)
      return { card: cards.approval(request, turn.viewer, { comment, commentMissing: true }) }
    }
  },
})

/** Reads the present state, and changes nothing. */
export const refreshApproval = defineCardAction({
  verb: 'approval.refresh',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => statusOf(turn, requestId),
})

function decided(turn: Turn, request: Request): Reply {
  return { card: cards.approvalDecided(request, turn.viewer) }
}
