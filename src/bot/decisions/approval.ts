import { z } from 'zod'
import { cardsFor, decidesNow } from '../../cards/index.ts'
import { everAsked, isApproved, type Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, isRefusal, requestId, stage } from '../define.ts'
import { statusOf, unlessWithdrawn } from '../requests/index.ts'

const data = z.object({ requestId, stage, comment })

/** Approves a request. The card becomes the record of the decision. */
export const approveRequest = defineCardAction({
  verb: 'approval.approve',
  decides: 'approve',
  data,
  handle: (turn, click) => decide(turn, click, () => turn.core.approve(turn.actor, click)),
})

/** Rejects a request. Without a comment the card returns and requires one. */
export const rejectRequest = defineCardAction({
  verb: 'approval.reject',
  decides: 'reject',
  data,
  async handle(turn, click) {
    const { core, actor, viewer } = turn
    const { requestId, stage, comment } = click
    try {
      return await decide(turn, click, () => core.reject(actor, click))
    } catch (error) {
      if (!isRefusal(error, 'comment-required')) throw error
      const { request, facts } = await core.readForApproval(actor, { requestId })
      if (!decidesNow(request, viewer, stage)) return { card: cardsFor(viewer).approvalNow(request, viewer, stage) }
      return { card: cardsFor(viewer).approval(request, viewer, { comment, commentMissing: true }, facts) }
    }
  },
})

/** Shows the current state. A comment that the person has typed stays in the card. */
export const refreshApproval = defineCardAction({
  verb: 'approval.refresh',
  data,
  handle: (turn, click) => unlessWithdrawn(turn, click.requestId, () => showApproval(turn, click)),
})

async function showApproval(turn: Turn, { requestId, stage, comment }: z.output<typeof data>): Promise<Reply> {
  const request = await turn.core.readRequest(turn.actor, { requestId })
  const isOver = request.approvals.some((one) => one.stage === stage && isApproved(one))
  if (isOver && isApprover(turn, request))
    return { card: cardsFor(turn.viewer).approvalNow(request, turn.viewer, stage) }
  return statusOf(turn, requestId, { comment, commentMissing: false })
}

interface OneDecision {
  readonly requestId: string
  readonly stage?: number | undefined
  readonly comment: string
  /** The person typed it, so no earlier card shows how the request was decided. */
  readonly isTyped?: boolean
}

/**
 * Shows the record of the decision. A person who decides too late or too early sees the request's current card, which says
 * that nothing changed.
 */
export async function decide(
  turn: Turn,
  { requestId, stage, comment, isTyped = false }: OneDecision,
  act: () => Promise<Request>,
): Promise<Reply> {
  try {
    return { card: cardsFor(turn.viewer).approvalDecided(await act(), turn.viewer, stage) }
  } catch (error) {
    if (!isRefusal(error, 'already-decided', 'already-ended', 'not-an-approver', 'name-taken')) throw error
    const { request, facts } = await turn.core.readForApproval(turn.actor, { requestId })
    if (!isApprover(turn, request)) throw error
    // A refused approver has left the group that decides. The card would request their decision again.
    const isOpen = decidesNow(request, turn.viewer, isTyped ? undefined : stage)
    if (error.code === 'not-an-approver' && decidesNow(request, turn.viewer)) throw error
    const why = error.code === 'name-taken' && request.addressConflict ? { why: 'addressTaken' as const } : {}
    if (isOpen)
      return {
        card: cardsFor(turn.viewer).approval(request, turn.viewer, { comment, commentMissing: false, ...why }, facts),
      }
    // A second click on the same button is no late decision.
    const isLate = isTyped || !hasDecided(turn, request)
    return { card: cardsFor(turn.viewer).approvalDecided(request, turn.viewer, isTyped ? undefined : stage, isLate) }
  }
}

const hasDecided = ({ actor }: Turn, { approvals }: Request): boolean =>
  approvals.some(({ decisions }) => decisions.some(({ by }) => by.id === actor.id))

/** Whether the person is or was an approver of the request. */
const isApprover = ({ actor }: Turn, { approvals }: Request): boolean =>
  everAsked(approvals).some(({ id }) => id === actor.id)
