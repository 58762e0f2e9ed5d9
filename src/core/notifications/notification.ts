import { personOrMembers, waitingFor, waitingStage } from '../approvals/index.ts'
import { couldNotTell, lostRight, reached } from '../decisions/index.ts'
import {
  askApprovers,
  type Conversation,
  isAtWork,
  outcomeCard,
  type Request,
  type SentCard,
  tellRequester,
} from '../requests/index.ts'
import {
  type CardKey,
  isDirectoryAway,
  isForApprover,
  type JobOrder,
  type JobPayload,
  jobId,
  PutOff,
  type Settings,
  TenantError,
} from '../shared/index.ts'
import type { NotificationPorts, Outbox } from './ports.ts'

/**
 * Sends one card to one person, once. "Sending" is written down before the card goes out, so a process that dies in
 * between is seen afterwards: then a card of the request that we know of is brought up to date instead of sending
 * again, and only where there is none is it sent once more. `attempt` is the job's, 1 for the first. A chat that does not
 * take our cards is not written to, and that somebody was not told is noted.
 */
export async function deliverCard(
  ports: NotificationPorts,
  settings: Settings,
  outbox: Outbox,
  order: { requestId: string; personId: string; card: CardKey },
  attempt: number,
): Promise<void> {
  const { requestId, personId, card: key } = order
  const request = await ports.requests.find(requestId)
  const conversation = request && (await ports.conversations.ofPerson(request.tenantId, personId))
  if (!request || !stillToTell(request, key) || !stillAsked(request, key, personId)) return
  if (!conversation) return isForApprover(key) ? ports.tenant.installApp(personId) : undefined
  if (await mayNotHave(ports, settings, request, { personId, key })) return
  if (conversation.closed !== undefined)
    return couldNotTell(ports, settings, request, conversation, key, { why: conversation.closed, closed: true })
  const { conversationId } = conversation
  const found = await ports.sentCards.find(requestId, personId, key)
  // People who have a right again get a card again: the one from before says only that they lost it.
  const isWithdrawn = found?.state === 'withdrawn'
  if (isWithdrawn && (await lostRight(ports, settings, request, { personId, key }))) return
  if (isWithdrawn) await ports.sentCards.remove(requestId, personId, key)
  const before = isWithdrawn ? undefined : found
  if (before && before.state !== 'sending')
    return isForApprover(key) ? reached(ports, settings, request, personId) : undefined
  // Another job is sending it just now, and sees to its end: of our own sending this would be at least the second attempt.
  if (before && attempt === 1 && isAtWork(before, ports.clock.now())) return
  const known = before && !isOfWebhook(key) ? await knownCard(ports, requestId, personId) : undefined
  const card: SentCard = { requestId, personId, key, conversationId, activityId: null, state: 'sending' }
  if (known?.activityId) {
    const became = await outbox.update(conversation, known.activityId, request, known.key)
    if (became === 'updated') return ports.sentCards.put({ ...card, state: 'unknown' })
    if (became !== 'gone') return couldNotTell(ports, settings, request, conversation, key, became)
    await ports.sentCards.remove(requestId, personId, known.key)
  }
  if (!before && !(await ports.sentCards.claim(card))) return
  const result = await outbox.send(conversation, request, key).catch(async (error: unknown) => {
    // That an earlier answer was lost stays known, or a chat that answers at random would be sent to without end.
    if (!before) await ports.sentCards.remove(requestId, personId, key)
    throw error
  })
  if (result.state === 'sent')
    return arrived(ports, settings, { ...card, state: 'sent', activityId: result.activityId }, request)
  if (result.state === 'undeliverable') return couldNotTell(ports, settings, request, conversation, key, result)
  // A second lost answer is enough: a chat that takes cards without ever answering must not be filled with them.
  if (before) return ports.sentCards.put({ ...card, state: 'unknown' })
  throw new Error(`the answer to card ${key} of ${requestId} was lost`)
}

/** A card that waited while its subject moved on says nothing any more. */
function stillToTell(request: Request, key: CardKey): boolean {
  if (isForApprover(key) || key.startsWith('warning:'))
    return waitingStage(request, Number(key.split(':')[1])) !== undefined
  if (key.startsWith('stuck:')) return key.startsWith(`stuck:${request.status}:`)
  if (key === 'outcome:succeeded') return request.followUp.state === 'announced'
  return key === 'status' || isOfWebhook(key) || key === outcomeCard(request)
}

/** Whoever decided, or was asked no more, while the card waited is not asked by it. */
const stillAsked = ({ approvals }: Request, key: CardKey, personId: string): boolean =>
  !isForApprover(key) || waitingFor(approvals).some(({ id }) => id === personId)

/**
 * Whether somebody has lost the right that a card needs before the card was sent. Approvers who are asked first were found a moment
 * ago. Reminders go on while the directory does not answer.
 */
async function mayNotHave(
  ports: NotificationPorts,
  settings: Settings,
  request: Request,
  of: Pick<SentCard, 'personId' | 'key'>,
): Promise<boolean> {
  if (of.key.startsWith('approval:')) return false
  try {
    return (await lostRight(ports, settings, request, of)) !== undefined
  } catch (error) {
    if (isForApprover(of.key) && isDirectoryAway(error)) return false
    throw error
  }
}

/** What admins are told of a receiver: it stays as it was said, and no card of the request tells it too. */
const isOfWebhook = (key: CardKey): boolean => key.startsWith('webhook:')

/** The card that tells whatever there is to tell of a request: its status card in this person's chat. */
async function knownCard(ports: NotificationPorts, requestId: string, personId: string): Promise<SentCard | undefined> {
  const card = await ports.sentCards.find(requestId, personId, 'status')
  return card?.state === 'sent' ? card : undefined
}

/** Notes a card that arrived. While it was under way the request may have moved on; then it is brought after it. */
async function arrived(ports: NotificationPorts, settings: Settings, card: SentCard, shown: Request): Promise<void> {
  await ports.sentCards.put(card)
  if (isForApprover(card.key)) await reached(ports, settings, shown, card.personId)
  const { requestId } = card
  const now = await ports.requests.find(requestId)
  if (!now || now.version === shown.version) return
  const { version } = now
  await ports.jobs.enqueue([{ name: 'refresh-cards', payload: { v: 1, requestId, version, cards: 'all' } }])
}

type RefreshOrder = Omit<JobPayload<'refresh-cards'>, 'v'>

/**
 * Brings the cards of a request that are in chats to its present state; once more when it moved on meanwhile, so the
 * newest state wins whoever else is at it. A step's job has nothing to do when a later one is already on its way. One
 * chat that does not take its card keeps no other from its own, and one that was sent enough for now is come back to alone.
 */
export async function refreshCards(
  ports: NotificationPorts,
  settings: Settings,
  outbox: Outbox,
  order: RefreshOrder,
): Promise<void> {
  const { requestId, version, cards, personId } = order
  const request = await ports.requests.find(requestId)
  if (!request || (cards === 'status' && request.version > version)) return
  const shown = (await ports.sentCards.ofRequest(requestId)).filter(
    (card) =>
      (personId === undefined || card.personId === personId) &&
      card.key !== 'outcome:succeeded' &&
      (cards === 'all' || !isForApprover(card.key)),
  )
  const updates = await Promise.allSettled(shown.map((card) => refreshCard(ports, settings, outbox, request, card)))
  const after = await ports.requests.find(requestId)
  if (after && after.version !== request.version)
    await refreshCards(ports, settings, outbox, { ...order, version: after.version })
  const refused: unknown[] = updates.map((update) => (update.status === 'rejected' ? update.reason : undefined))
  const full = shown.flatMap((card, index): [string, PutOff][] => {
    const error = refused[index]
    return error instanceof PutOff ? [[card.personId, error]] : []
  })
  if (personId !== undefined && full[0]) throw full[0][1]
  await ports.jobs.enqueue([...new Map(full)].map(([of, error]) => comeBack(ports, { ...order, personId: of }, error)))
  const failures = refused.filter((error) => error !== undefined && !(error instanceof PutOff))
  const worthAnother = failures.find((error) => !(error instanceof TenantError && !error.retryable))
  if (failures.length > 0) throw worthAnother ?? failures[0]
}

/** The same order for one person's cards, when their chat has room again. */
function comeBack({ clock }: NotificationPorts, order: RefreshOrder, { putOffMilliseconds }: PutOff): JobOrder {
  const startAfter = new Date(clock.now().getTime() + putOffMilliseconds)
  return { name: 'refresh-cards', payload: { v: 1, ...order }, startAfter }
}

/** Updates one card. It is withdrawn instead, once, if its person has lost the right that it needed. */
async function refreshCard(
  ports: NotificationPorts,
  settings: Settings,
  outbox: Outbox,
  request: Request,
  card: SentCard,
): Promise<void> {
  const { requestId, personId, key, activityId, state } = card
  if (state !== 'sent' || activityId === null) return
  const conversation = await ports.conversations.ofPerson(request.tenantId, personId)
  if (!conversation || conversation.closed !== undefined) return
  const lost = await lostRight(ports, settings, request, card)
  // A card about a webhook does not follow the request. It is only withdrawn.
  if (!lost && isOfWebhook(key)) return
  const became = lost
    ? await outbox.withdraw(conversation, activityId, lost, `${requestId} ${key}`)
    : await outbox.update(conversation, activityId, request, key)
  if (became === 'updated') return lost ? ports.sentCards.put({ ...card, state: 'withdrawn' }) : undefined
  if (became === 'gone') return ports.sentCards.remove(requestId, personId, key)
  if (became.closed) await ports.conversations.close(conversation, became.why, ports.clock.now())
}

/** One card for each admin. Who is an admin is asked now, so a former one is told nothing. */
export async function notifyAdmins(
  ports: NotificationPorts,
  settings: Settings,
  requestId: string,
  card: CardKey,
): Promise<void> {
  const request = await ports.requests.find(requestId)
  if (!request) return
  const people = (await Promise.all(settings.admins.map((id) => personOrMembers(ports, id)))).flat()
  // Requesters are told how their own request ended by a card of their own, but of nothing else.
  const told = card.startsWith('outcome:') ? request.requester.id : undefined
  const ids = new Set(people.map(({ id }) => id).filter((id) => id !== told))
  await ports.jobs.enqueue(
    [...ids].map(
      (personId): JobOrder => ({
        name: 'notify',
        payload: { v: 1, requestId, personId, card },
        id: jobId('notify', requestId, personId, card),
      }),
    ),
  )
}

/**
 * Remembers a personal chat. What a person has missed who had none, or had the bot taken out of it (`installed`: it is back
 * in), is ordered with it, so no death in between loses it.
 */
export async function meet(ports: NotificationPorts, conversation: Conversation, installed: boolean): Promise<void> {
  const { tenantId, personId } = conversation
  await ports.work.transaction(async () => {
    const isNew = await ports.conversations.put(conversation)
    if (isNew || installed) await ports.jobs.enqueue([{ name: 'catch-up', payload: { v: 1, tenantId, personId } }])
  })
}

/** Whether a person's chat does not take our cards, as far as we know: the next word from them opens it. */
export async function isClosed(ports: NotificationPorts, tenantId: string, personId: string): Promise<boolean> {
  return (await ports.conversations.ofPerson(tenantId, personId))?.closed !== undefined
}

/**
 * What a person has missed whose chat has just become known, or is open again: decisions that wait for them, how their
 * requests ended, and what their status cards should show.
 */
export async function catchUp(ports: NotificationPorts, person: { tenantId: string; id: string }): Promise<void> {
  const { tenantId, id } = person
  const waiting = await ports.requests.list({ tenantId, approverId: id, status: 'pendingApproval', limit: 20 })
  const own = await ports.requests.list({ tenantId, requesterId: id, limit: 20 })
  const orders = [
    ...waiting.flatMap(askApprovers).filter(({ payload }) => 'personId' in payload && payload.personId === id),
    ...own
      .filter(
        (request) =>
          stillToTell(request, outcomeCard(request)) && (request.finishedAt !== null || request.status === 'failed'),
      )
      .map(tellRequester),
  ]
  // A first try may have found no chat and ended, so these are new jobs: whether a card was sent is in the store.
  await ports.jobs.enqueue(orders.map(({ id: _, ...order }): JobOrder => order as JobOrder))
  const cards = await Promise.all(own.map(({ requestId }) => ports.sentCards.find(requestId, id, 'status')))
  const shown = own.filter((_, index) => cards[index]?.state === 'sent')
  await ports.jobs.enqueue(
    shown.map(({ requestId, version }): JobOrder => {
      return { name: 'refresh-cards', payload: { v: 1, requestId, version, cards: 'all', personId: id } }
    }),
  )
}
