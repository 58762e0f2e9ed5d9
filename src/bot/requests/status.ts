import { z } from 'zod'
import { type Cards, cardsFor, decidesNow, withdrawnCode } from '../../cards/index.ts'
import { openStage, openStates, type Request, referenceOf } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, input, isRefusal, requestId, showNotice } from '../define.ts'

/** Shows the current status. */
export const refreshRequest = defineCardAction({
  verb: 'request.refresh',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => unlessWithdrawn(turn, requestId, () => statusOf(turn, requestId)),
})

/** Reminds the approvers who have not decided. */
export const nudgeRequest = defineCardAction({
  verb: 'request.nudge',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => nudge(turn, requestId),
})

/** Reminds the approvers and shows the request's status. If it is too early for another reminder, shows a notice. */
export async function nudge(turn: Turn, requestId: string): Promise<Reply> {
  const { core, actor } = turn
  try {
    await core.nudge(actor, { requestId })
  } catch (error) {
    if (isRefusal(error, 'nudged-already')) {
      const reference = referenceOf(await core.readRequest(actor, { requestId }))
      return showNotice(turn, { code: 'nudgedAlready', ...error.context, requestId, reference })
    }
    if (!isRefusal(error, 'already-ended')) throw error
  }
  return statusOf(turn, requestId)
}

/** Gives a waiting request another address. A wrong one comes back in the card with its fault. */
export const changeAddress = defineCardAction({
  verb: 'request.address',
  data: z.object({ requestId, address: input }),
  async handle(turn, { requestId, address }) {
    const { core, actor, viewer } = turn
    try {
      await core.changeAddress(actor, { requestId, address })
    } catch (error) {
      if (!isRefusal(error, 'validation-failed', 'name-taken', 'already-ended')) throw error
      const request = await core.readRequest(actor, { requestId })
      if (error.code !== 'already-ended' && request.addressConflict)
        return { card: cardsFor(viewer).requestStatus(request, viewer, undefined, { address, faults: error.faults }) }
    }
    return statusOf(turn, requestId)
  },
})

/** Shows the status card with its timeline open. */
export const showTimeline = defineCardAction({
  verb: 'request.timeline',
  data: z.object({ requestId }),
  handle: async (turn, { requestId }) => statusCard(turn, await turn.core.readRequest(turn.actor, { requestId }), true),
})

/** Shows the status card of a request; the decision card if the request waits for this person's decision. */
export async function statusOf(turn: Turn, requestId: string, form?: Parameters<Cards['approval']>[2]): Promise<Reply> {
  const request = await turn.core.readRequest(turn.actor, { requestId })
  const isRequester = request.requester.id === turn.actor.id
  const stage = openStage(request.approvals)
  if (stage && !isRequester && decidesNow(request, turn.viewer)) {
    const now = await turn.core.readForApproval(turn.actor, { requestId })
    const keep = { requestId, key: `approval:${stage.stage}`, shown: now.request.version } as const
    return { card: cardsFor(turn.viewer).approval(now.request, turn.viewer, form, now.facts), keep }
  }
  return statusCard(turn, request, false)
}

/**
 * Shows the status card with the timeline, folded or open. Cards that the service sends and updates have only a button
 * for the timeline, so that no delivery needs another read.
 */
async function statusCard({ core, actor, viewer }: Turn, request: Request, isOpen: boolean): Promise<Reply> {
  const { requestId, version: shown } = request
  const entries = await core.readTimeline(actor, { requestId })
  const isRequester = request.requester.id === actor.id
  const ended = !openStates.includes(request.status)
  return {
    card: cardsFor(viewer).requestStatus(request, viewer, { entries, isOpen }),
    ...(!ended || isRequester ? { keep: { requestId, key: 'status' as const, shown } } : {}),
  }
}

/** Updates a clicked card. A person who has lost the right to see it gets a card without data. */
export async function unlessWithdrawn(turn: Turn, requestId: string, show: () => Promise<Reply>): Promise<Reply> {
  const { core, actor, clickedActivityId: activityId } = turn
  const lost = activityId && (await core.withdrawOwnCard(actor, { requestId, activityId }))
  return lost ? showNotice(turn, { code: withdrawnCode[lost] }) : show()
}
