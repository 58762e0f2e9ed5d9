import { adminsOf, waitingFor, waitingStage } from '../approvals/index.ts'
import {
  type Conversation,
  chatIfFound,
  chatOf,
  lostRight,
  nothingKnown,
  reached,
  recordUndelivered,
} from '../decisions/index.ts'
import { isForMailbox, lateCard, lateStep, outcomeCard, type Request, type SentCard } from '../requests/index.ts'
import {
  type CardKey,
  cardSubject,
  isDirectoryAway,
  isForApprover,
  isReadyCard,
  noticeOrder,
  notifyOrder,
  PutOff,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import { bundleLinks, nameInLine } from './bundles.ts'
import type { Card, CardOrder, RequestCardOrder } from './card.ts'
import { formOf, shownOf } from './newest-card.ts'
import { noticeOf } from './notice-card.ts'
import { currentCard, type Outbox, type RequestCard } from './outbox.ts'
import { longestSending, type NoticeOrder, type NotificationPorts } from './ports.ts'

/**
 * The attempt, 15 to 30 seconds after the first, at which a card ends silently for a person without a known chat while
 * Microsoft Graph does not answer. Cards for approvers continue. Missed cards are ordered when the chat is found.
 */
const lastLookUp = 4

/** How long a job waits for another one that sends the same card, before it checks the card again. Milliseconds. */
const otherJobCheck = 15_000

/**
 * Delivers one card to one person, once. Writes the record `sending` before the card is sent, so that a later attempt finds
 * a crash in between: then it updates a known card of the request, and sends again only without such a card.
 * `attempt` is the job's, 1 for the first. `job` is its id: of several jobs for one card, only the one that began to send
 * sends again. Throws errors that are worth a retry, and `PutOff` while another job sends the card.
 */
export async function deliverCard(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  order: CardOrder,
  attempt: number,
  job?: string,
): Promise<void> {
  const { ports } = context
  if (attempt > 1 && !('notice' in order)) await updateSent(context, order)
  const card = 'notice' in order ? noticeOf(context, order, job) : await cardOf(context, outbox, order, job)
  if (!card) return
  const isInsistent = card.installs || attempt < lastLookUp
  const conversation = isInsistent
    ? await chatOf(context, card.tenantId, order.personId, { install: card.installs })
    : await chatIfFound(context, card.tenantId, order.personId)
  if (!conversation) return
  if (!(await card.isAllowed())) return
  if (conversation.closed !== undefined) return card.refused(conversation, { why: conversation.closed, closed: true })
  const before = await card.sent()
  if (before && before.state !== 'sending') return card.wasSent(before.state)
  if (before) {
    // Without a stored job: after our own sending, this would be at least the second attempt.
    const isOwn = before.job === undefined ? attempt > 1 : before.job === job
    const begunBefore = isOwn ? undefined : new Date(ports.clock.now().getTime() - longestSending)
    // The other job may give up, and then nobody else would send the card.
    if (!(await card.takeOver({ from: before.job, begunBefore })))
      throw new PutOff(`another job sends the card ${card.name}`, otherJobCheck)
  }
  if (before && (await card.updateInstead(conversation))) return
  const known = await card.content()
  // Without this record, a later job may send the card when there is something to show again.
  if (!known) return before && card.release()
  const content = before ? known : await card.claim(conversation, known)
  if (!content) return
  const result = await outbox
    .send(conversation, content, card.name, await card.place())
    .catch(async (error: unknown) => {
      // The record of an earlier lost answer stays, or a chat that answers at random would get cards without end.
      if (!before) await card.release()
      if (error instanceof PutOff && !before && (await card.isReplaced(conversation, error))) return undefined
      throw error
    })
  if (!result) return
  if (result.state === 'undeliverable') return card.refused(conversation, result)
  // A second lost answer ends it: a chat that accepts cards without answering must not be filled with them.
  if (result.state === 'unknown' && !before) throw new Error(`the answer to the card ${card.name} was lost`)
  await card.keep(conversation, result)
}

/** A card about a request; undefined: it is out of date. */
async function cardOf(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  { requestId, personId, card: key }: RequestCardOrder,
  job: string | undefined,
): Promise<Card | undefined> {
  const { ports } = context
  const request = await ports.requests.find(requestId)
  if (!request || !isStillDue(request, key) || !isDecisionPending(request, key, personId)) return undefined
  const { sentCards } = ports
  const forApprover = isForApprover(key)
  const name = nameInLine(requestId, key)
  const recordIn = ({ conversationId }: Conversation, state: SentCard['state'], activityId: string | null) => {
    return { requestId, personId, key, conversationId, activityId, state }
  }
  const show = (of: CardKey) => currentCard(context, request, of, personId)
  let sentContent: RequestCard | undefined
  const refused: Card['refused'] = (conversation, refusal) =>
    recordUndelivered(context, request, conversation, key, refusal)
  return {
    tenantId: request.tenantId,
    name,
    async sent() {
      const found = await sentCards.find(requestId, personId, key)
      if (found?.state !== 'withdrawn') return found
      // People who have the right again get a new card: the withdrawn one shows nothing.
      if (await lostRight(context, request, { personId, key })) return found
      await sentCards.remove(requestId, personId, key)
      return undefined
    },
    async claim(conversation, content) {
      const record = { ...recordIn(conversation, 'sending', null), ...(job !== undefined && { job }) }
      return (await sentCards.claim(record)) ? content : undefined
    },
    takeOver: (change) => sentCards.takeOver({ requestId, personId, key }, { ...change, to: job }),
    release: () => sentCards.release({ requestId, personId, key }, job),
    keep: (conversation, result) =>
      result.state === 'sent'
        ? arrived(
            context,
            { ...recordIn(conversation, 'sent', result.activityId), ...shownBy(sentContent, key) },
            request,
          )
        : sentCards.put(recordIn(conversation, 'unknown', null)),
    refused,
    async content() {
      sentContent = await show(key)
      return withHelpers(context, sentContent)
    },
    installs: forApprover,
    isAllowed: () => mayHave(context, request, { personId, key }),
    wasSent: async (state) => (forApprover && state !== 'withdrawn' ? reached(context, request, personId) : undefined),
    place: async () => ({ rank: forApprover || cardSubject(key).kind === 'outcome' ? 'first' : 'new' }),
    isReplaced: async (conversation, full) =>
      isReadyCard(key) &&
      personId === request.requester.id &&
      (await bundleLinks(context, request, conversation, full)),
    async updateInstead(conversation) {
      // A card about a webhook shows what happened then, which no other card of the request shows.
      if (cardSubject(key).kind === 'webhook') return false
      const known = await sentCards.find(requestId, personId, 'status')
      if (known?.state !== 'sent' || !known.activityId) return false
      const result = await outbox.update(
        conversation,
        known.activityId,
        await show(known.key),
        nameInLine(requestId, known.key),
      )
      if (result === 'gone') {
        await sentCards.remove(requestId, personId, known.key)
        return false
      }
      await (result === 'updated'
        ? sentCards.put(recordIn(conversation, 'unknown', null))
        : refused(conversation, result))
      return true
    },
  }
}

/** Returns what the record of a card that was sent says about its content, so that it is not updated to the same content. */
const shownBy = (content: RequestCard | undefined, key: CardKey): Pick<SentCard, 'shown'> =>
  content ? { shown: shownOf({ facts: nothingKnown, ...content }, { key }) } : {}

/** Adds the admins who can give access to a card that announces a mailbox which its requester cannot open. */
async function withHelpers(
  { ports, settings }: SystemContext<NotificationPorts>,
  card: RequestCard,
): Promise<RequestCard> {
  const { request } = card
  if (card.kind !== 'ready' || !isForMailbox(request) || request.kind !== 'sharedMailbox') return card
  if (request.details.permissions[request.requester.id] === 'FullAccess') return card
  // Without an answer of the directory, the card names nobody.
  const admins = await adminsOf(ports, settings).catch((error: unknown) => {
    if (error instanceof TenantError) return []
    throw error
  })
  return { ...card, helpers: admins.filter(({ id }) => id !== request.requester.id).slice(0, 3) }
}

/** Whether a card still applies: the request may have changed while the card waited. */
export function isStillDue(request: Request, key: CardKey): boolean {
  const subject = cardSubject(key)
  switch (subject.kind) {
    case 'approval':
    case 'reminder':
    case 'warning':
      return waitingStage(request, subject.stage) !== undefined
    case 'address':
      return request.addressConflict !== undefined
    case 'stuck':
      return subject.state === request.status
    case 'late':
      return lateStep(request) !== undefined && key === lateCard(request)
    case 'outcome':
      return subject.state === 'succeeded' ? request.followUp.state === 'announced' : key === outcomeCard(request)
    case 'status':
    case 'earlier':
    case 'webhook':
      return true
  }
}

/** Whether the decision of the person is still pending, if the card is for an approver. */
const isDecisionPending = ({ approvals }: Request, key: CardKey, personId: string): boolean =>
  !isForApprover(key) || waitingFor(approvals).some(({ id }) => id === personId)

/**
 * Whether a person has the right that a card needs, before it is sent. The first approvers were found a moment ago, so they
 * need no check. Reminders are sent also while the directory does not answer.
 */
async function mayHave(
  context: SystemContext<NotificationPorts>,
  request: Request,
  of: Pick<SentCard, 'personId' | 'key'>,
): Promise<boolean> {
  const { kind } = cardSubject(of.key)
  if (kind === 'approval') return true
  try {
    return (await lostRight(context, request, of)) === undefined
  } catch (error) {
    if (kind === 'reminder' && isDirectoryAway(error)) return true
    throw error
  }
}

/**
 * Records a card that arrived, and orders its update if the request changed meanwhile. Earlier cards of the person shrink to
 * one line.
 */
async function arrived(context: SystemContext<NotificationPorts>, card: SentCard, shown: Request): Promise<void> {
  const { ports } = context
  await ports.sentCards.put(card)
  if (isForApprover(card.key)) await reached(context, shown, card.personId)
  const { requestId, personId } = card
  const now = await ports.requests.find(requestId)
  if (!now) return
  const { version } = now
  const all = await ports.sentCards.ofRequest(requestId)
  const order = { v: 1, requestId, version, cards: 'all' } as const
  if (version !== shown.version) await ports.jobs.enqueue([{ name: 'refresh-cards', payload: order }])
  else if (all.some((one) => one.personId === personId && one.state === 'sent' && formOf(now, one, all) !== 'full'))
    await ports.jobs.enqueue([{ name: 'refresh-cards', payload: { ...order, personId } }])
}

/**
 * Orders the update of a card that an earlier attempt has sent: its process may have been killed before `arrived` ordered it. One
 * transaction for the record and the order would take longer than the record alone, and a card without a record is never updated.
 */
async function updateSent(
  { ports }: SystemContext<NotificationPorts>,
  { requestId, personId, card: key }: RequestCardOrder,
): Promise<void> {
  const sent = await ports.sentCards.find(requestId, personId, key)
  const request = sent?.state === 'sent' ? await ports.requests.find(requestId) : undefined
  if (!request) return
  const payload = { v: 1, requestId, version: request.version, cards: 'all', personId } as const
  await ports.jobs.enqueue([{ name: 'refresh-cards', payload }])
}

/**
 * Orders a card for each person who is an admin now. An admin who is the requester gets their own card about the end or a
 * delay of the request, so not this one.
 */
export async function notifyAdmins(
  { ports, settings }: SystemContext<NotificationPorts>,
  about: Pick<RequestCardOrder, 'requestId' | 'card'> | Pick<NoticeOrder, 'notice'>,
): Promise<void> {
  const request = 'card' in about ? await ports.requests.find(about.requestId) : undefined
  if ('card' in about && !request) return
  const admins = await adminsOf(ports, settings)
  if (!('card' in about))
    return ports.jobs.enqueue(admins.map(({ id }) => noticeOrder(settings.tenantId, id, about.notice)))
  const { kind } = cardSubject(about.card)
  const without = kind === 'outcome' || kind === 'late' ? request?.requester.id : undefined
  const people = admins.filter(({ id }) => id !== without)
  await ports.jobs.enqueue(people.map(({ id }) => notifyOrder(about.requestId, id, about.card)))
}
