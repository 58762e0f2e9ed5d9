import { setTimeout } from 'node:timers/promises'
import { type Activity, CardFactory, type TurnContext } from 'botbuilder'
import { type CardJson, summaryOf } from '../cards/index.ts'
import { clickOf, isInvoke, type Log } from './turn.ts'

/** Where the answer of an invoke is kept during its turn, to be remembered with the activity. */
export const answerKey = Symbol('quartermaster.answer')
/** Where a turn finds the log. */
export const logKey = Symbol('quartermaster.log')
/** How long the answer of a click may wait for the connector to take the clicked card's new state, in milliseconds. */
const longestUpdate = 700

/** A card as a message. The summary is what a phone's notification shows. */
export function messageOf(card: CardJson): Partial<Activity> {
  return { type: 'message', attachments: [CardFactory.adaptiveCard(card)], summary: summaryOf(card) }
}

/**
 * Answers with a card. A click is answered in place, and the activity that it sits on is brought to the same state,
 * since the answer may be seen only by the client that clicked (DESIGN §6); a connector that is slow to take it does so
 * behind the answer. Returns the id of the activity that now shows the card.
 */
export async function respond(context: TurnContext, card: CardJson): Promise<string | undefined> {
  const { activity } = context
  const { replyToId } = activity
  if (isInvoke(activity)) await answer(context, 'application/vnd.microsoft.card.adaptive', card)
  if (clickOf(activity) && replyToId) {
    const updated = bringUpToDate(context, { ...messageOf(card), id: replyToId })
    if (isInvoke(activity)) await Promise.race([updated, setTimeout(longestUpdate, undefined, { ref: false })])
    if (isInvoke(activity) || (await updated)) return replyToId
  }
  return isInvoke(activity) ? undefined : respondBelow(context, card)
}

/**
 * Whether the connector took a card's new state. What was clicked is done and answered by now, so a card that stays behind
 * is logged and must not make it look undone. The context is read before the call goes out, so this may outlive the turn.
 */
async function bringUpToDate(context: TurnContext, activity: Partial<Activity>): Promise<boolean> {
  const log = context.turnState.get<Log | undefined>(logKey)
  try {
    await context.updateActivity(activity)
    return true
  } catch (error) {
    log?.warn({ err: error }, 'a clicked card was answered but not brought up to date')
    return false
  }
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
