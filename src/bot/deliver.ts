import type { TurnContext } from 'botbuilder'
import { respond } from './respond.ts'
import { type Reply, turnOf } from './turn.ts'

/** Shows a reply, and remembers which activity now shows a request, so the card is kept up to date from now on. */
export async function deliver(context: TurnContext, reply: Reply): Promise<void> {
  const activityId = await respond(context, reply.card)
  if (!reply.keep || !activityId) return
  const { actor, conversationId, sentCards } = turnOf(context)
  await sentCards.put({ ...reply.keep, personId: actor.id, conversationId, activityId, state: 'sent' })
}
