import { chatOf, lostRight } from '../decisions/index.ts'
import type { Request, SentCard } from '../requests/index.ts'
import {
  cardSubject,
  isForApprover,
  type JobOrder,
  type JobPayload,
  PutOff,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import { type Outbox, requestCard } from './outbox.ts'
import type { NotificationPorts } from './ports.ts'

type RefreshOrder = Omit<JobPayload<'refresh-cards'>, 'v'>

/**
 * Brings the cards of a request that are in chats to its present state; once more when it moved on meanwhile, so the
 * newest state wins whoever else is at it. A step's job has nothing to do when a later one is already on its way. One
 * chat that does not take its card keeps no other from its own, and one that was sent enough for now is come back to alone.
 */
export async function refreshCards(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  order: RefreshOrder,
): Promise<void> {
  const { ports } = context
  const { requestId, version, cards, personId } = order
  const request = await ports.requests.find(requestId)
  if (!request || (cards === 'status' && request.version > version)) return
  const shown = (await ports.sentCards.ofRequest(requestId)).filter(
    (card) =>
      (personId === undefined || card.personId === personId) &&
      card.key !== 'outcome:succeeded' &&
      (cards === 'all' || !isForApprover(card.key)),
  )
  const updates = await Promise.allSettled(shown.map((card) => refreshCard(context, outbox, request, card)))
  const after = await ports.requests.find(requestId)
  if (after && after.version !== request.version)
    await refreshCards(context, outbox, { ...order, version: after.version })
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
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  request: Request,
  card: SentCard,
): Promise<void> {
  const { ports } = context
  const { requestId, personId, key, activityId, state } = card
  if (state !== 'sent' || activityId === null) return
  const conversation = await chatOf(context, request.tenantId, personId)
  if (!conversation || conversation.closed !== undefined) return
  const lost = await lostRight(context, request, card)
  // A card about a webhook does not follow the request. It is only withdrawn.
  if (!lost && cardSubject(key).kind === 'webhook') return
  const content = lost ? ({ kind: 'withdrawn', lost } as const) : requestCard(request, key, personId, ports.clock.now())
  const became = await outbox.update(conversation, activityId, content, `${requestId} ${key}`)
  if (became === 'updated') return lost ? ports.sentCards.put({ ...card, state: 'withdrawn' }) : undefined
  if (became === 'gone') return ports.sentCards.remove(requestId, personId, key)
  if (became.closed) await ports.conversations.close(conversation, became.why, ports.clock.now())
}
