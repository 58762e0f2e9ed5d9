import { adminsOf, waitingFor, waitingStage } from '../approvals/index.ts'
import { chatIfFound, chatOf, isAdminStill, lostRight, reached, recordUndelivered } from '../decisions/index.ts'
import { erasureNotice } from '../privacy/index.ts'
import {
  type ChatRefusal,
  type Conversation,
  isAtWork,
  lateCard,
  lateStep,
  type NoticeOrder,
  outcomeCard,
  type Request,
  type SentCard,
} from '../requests/index.ts'
import {
  type CardKey,
  cardSubject,
  isDirectoryAway,
  isForApprover,
  type JobPayload,
  noticeSubject,
  notifyOrder,
  type SystemContext,
  tellOrder,
} from '../shared/index.ts'
import { readDigestNotice } from './digest.ts'
import { readHealthNotice } from './health-watch.ts'
import { type CardContent, type NoticeContent, type Outbox, requestCard } from './outbox.ts'
import type { NotificationPorts, SendResult } from './ports.ts'

/** One card for one person: about a request, or a notice about no one request. */
export type CardOrder = RequestCardOrder | NoticeOrder
type RequestCardOrder = Omit<JobPayload<'notify'>, 'v'>

/** What the two kinds of cards do differently on their way. */
interface Card {
  readonly tenantId: string
  /** Tells the card from others that wait for the same chat. */
  readonly name: string
  /** The record that it is on its way, or was sent; absent: it was not. */
  sent(): Promise<Pick<SentCard, 'state' | 'updatedAt'> | undefined>
  /** Writes the record before the card goes out; false when there is one already, so that of two at work one sends. */
  claim(conversation: Conversation): Promise<boolean>
  /** Deletes the record of a card that surely did not arrive. */
  release(): Promise<void>
  /** Keeps that it was sent. `unknown`: whether it arrived is not known, and it is sent no more. */
  keep(conversation: Conversation, result: Exclude<SendResult, ChatRefusal>): Promise<void>
  /** Keeps that the chat does not take it. */
  refused(conversation: Conversation, refusal: Pick<ChatRefusal, 'why' | 'closed'>): Promise<void>
  /** What it shows now; undefined: there is nothing to say any more. */
  content(): Promise<CardContent | undefined>
  /** Whether the app is installed for its person, if they have no chat with the bot. */
  readonly installs: boolean
  /** Whether its person may have it. */
  isAllowed(): Promise<boolean>
  /** It was sent before. */
  wasSent(state: SentCard['state']): Promise<void>
  /** Updates a card that its person has instead of sending again; false: there is none. */
  updateInstead(conversation: Conversation): Promise<boolean>
}

/**
 * The attempt at which a card ends quietly for a person without a known chat while Microsoft Graph does not answer, 15 to 30
 * seconds after the first. Cards of approvers go on. What a person has missed of their requests is ordered when their chat is found.
 */
const lastLookUp = 4

/**
 * Delivers one card to one person, once. The record `sending` is written before the card goes out, so that a process that dies in
 * between is seen afterwards: then a card of the request that we know is updated instead, and only where there is none the card is
 * sent once more. `attempt` is the job's, 1 for the first. Throws what makes sense to try again.
 */
export async function deliverCard(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  order: CardOrder,
  attempt: number,
): Promise<void> {
  const { ports } = context
  const card = 'notice' in order ? noticeOf(context, order) : await cardOf(context, outbox, order)
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
  // Another job is sending it now, and completes it: of our own sending this would be at least the second attempt.
  if (before && attempt === 1 && isAtWork(before, ports.clock.now())) return
  if (before && (await card.updateInstead(conversation))) return
  const content = await card.content()
  if (!content || (!before && !(await card.claim(conversation)))) return
  const result = await outbox.send(conversation, content, card.name).catch(async (error: unknown) => {
    // A lost answer of an earlier attempt stays known, or a chat that answers at random would be sent to without end.
    if (!before) await card.release()
    throw error
  })
  if (result.state === 'undeliverable') return card.refused(conversation, result)
  // A second lost answer is enough: a chat that takes cards without ever answering must not be filled with them.
  if (result.state === 'unknown' && !before) throw new Error(`the answer to the card ${card.name} was lost`)
  await card.keep(conversation, result)
}

/** A card about a request; undefined: its subject moved on while it waited. */
async function cardOf(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  { requestId, personId, card: key }: RequestCardOrder,
): Promise<Card | undefined> {
  const { ports } = context
  const request = await ports.requests.find(requestId)
  if (!request || !stillToTell(request, key) || !stillAsked(request, key, personId)) return undefined
  const { sentCards } = ports
  const forApprover = isForApprover(key)
  const name = `${requestId} ${key}`
  const recordIn = ({ conversationId }: Conversation, state: SentCard['state'], activityId: string | null) => {
    return { requestId, personId, key, conversationId, activityId, state }
  }
  const show = (of: CardKey) => requestCard(request, of, personId, ports.clock.now())
  const refused: Card['refused'] = (conversation, refusal) =>
    recordUndelivered(context, request, conversation, key, refusal)
  return {
    tenantId: request.tenantId,
    name,
    async sent() {
      const found = await sentCards.find(requestId, personId, key)
      if (found?.state !== 'withdrawn') return found
      // People who have a right again get a card again: the one from before says only that they lost it.
      if (await lostRight(context, request, { personId, key })) return found
      await sentCards.remove(requestId, personId, key)
      return undefined
    },
    claim: (conversation) => sentCards.claim(recordIn(conversation, 'sending', null)),
    release: () => sentCards.remove(requestId, personId, key),
    keep: (conversation, result) =>
      result.state === 'sent'
        ? arrived(context, recordIn(conversation, 'sent', result.activityId), request)
        : sentCards.put(recordIn(conversation, 'unknown', null)),
    refused,
    content: async () => show(key),
    installs: forApprover,
    isAllowed: () => mayHave(context, request, { personId, key }),
    wasSent: async (state) => (forApprover && state !== 'withdrawn' ? reached(context, request, personId) : undefined),
    async updateInstead(conversation) {
      // A card about a webhook shows what happened then, which no other card of the request shows.
      if (cardSubject(key).kind === 'webhook') return false
      const known = await sentCards.find(requestId, personId, 'status')
      if (known?.state !== 'sent' || !known.activityId) return false
      const became = await outbox.update(conversation, known.activityId, show(known.key), `${requestId} ${known.key}`)
      if (became === 'gone') {
        await sentCards.remove(requestId, personId, known.key)
        return false
      }
      await (became === 'updated'
        ? sentCards.put(recordIn(conversation, 'unknown', null))
        : refused(conversation, became))
      return true
    },
  }
}

/** Whether a card about a request still says something: its subject may have moved on while it waited. */
export function stillToTell(request: Request, key: CardKey): boolean {
  const subject = cardSubject(key)
  switch (subject.kind) {
    case 'approval':
    case 'reminder':
    case 'warning':
      return waitingStage(request, subject.stage) !== undefined
    case 'stuck':
      return subject.state === request.status
    case 'late':
      return lateStep(request) !== undefined && key === lateCard(request)
    case 'outcome':
      return subject.state === 'succeeded' ? request.followUp.state === 'announced' : key === outcomeCard(request)
    case 'status':
    case 'webhook':
      return true
  }
}

/** A person who decided, or whose decision is not waited for any more, gets no card to decide on. */
const stillAsked = ({ approvals }: Request, key: CardKey, personId: string): boolean =>
  !isForApprover(key) || waitingFor(approvals).some(({ id }) => id === personId)

/**
 * Whether a person has the right that a card needs before the card is sent. Approvers who are asked first were found a moment ago.
 * Reminders go on while the directory does not answer.
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

/** Keeps a card that arrived. If the request moved on while the card was under way, the card is updated. */
async function arrived(context: SystemContext<NotificationPorts>, card: SentCard, shown: Request): Promise<void> {
  const { ports } = context
  await ports.sentCards.put(card)
  if (isForApprover(card.key)) await reached(context, shown, card.personId)
  const { requestId } = card
  const now = await ports.requests.find(requestId)
  if (!now || now.version === shown.version) return
  const { version } = now
  await ports.jobs.enqueue([{ name: 'refresh-cards', payload: { v: 1, requestId, version, cards: 'all' } }])
}

/** A card about no one request. A person without a chat gets none, and nothing says so. */
function noticeOf(context: SystemContext<NotificationPorts>, order: NoticeOrder): Card {
  const { ports } = context
  const { notices } = ports
  return {
    tenantId: order.tenantId,
    name: order.notice,
    sent: () => notices.find(order),
    claim: () => notices.claim(order),
    release: () => notices.remove(order),
    keep: (_, { state }) => notices.put(order, state),
    async refused(conversation, { why, closed }) {
      if (conversation.closed !== undefined) return
      await notices.put(order, 'unknown')
      if (closed) await ports.conversations.close(conversation, why, ports.clock.now())
    },
    content: async () => ((await mayBeTold(context, order)) ? noticeContent(context, order) : undefined),
    installs: false,
    isAllowed: async () => true,
    wasSent: async () => undefined,
    updateInstead: async () => false,
  }
}

/** What a notice says now; undefined: there is nothing to say any more. */
function noticeContent(
  context: SystemContext<NotificationPorts>,
  order: NoticeOrder,
): Promise<NoticeContent | undefined> {
  const { ports } = context
  const subject = noticeSubject(order.notice)
  switch (subject.kind) {
    case 'health':
      return readHealthNotice(ports, order, subject)
    case 'erased':
      return erasureNotice(context, order, subject)
    case 'digest':
      return readDigestNotice(context, order, subject.day)
  }
}

/**
 * Whether a notice is still for a person: health and erasures are for admins, and a summary checks this itself. While the directory
 * does not answer, its own trouble is shown to the admins who were known.
 */
async function mayBeTold(
  context: SystemContext<NotificationPorts>,
  { personId, notice }: NoticeOrder,
): Promise<boolean> {
  const { kind } = noticeSubject(notice)
  if (kind === 'digest') return true
  return isAdminStill(context, personId).catch((error: unknown) => {
    if (kind === 'health' && isDirectoryAway(error)) return true
    throw error
  })
}

/**
 * Orders a card for each admin. The directory is asked now who is an admin, so a former one gets none. Requesters get a card of their
 * own about the end of their request and about a delay, so not this one too.
 */
export async function notifyAdmins(
  { ports, settings }: SystemContext<NotificationPorts>,
  about: Pick<RequestCardOrder, 'requestId' | 'card'> | Pick<NoticeOrder, 'notice'>,
): Promise<void> {
  const request = 'card' in about ? await ports.requests.find(about.requestId) : undefined
  if ('card' in about && !request) return
  const admins = await adminsOf(ports, settings)
  if (!('card' in about))
    return ports.jobs.enqueue(admins.map(({ id }) => tellOrder(settings.tenantId, id, about.notice)))
  const { kind } = cardSubject(about.card)
  const without = kind === 'outcome' || kind === 'late' ? request?.requester.id : undefined
  const people = admins.filter(({ id }) => id !== without)
  await ports.jobs.enqueue(people.map(({ id }) => notifyOrder(about.requestId, id, about.card)))
}
