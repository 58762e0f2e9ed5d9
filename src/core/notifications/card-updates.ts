import { z } from 'zod'
import {
  type Conversation,
  chatOf,
  checkForApproval,
  type ForApproval,
  lostRight,
  nothingKnown,
  similarWaiting,
  withKnownFacts,
} from '../decisions/index.ts'
import { type Request, type SentCard, visible } from '../requests/index.ts'
import {
  type Context,
  cardKey,
  cardSubject,
  defineUseCase,
  isForApprover,
  isReadyCard,
  type JobOrder,
  type JobPayload,
  jobId,
  PutOff,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import { nameInLine } from './bundles.ts'
import { type CardForm, formOf, shownOf } from './newest-card.ts'
import { type CardContent, type Outbox, requestCard } from './outbox.ts'
import type { NotificationPorts } from './ports.ts'

type RefreshOrder = Omit<JobPayload<'refresh-cards'>, 'v'>

/**
 * Updates the cards of a request in chats to its present state; again if the request changed meanwhile, so that the
 * newest state wins when several jobs run. The job of a step does nothing when a later one is on its way, and a card that
 * shows this state is not updated. `earlier` is the check of a first update: the next one updates all cards, because a slower
 * update may have replaced them, and checks nothing again. A failure in one chat does not stop the others, and a chat that has
 * reached its limit gets a job of its own.
 */
export async function refreshCards(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  order: RefreshOrder,
  earlier?: ForApproval,
): Promise<void> {
  const { ports } = context
  const { requestId, version, cards, personId } = order
  const request = await ports.requests.find(requestId)
  if (!request || (cards === 'status' && request.version > version)) return
  const all = await ports.sentCards.ofRequest(requestId)
  const sent = all.filter(
    (card) =>
      (personId === undefined || card.personId === personId) &&
      !isReadyCard(card.key) &&
      (cards === 'all' || !isForApprover(card.key)),
  )
  const check = () =>
    sent.some(({ key }) => isForApprover(key)) ? checkForApproval(context, request) : { request, facts: nothingKnown }
  const checked = earlier ? withKnownFacts(request, earlier) : await check()
  const updates = await Promise.allSettled(
    sent.map((card) => refreshCard(context, outbox, checked, card, formOf(request, card, all), earlier !== undefined)),
  )
  if (cards === 'all' && request.status !== 'pendingApproval' && !earlier) await refreshSimilar(context, request)
  const after = await ports.requests.find(requestId)
  const allAfter = await ports.sentCards.ofRequest(requestId)
  const isOutdated = sent.some((card) => {
    const now = allAfter.find(({ personId, key }) => personId === card.personId && key === card.key)
    return now !== undefined && formOf(request, now, allAfter) !== formOf(request, card, all)
  })
  if (after && (after.version !== checked.request.version || isOutdated))
    await refreshCards(context, outbox, { ...order, version: after.version }, checked)
  const refused: unknown[] = updates.map((update) => (update.status === 'rejected' ? update.reason : undefined))
  const full = sent.flatMap((card, index): [string, PutOff][] => {
    const error = refused[index]
    return error instanceof PutOff ? [[card.personId, error]] : []
  })
  if (personId !== undefined && full[0]) throw full[0][1]
  await ports.jobs.enqueue(
    [...new Map(full)].map(([of, error]) => laterOrder(ports, { ...order, personId: of }, error)),
  )
  const failures = refused.filter((error) => error !== undefined && !(error instanceof PutOff))
  const retryable = failures.find((error) => !(error instanceof TenantError && !error.retryable))
  if (failures.length > 0) throw retryable ?? failures[0]
}

/** The period in which all similar requests that end order one update of a waiting request, in milliseconds. */
const similarPeriod = 30_000
/** The update waits this long after its period, in milliseconds: orders may be stored some moments after they are made. */
const similarDelay = 5000

/**
 * Updates the cards of waiting requests with a similar name: they no longer name a request that does not wait any more. Rows of
 * a list often have similar names and end together, and each update asks the directory. So the updates wait for the end of
 * a period, and there is one for each waiting request.
 */
async function refreshSimilar(context: SystemContext<NotificationPorts>, request: Request): Promise<void> {
  const { jobs, clock } = context.ports
  const waiting = await similarWaiting(context, request)
  const period = Math.floor(clock.now().getTime() / similarPeriod)
  const startAfter = new Date((period + 1) * similarPeriod + similarDelay)
  await jobs.enqueue(
    waiting.map(({ requestId, version }) => ({
      name: 'refresh-cards',
      payload: { v: 1, requestId, version, cards: 'all' },
      id: jobId('refresh-similar', requestId, period),
      startAfter,
    })),
  )
}

/** The same order for one person's cards, when their chat has room again. */
function laterOrder({ clock }: NotificationPorts, order: RefreshOrder, { putOffMilliseconds }: PutOff): JobOrder {
  const startAfter = new Date(clock.now().getTime() + putOffMilliseconds)
  return { name: 'refresh-cards', payload: { v: 1, ...order }, startAfter }
}

/** Updates one card. It is withdrawn instead, once, if its person has lost the right that it needed. */
async function refreshCard(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  checked: ForApproval,
  card: SentCard,
  form: CardForm,
  isAgain: boolean,
): Promise<void> {
  const { ports } = context
  const { request } = checked
  const { requestId, personId, key, activityId, state } = card
  const shown = form === 'full' ? shownOf(checked, card) : form
  if (state !== 'sent' || activityId === null) return
  const conversation = await chatOf(context, request.tenantId, personId)
  if (!conversation || conversation.closed !== undefined) return
  const lost = await lostRight(context, request, card)
  // A card about a webhook does not follow the request. It is only withdrawn.
  if (!lost && cardSubject(key).kind === 'webhook') return
  if (!lost && !isAgain && card.shown === shown) return
  // The check of the rights took time. A form or a notice that has replaced the card meanwhile must stay.
  const now = await ports.sentCards.find(requestId, personId, key)
  if (now?.activityId !== activityId || now.state !== 'sent') return
  const content = lost ? ({ kind: 'withdrawn', lost } as const) : contentOf(checked, card, form, ports.clock.now())
  const result = await outbox.update(conversation, activityId, content, nameInLine(requestId, key))
  if (result === 'updated') {
    if (lost) return ports.sentCards.put({ ...card, state: 'withdrawn' })
    // Nothing updates an earlier activity again.
    if (cardSubject(key).kind === 'earlier') return ports.sentCards.remove(requestId, personId, key)
    return ports.sentCards.noteShown(card, shown)
  }
  if (result === 'gone') return ports.sentCards.remove(requestId, personId, key)
  if (result.closed) await ports.conversations.close(conversation, result.why, ports.clock.now())
}

const contentOf = (
  { request, facts }: ForApproval,
  { key, personId }: SentCard,
  form: CardForm,
  now: Date,
): CardContent => (form === 'full' ? requestCard(request, key, personId, now, facts) : { kind: 'moved', request, form })

/**
 * Stores which activity shows a request to the actor. An earlier activity with the same card shrinks to one line, so that the
 * chat does not show the request twice. `shown`: the version of the request that the activity shows. If there is a newer one,
 * the update to it may have come before this answer, so it is ordered again.
 */
export const keepCard = defineUseCase({
  permission: 'request.read',
  input: z.object({
    requestId: z.uuid(),
    key: cardKey,
    shown: z.int(),
    conversationId: z.string(),
    activityId: z.string(),
  }),
  async handle({ ports, actor }: Context<NotificationPorts>, { shown, ...activity }) {
    const { requestId, key, conversationId, activityId } = activity
    const [request, sent] = await Promise.all([ports.requests.find(requestId), ports.sentCards.ofRequest(requestId)])
    const { version } = visible(actor, request)
    const own = sent.filter(({ personId, state }) => personId === actor.id && state === 'sent')
    // A clicked reminder stays a reminder, so that the first card is still updated.
    const same = own.find((card) => card.activityId === activityId && !isReadyCard(card.key))
    // The answer has replaced the form that the card had.
    if (same && version === shown) return ports.sentCards.noteShown(same, 'answer')
    const earlier = same ? undefined : own.find((card) => card.key === key && card.activityId !== activityId)
    const earlierId = earlier?.conversationId === conversationId ? earlier.activityId : null
    await ports.work.transaction(async () => {
      if (same) await ports.sentCards.noteShown(same, 'answer')
      else await ports.sentCards.put({ ...activity, personId: actor.id, state: 'sent' })
      if (earlier && earlierId !== null) await ports.sentCards.put({ ...earlier, key: `earlier:${earlierId}` })
      if (earlierId === null && version === shown) return
      // Without an earlier card, the update of a later step makes this one unnecessary.
      const cards = earlierId === null && !isForApprover(key) ? 'status' : 'all'
      const payload = { v: 1, requestId, version, cards, personId: actor.id } as const
      await ports.jobs.enqueue([{ name: 'refresh-cards', payload }])
    })
  },
})

/**
 * Stores that an activity no longer shows the actor's card of a request, because the answer to a click on it was a form or
 * another request. Nothing updates the activity then.
 */
export const forgetCard = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid(), activityId: z.string() }),
  async handle({ ports, actor }: Context<NotificationPorts>, { requestId, activityId }) {
    visible(actor, await ports.requests.find(requestId))
    await ports.sentCards.forgetActivity({ requestId, personId: actor.id, activityId })
  },
})

/**
 * Stores a personal chat. If it is new, or the bot was installed again (`installed`), orders the cards that the person has
 * missed, in the same transaction.
 */
export async function meet(
  { ports }: SystemContext<NotificationPorts>,
  conversation: Conversation,
  installed = false,
): Promise<void> {
  const { tenantId, personId } = conversation
  await ports.work.transaction(async () => {
    const isNew = await ports.conversations.put(conversation)
    if (isNew || installed) await ports.jobs.enqueue([{ name: 'catch-up', payload: { v: 1, tenantId, personId } }])
  })
}

/** Returns the stored chat of a person: its language and time zone, and whether it accepts our cards. */
export const storedChatOf = (
  { ports }: SystemContext<NotificationPorts>,
  tenantId: string,
  personId: string,
): Promise<Conversation | undefined> => ports.conversations.ofPerson(tenantId, personId)
