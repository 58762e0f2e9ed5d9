import { type Activity, CardFactory, type TurnContext } from 'botbuilder'
import { type CardJson, summaryOf } from '../cards/index.ts'
import { clickOf, isInvoke } from './turn.ts'

/** Where the answer of an invoke is kept during its turn, to be remembered with the activity. */
export const answerKey = Symbol('quartermaster.answer')
/** Where it is kept, for the log, why the clicked card could not be brought to its new state. */
export const notUpdatedKey = Symbol('quartermaster.not-updated')

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
  const { replyToId } = activity
  if (isInvoke(activity)) await answer(context, 'application/vnd.microsoft.card.adaptive', card)
  if (clickOf(activity) && replyToId) {
    try {
      await context.updateActivity({ ...messageOf(card), id: replyToId })
      return replyToId
    } catch (error) {
      // What was clicked is done and answered by now, so a card that stays behind must not make it look undone.
      context.turnState.set(notUpdatedKey, error)
      if (isInvoke(activity)) return replyToId
    }
  }
  return isInvoke(activity) ? undefined : respondBelow(context, card)
}

/** Answers with a card of its own below whatever was said or clicked, which stays as it is. */
export async function respondBelow(context: TurnContext, card: CardJson): Promise<string | undefined> {
  return (await context.sendActivity(messageOf(card)))?.id
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
