import { setTimeout } from 'node:timers/promises'
import { type Activity, CardFactory, type TurnContext } from 'botbuilder'
import { type CardJson, summaryOf } from '../../cards/index.ts'
import { clickOf, isInvoke, type Log, type Reply, turnOf } from './turn.ts'

/** The key of an invoke's answer in the turn state, until the answer is stored with the activity. */
export const answerKey = Symbol('quartermaster.answer')
/** The key of the log in the turn state. */
export const logKey = Symbol('quartermaster.log')
/** The longest wait of a click's answer for the update of the clicked card, in milliseconds. */
const longestUpdate = 700

/** Returns a message with a card. A phone's notification shows the summary. */
export function messageOf(card: CardJson): Partial<Activity> {
  return { type: 'message', attachments: [CardFactory.adaptiveCard(card)], summary: summaryOf(card) }
}

/**
 * Answers with a card. After a click, the card replaces the clicked card. The clicked activity is updated too, because
 * only the client that clicked shows the answer (DESIGN §6). With a slow connector the update ends after the answer.
 * Returns the id of the activity that now shows the card.
 */
export async function respond(context: TurnContext, card: CardJson): Promise<string | undefined> {
  const { activity } = context
  const { replyToId } = activity
  if (isInvoke(activity)) await answer(context, 'application/vnd.microsoft.card.adaptive', card)
  if (clickOf(activity) && replyToId) {
    const updated = updateClickedCard(context, { ...messageOf(card), id: replyToId })
    if (isInvoke(activity)) await Promise.race([updated, setTimeout(longestUpdate, undefined, { ref: false })])
    if (isInvoke(activity) || (await updated)) return replyToId
  }
  return isInvoke(activity) ? undefined : respondBelow(context, card)
}

/**
 * Updates the clicked card and returns whether the connector accepted it. The click is already done and answered, so a
 * failure is only logged. Reads the context before the call, so the call may outlive the turn.
 */
async function updateClickedCard(context: TurnContext, activity: Partial<Activity>): Promise<boolean> {
  const log = context.turnState.get<Log | undefined>(logKey)
  try {
    await context.updateActivity(activity)
    return true
  } catch (error) {
    log?.warn({ err: error }, 'a clicked card was answered but not updated')
    return false
  }
}

/** Answers with a new card. The clicked card stays unchanged. */
export async function respondBelow(context: TurnContext, card: CardJson): Promise<string | undefined> {
  return (await context.sendActivity(messageOf(card)))?.id
}

/** Answers a click with a short message. The card stays unchanged. */
export async function respondMessage(context: TurnContext, text: string): Promise<void> {
  await answer(context, 'application/vnd.microsoft.activity.message', text)
}

/** Returns the answer of an `adaptiveCard/action` invoke (Teams, "Universal Actions": response format). */
async function answer(context: TurnContext, type: string, value: CardJson | string): Promise<void> {
  const response = { status: 200, body: { statusCode: 200, type, value } }
  context.turnState.set(answerKey, response)
  await context.sendActivity({ type: 'invokeResponse', value: response })
}

/** Shows a reply, and stores which activity now shows a request, so that the card is kept up to date. */
export async function deliver(context: TurnContext, reply: Reply): Promise<void> {
  const activityId = await respond(context, reply.card)
  if (!reply.keep || !activityId) return
  const { actor, conversationId, core } = turnOf(context)
  await core.keepCard(actor, { ...reply.keep, conversationId, activityId })
}
