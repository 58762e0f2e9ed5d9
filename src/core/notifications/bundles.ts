import { randomUUID } from 'node:crypto'
import { type ChatRefusal, type Conversation, recordUndelivered } from '../decisions/index.ts'
import { approvalsOf, type ListPage, type Request, type SentCard } from '../requests/index.ts'
import {
  type CardKey,
  type JobOrder,
  noticeOrder,
  noticeSubject,
  notifyOrder,
  type PutOff,
  type SystemContext,
} from '../shared/index.ts'
import type { NoticeOrder, NotificationPorts } from './ports.ts'

/** One card with the links of several requests. */
export interface LinksNotice {
  readonly kind: 'links'
  readonly requests: readonly Request[]
}

/**
 * A link that would arrive later after its end, in milliseconds, is bundled with others. Links must arrive within 10 seconds. Single
 * cards that wait longer use up the room of the chat, so that later links come too late.
 */
const linkWithin = 3000
/** Requests that ended this long before a delayed link belong to the same bundle, in milliseconds. */
const sameBundle = 3_600_000
/** Links join a bundle until this age of the bundle, in milliseconds. The job of an older bundle may have failed. */
const waitsFor = 60_000
/** The most links of one card, because Teams limits the size of a card. More links come as several cards. */
export const mostLinks = 19

/** A bundle has less than two cards, or another bundle has the card of this job. */
class TooFew extends Error {}

/** The first page of the list of decisions that wait for a person. */
export interface WaitingNotice {
  readonly kind: 'waiting'
  readonly page: ListPage
}

/** The rows of a page of the list. */
const rowsOfList = 6

/** Returns the first page of the decisions that wait for a person now; undefined without any. */
export async function waitingNotice(
  { ports }: SystemContext<NotificationPorts>,
  { tenantId, personId }: Pick<NoticeOrder, 'tenantId' | 'personId'>,
): Promise<WaitingNotice | undefined> {
  const page = await approvalsOf(ports, { tenantId, id: personId }, rowsOfList)
  return page.requests.length === 0 ? undefined : { kind: 'waiting', page }
}

/**
 * Replaces ready cards that the limits of their chat would delay too long with one card that has their links. Returns
 * whether this request is one of them. A card that can wait for its turn, or is the only one, is not replaced. Nor is one
 * that has room in a bundle that waits: {@link fillBundle} adds it.
 */
export async function bundleLinks(
  { ports }: SystemContext<NotificationPorts>,
  { requestId, tenantId, followUp }: Request,
  { personId, conversationId }: Conversation,
  { putOffMilliseconds }: PutOff,
): Promise<boolean> {
  const now = ports.clock.now().getTime()
  const endedAt = followUp.at === undefined ? now : Date.parse(followUp.at)
  if (now + putOffMilliseconds - endedAt <= linkWithin) return false
  const since = new Date(Math.min(endedAt, now - sameBundle))
  const store = async () => {
    const due = await ports.sentCards.unsentLinks({ tenantId, personId, since, most: mostLinks })
    if (endedAt >= now - sameBundle && due.length <= (await roomFor(ports, { tenantId, personId }))) return false
    // A full list of older links may leave out this request. Its own card comes no more, so the bundle has its link.
    const ids = [requestId, ...due.filter((id) => id !== requestId)].slice(0, mostLinks)
    // Each bundle has its own id: the same requests may be due again after a refusal of the chat.
    const bundleId = randomUUID()
    const bundled = await ports.sentCards.bundle(linkCards(ids, { personId, conversationId, bundleId }))
    if (bundled.length < 2 || !bundled.includes(requestId)) throw new TooFew()
    await ports.jobs.enqueue([noticeOrder(tenantId, personId, `links:${bundleId}`)])
    return true
  }
  return ports.work.transaction(store).catch((error: unknown) => {
    if (error instanceof TooFew) return false
    throw error
  })
}

/** Returns how many links can still join a person's waiting bundles. */
const roomFor = (
  { sentCards, clock }: NotificationPorts,
  person: Pick<NoticeOrder, 'tenantId' | 'personId'>,
): Promise<number> =>
  sentCards.roomInBundles({ ...person, since: new Date(clock.now().getTime() - waitsFor), most: mostLinks })

/** Returns the records of ready cards that a bundle replaces. */
const linkCards = (
  requestIds: readonly string[],
  { personId, conversationId, bundleId }: Pick<SentCard, 'personId' | 'conversationId' | 'bundleId'>,
): SentCard[] =>
  requestIds.map((requestId) => {
    const record = { requestId, personId, key: 'outcome:succeeded', conversationId, activityId: null } as const
    return { ...record, state: 'bundled', ...(bundleId !== undefined && { bundleId }) }
  })

/**
 * Adds the links that are due now to a bundle, when its job has claimed its card. Without this, each of them would start a bundle
 * of its own while this one waits. Links that do not fit are the next bundle.
 */
export async function fillBundle(
  context: SystemContext<NotificationPorts>,
  { tenantId, personId, notice }: NoticeOrder,
): Promise<void> {
  const { ports } = context
  const bundled = await bundledIn(context, { notice })
  const [first] = bundled
  if (!first) return
  const since = new Date(ports.clock.now().getTime() - sameBundle)
  const room = Math.max(0, mostLinks - bundled.length)
  const due = await ports.sentCards.unsentLinks({ tenantId, personId, since, most: room + mostLinks })
  const others = due.slice(room)
  const rest = others.length > Math.max(1, await roomFor(ports, { tenantId, personId })) ? others : []
  const bundleId = randomUUID()
  // One statement stores all, or two processes could wait for each other.
  const cards = [...linkCards(due.slice(0, room), first), ...linkCards(rest, { ...first, bundleId })]
  const stored = await ports.sentCards.bundle(cards)
  if (rest.some((id) => stored.includes(id)))
    await ports.jobs.enqueue([noticeOrder(tenantId, personId, `links:${bundleId}`)])
}

/** Returns the cards that a notice replaces; none for a notice that replaces no cards. */
export async function bundledIn(
  { ports }: SystemContext<NotificationPorts>,
  { notice }: Pick<NoticeOrder, 'notice'>,
): Promise<SentCard[]> {
  const subject = noticeSubject(notice)
  return subject.kind === 'links' || subject.kind === 'waiting' ? ports.sentCards.ofBundle(subject.bundleId) : []
}

/** Returns the requests of a bundle, the oldest first. */
export async function requestsOfBundle(
  { ports }: SystemContext<NotificationPorts>,
  bundled: readonly SentCard[],
): Promise<Request[]> {
  const found = await Promise.all(bundled.map(({ requestId }) => ports.requests.find(requestId)))
  return found.flatMap((request) => request ?? []).sort((one, other) => one.number - other.number)
}

/** Records for each card of a bundle that the chat does not accept it, so that it is sent when the person returns. */
export async function refuseBundle(
  context: SystemContext<NotificationPorts>,
  conversation: Conversation,
  bundled: readonly SentCard[],
  refusal: Pick<ChatRefusal, 'why' | 'closed'>,
): Promise<void> {
  for (const { requestId, key } of bundled) {
    const request = await context.ports.requests.find(requestId)
    if (request) await recordUndelivered(context, request, conversation, key, refusal)
  }
}

/**
 * Orders each card of a bundle alone, after the last attempt to send the card of the bundle failed. Otherwise nobody would get
 * these links or questions. A repeat has no effect. Ignores other notices.
 */
export async function giveUpBundle({ ports }: SystemContext<NotificationPorts>, order: NoticeOrder): Promise<void> {
  const subject = noticeSubject(order.notice)
  if (subject.kind !== 'links' && subject.kind !== 'waiting') return
  const notice = await ports.notices.find(order)
  if (notice && notice.state !== 'sending') return
  await ports.work.transaction(async () => {
    const bundled = await ports.sentCards.dropBundle(subject.bundleId)
    await ports.jobs.enqueue(
      again(bundled.map(({ requestId, personId, key }) => notifyOrder(requestId, personId, key))),
    )
  })
}

/** The same orders as new jobs: a first job may have ended without a card. Whether a card was sent is in the store. */
export const again = (orders: readonly JobOrder[]): JobOrder[] => orders.map(({ id: _, ...order }) => order as JobOrder)

/** Returns the orders to update the other cards of bundled requests: their end is shown below. */
export const refreshBundled = (requests: readonly Request[], personId: string): JobOrder[] =>
  requests.map(({ requestId, version }) => ({
    name: 'refresh-cards',
    payload: { v: 1, requestId, version, cards: 'all', personId },
  }))

/** Returns the name of a card in the line of its chat. */
export const nameInLine = (requestId: string, key: CardKey): string => `${requestId} ${key}`
