import type { TurnContext } from 'botbuilder'
import { respond } from './respond.ts'
import { type Reply, type Turn, turnOf } from './turn.ts'

/** Shows a reply, and remembers which activity now shows a request, so the card is kept up to date from now on. */
export async function deliver(context: TurnContext, reply: Reply): Promise<void> {
  const activityId = await respond(context, reply.card)
  if (!reply.keep || !activityId) return
  const { actor, conversationId, clickedActivityId, sentCards } = turnOf(context)
  // A reminder that was clicked stays one, so that the first card is not lost sight of.
  if (activityId === clickedActivityId && (await isKnown(sentCards, reply.keep, actor.id, activityId))) return
  await sentCards.put({ ...reply.keep, personId: actor.id, conversationId, activityId, state: 'sent' })
}

/** Whether an activity shows this request to this person already, by whatever key, and is kept up to date by it. */
async function isKnown(
  sentCards: Turn['sentCards'],
  { requestId }: NonNullable<Reply['keep']>,
  personId: string,
  activityId: string,
): Promise<boolean> {
  const known = await sentCards.ofRequest(requestId)
  return known.some(
    (card) => card.personId === personId && card.activityId === activityId && card.key !== 'outcome:succeeded',
  )
}
