import { cardsFor } from '../../cards/index.ts'
import { may, type Request } from '../../core/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import { defineCommand, reference, showNotice } from '../define.ts'
import { confirmCancel, isCancellable } from './admin.ts'
import { isNumberLike, newestSearched, ofReference, onlyMeant, onlyOne } from './meant.ts'
import { statusOf } from './status.ts'

/** `cancel REQ-1042`: shows a confirmation; the click cancels. */
export const cancelCommand = defineCommand({
  name: 'cancel',
  menu: 9,
  changes: true,
  argument: reference,
  handle: (turn, reference) => ofReference(turn, reference, (request) => cancelOnceConfirmed(turn, request)),
  withoutValidArgument: (turn, argument) => cancelMeant(turn, argument),
})

/**
 * Asks to confirm for the open request that a text names, or for the only one. Otherwise, lists the open requests, each with
 * a button that asks.
 */
async function cancelMeant(turn: Turn, text: string): Promise<Reply> {
  const { core, actor } = turn
  const { requests } = await core.listOwnRequests(actor, { limit: newestSearched })
  const open = requests.filter(isCancellable)
  const only = isNumberLike(text) ? undefined : (onlyMeant(open, text) ?? onlyOne(open))
  if (only) return cancelOnceConfirmed(turn, only)
  return open.length > 0
    ? { card: cardsFor(turn.viewer).cancelWhich(open) }
    : showNotice(turn, { code: 'nothingToCancel' })
}

/**
 * Cancels a request after a confirmation, and shows its status. An admin gives a reason before they cancel the request of
 * another person. A request that this person cannot cancel gets the refusal of the core at once.
 */
export async function cancelOnceConfirmed(turn: Turn, request: Request, isConfirmed = false): Promise<Reply> {
  const { core, actor, viewer } = turn
  const { requestId, requester } = request
  if (!isConfirmed && requester.id !== actor.id && isForAdmins(actor)) return confirmCancel(turn, request)
  if (!isConfirmed && isCancellable(request) && may(actor, 'request.cancel', request))
    return { card: cardsFor(viewer).cancelRequest(request, viewer) }
  await core.cancelRequest(actor, { requestId })
  return statusOf(turn, requestId)
}
