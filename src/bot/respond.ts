import { type Activity, CardFactory, type TurnContext } from 'botbuilder'
import { type CardJson, summaryOf } from '../cards/index.ts'
import { clickOf, isInvoke } from './turn.ts'

/** Where the answer of an invoke is kept during its turn, to be remembered with the activity. */
export const answerKey = Symbol('quartermaster.answer')

/** A card as a message. The summary is what a phone's notification shows. */
export function messageOf(card: CardJson): Partial<Activity> {
  return { type: 'message', attachments: [CardFactory.adaptiveCard(card)], summary: summaryOf(card) }
}

/**
 * Answers with a card. A click is answered in place, and the activity that it sits on is brought to the same state,
 * since the answer may be seen only by the client that clicked (DESIGN §6). Returns the id of the activity that now
 * shows the card.
 */
export async function respond(context: TurnContext, card: CardJson): Promise<string | undefined> {
  const { activity } = context
  if (!clickOf(activity)) return (await context.sendActivity(messageOf(card)))?.id
  if (isInvoke(activity)) await answer(context, 'application/vnd.microsoft.card.adaptive', card)
  if (!activity.replyToId) return undefined
  await context.updateActivity({ ...messageOf(card), id: activity.replyToId })
  return activity.replyToId
}

/** Answers a click with a sentence beside the card, which stays as it is. */
export async function respondMessage(context: TurnContext, text: string): Promise<void> {
  await answer(context, 'application/vnd.microsoft.activity.message', text)
}

/** The answer of an `adaptiveCard/action` invoke (Teams, "Universal Actions": response format). */
async function answer(context: TurnContext, type: string, value: CardJson | string): Promise<void> {
  const response = { status: 200, body: { statusCode: 200, type, value } }
  context.turnState.set(answerKey, response)
  await context.sendActivity({ type: 'invokeResponse', value: response })
}
