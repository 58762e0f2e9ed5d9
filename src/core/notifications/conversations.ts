import { isAdminStill } from '../decisions/index.ts'
import {
  askApprovers,
  type Conversation,
  lateCard,
  lateStep,
  outcomeCard,
  tellLate,
  tellRequester,
} from '../requests/index.ts'
import { type JobOrder, notifyOrder, type SystemContext } from '../shared/index.ts'
import { stillToTell } from './deliver-card.ts'
import type { NotificationPorts } from './ports.ts'

/**
 * Remembers a personal chat. What a person has missed who had none, or had the bot taken out of it (`installed`: it is back
 * in), is ordered with it, so no death in between loses it.
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

/** Whether a person's chat does not take our cards, as far as we know: the next word from them opens it. */
export async function isClosed(
  { ports }: SystemContext<NotificationPorts>,
  tenantId: string,
  personId: string,
): Promise<boolean> {
  return (await ports.conversations.ofPerson(tenantId, personId))?.closed !== undefined
}

/**
 * What a person has missed whose chat has just become known, or is open again: decisions that wait for them, how their
 * requests ended, and what their status cards should show. Of admins also the requests that are late now.
 */
export async function catchUp(
  context: SystemContext<NotificationPorts>,
  person: { tenantId: string; id: string },
): Promise<void> {
  const { ports } = context
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
    ...own.filter(lateStep).flatMap((request) => tellLate(request).slice(0, 1)),
  ]
  await ports.jobs.enqueue(again(orders))
  const cards = await Promise.all(own.map(({ requestId }) => ports.sentCards.find(requestId, id, 'status')))
  const shown = own.filter((_, index) => cards[index]?.state === 'sent')
  await ports.jobs.enqueue(
    shown.map(({ requestId, version }): JobOrder => {
      return { name: 'refresh-cards', payload: { v: 1, requestId, version, cards: 'all', personId: id } }
    }),
  )
  // Last, since the directory has to say whether the person is an admin, and it may not answer.
  const creating = await ports.requests.list({ tenantId, status: 'provisioning', limit: 20, oldestFirst: true })
  const late = creating.filter((request) => lateStep(request) && request.requester.id !== id)
  if (late.length === 0 || !(await isAdminStill(context, id))) return
  await ports.jobs.enqueue(again(late.map((request) => notifyOrder(request.requestId, id, lateCard(request)))))
}

/** The same orders as new jobs: a first job may have found no chat and ended. Whether a card was sent is in the store. */
const again = (orders: readonly JobOrder[]): JobOrder[] => orders.map(({ id: _, ...order }) => order as JobOrder)
