import { setTimeout } from 'node:timers/promises'
import { type Activity, CardFactory, type TurnContext } from 'botbuilder'
import { type CardJson, summaryOf } from '../../cards/index.ts'
import { isReadyCard } from '../../core/index.ts'
import { clickOf, isInvoke, type Log, type Reply, type Turn, turnOf } from './turn.ts'

/** The key of an invoke's answer in the turn state, until it is stored with the activity. */
export const answerKey = Symbol('quartermaster.answer')
/** The key of the log in the turn state. */
export const logKey = Symbol('quartermaster.log')
/** How long the answer of a click waits for the update of the clicked card, in milliseconds. */
const longestUpdate = 700

/** A card as a message. A phone's notification shows the summary. */
export function messageOf(card: CardJson): Partial<Activity> {
  return { type: 'message', attachments: [CardFactory.adaptiveCard(card)], summary: summaryOf(card) }
}

/**
 * Answers with a card. A click is answered in place, and the activity with the clicked card is updated too, since only
 * the client that clicked shows the answer (DESIGN §6). If the connector is slow, the update ends after the answer.
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
 * Updates the clicked card and returns whether the connector accepted it. The click is done and answered by now, so a
 * failure is only logged. Reads the context before the call, so the call may outlive the turn.
 */
async function updateClickedCard(context: TurnContext, activity: Partial<Activity>): Promise<boolean> {
  const log = context.turnState.get<Log | undefined>(logKey)
  try {
    await context.updateActivity(activity)
    return true
  } catch (error) {
    log?.warn({ err: error }, 'a clicked card was answered but not brought up to date')
    return false
  }
}

/** Answers with a new card below the message or the clicked card, which stays unchanged. */
export async function respondBelow(context: TurnContext, card: CardJson): Promise<string | undefined> {
  return (await context.sendActivity(messageOf(card)))?.id
}

/** Answers a click with a short message. The card stays unchanged. */
export async function respondMessage(context: TurnContext, text: string): Promise<void> {
  await answer(context, 'application/vnd.microsoft.activity.message', text)
}

/** The answer of an `adaptiveCard/action` invoke (Teams, "Universal Actions": response format). */
async function answer(context: TurnContext, type: string, value: CardJson | string): Promise<void> {
  const response = { status: 200, body: { statusCode: 200, type, value } }
  context.turnState.set(answerKey, response)
  await context.sendActivity({ type: 'invokeResponse', value: response })
}

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
  return known.some((card) => card.personId === personId && card.activityId === activityId && !isReadyCard(card.key))
}
