import { randomUUID } from 'node:crypto'
import { type Conversation, isAdminStill } from '../decisions/index.ts'
import {
  askApprovers,
  batchJobs,
  lateCard,
  lateStep,
  notifyLate,
  notifyRequester,
  type Request,
  type SentCard,
} from '../requests/index.ts'
import {
  type CardKey,
  type JobOrder,
  noticeOrder,
  notifyOrder,
  refreshBatchOrder,
  type SystemContext,
} from '../shared/index.ts'
import { again } from './bundles.ts'
import type { NotificationPorts } from './ports.ts'

/** The number of approval cards that come one by one. More decisions come as one list. */
const mostSingle = 10
/** A person gets the links of resources that were created within this time, in milliseconds: 30 days. */
const longestAbsence = 30 * 86_400_000
const mostMissed = 200
const mostBatches = 20
/** The size of one read. */
const page = 100

interface Decision {
  readonly request: Request
  readonly key: CardKey
  readonly order: JobOrder
  readonly isSent: boolean
}

/**
 * Orders the cards that a person missed before their chat was known or open again: all decisions that wait for them, the ends
 * of their requests, the cards of their batches, and updates of their status cards. Many decisions come as one list. An admin
 * also gets the cards of requests that are late now.
 */
export async function catchUp(
  context: SystemContext<NotificationPorts>,
  person: { tenantId: string; id: string },
): Promise<void> {
  const { ports } = context
  const { tenantId, id } = person
  const { decisions, ofBatches } = await waitingDecisions(context, person)
  const unsent = decisions.filter(({ isSent }) => !isSent)
  const isList = unsent.length > mostSingle
  const own = await ports.requests.list({ tenantId, requesterId: id, limit: 20 })
  // The card of a batch shows its rows.
  const single = own.filter(({ batch }) => batch === undefined)
  const since = new Date(ports.clock.now().getTime() - longestAbsence)
  const links = await ports.sentCards.unsentLinks({ tenantId, personId: id, since, most: mostMissed })
  if (isList) await bundleApprovals(context, person, unsent)
  const batches = await ports.batches.ofRequester(tenantId, id, mostBatches)
  const orders = [
    // The job of a card that was sent before records that its person can be reached again.
    ...decisions.filter(({ isSent }) => isSent || !isList).map(({ order }) => order),
    ...ofBatches,
    ...batches.map(({ batchId }) => refreshBatchOrder(tenantId, batchId, ports.clock.now())),
    ...links.map((requestId) => notifyOrder(requestId, id, 'outcome:succeeded')),
    ...single.filter(hasEndCard).map(notifyRequester),
    ...single.filter(lateStep).flatMap((request) => notifyLate(request).slice(0, 1)),
  ]
  await ports.jobs.enqueue(again(orders))
  const cards = await ports.sentCards.ofPerson(id, idsOf(own))
  const shown = own.filter(({ requestId }) => cardIn(cards, requestId, 'status')?.state === 'sent')
  await ports.jobs.enqueue(
    shown.map(({ requestId, version }): JobOrder => {
      return { name: 'refresh-cards', payload: { v: 1, requestId, version, cards: 'all', personId: id } }
    }),
  )
  // Last, because the directory has to say whether the person is an admin, and it may not answer.
  const creating = await ports.requests.list({ tenantId, status: 'provisioning', limit: 20, oldestFirst: true })
  const late = creating.filter((request) => lateStep(request) && request.requester.id !== id)
  if (late.length === 0 || !(await isAdminStill(context, id))) return
  await ports.jobs.enqueue(again(late.map((request) => notifyOrder(request.requestId, id, lateCard(request)))))
}

/**
 * Whether the requester has to get a card about the end of a request: not about their own cancellation. A reduced request no longer
 * has the records of its cards, so they would be sent twice. The links of created resources have a query of their own.
 */
const hasEndCard = ({ status, finishedAt, reducedAt, cancelledBy, requester }: Request): boolean =>
  (status === 'failed' || (finishedAt !== null && status !== 'succeeded')) &&
  reducedAt === undefined &&
  cancelledBy?.id !== requester.id

const idsOf = (requests: readonly Request[]): string[] => requests.map(({ requestId }) => requestId)
const cardIn = (cards: readonly SentCard[], requestId: string, key: CardKey): SentCard | undefined =>
  cards.find((card) => card.requestId === requestId && card.key === key)

/**
 * Returns all decisions that wait for a person, the oldest first, and whether the person has a card about each. Rows of a batch
 * have one card, which the orders of `ofBatches` send.
 */
async function waitingDecisions(
  { ports }: SystemContext<NotificationPorts>,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<{ readonly decisions: readonly Decision[]; readonly ofBatches: readonly JobOrder[] }> {
  const decisions: Decision[] = []
  const ofBatches = new Map<string, JobOrder>()
  const about = { tenantId, approverId: id, status: 'pendingApproval', limit: page, oldestFirst: true } as const
  for (let after = 0; ; ) {
    const requests = await ports.requests.list({ ...about, after })
    const cards = await ports.sentCards.ofPerson(id, idsOf(requests))
    for (const request of requests) {
      if (request.batch) {
        for (const order of batchJobs(request, [], ports.clock.now())) ofBatches.set(request.batch.batchId, order)
        continue
      }
      for (const order of askApprovers(request)) {
        if (order.name !== 'notify' || order.payload.personId !== id) continue
        const { card: key } = order.payload
        const known = cardIn(cards, request.requestId, key)
        decisions.push({ request, key, order, isSent: known !== undefined && known.state !== 'withdrawn' })
      }
    }
    const last = requests.at(-1)
    if (!last || requests.length < page) return { decisions, ofBatches: [...ofBatches.values()] }
    after = last.number
  }
}

/** Orders one list instead of a card for each decision. The list shows all decisions that wait when it is sent. */
async function bundleApprovals(
  { ports }: SystemContext<NotificationPorts>,
  { tenantId, id }: { tenantId: string; id: string },
  waiting: readonly Decision[],
): Promise<void> {
  const chat: Conversation | undefined = await ports.conversations.ofPerson(tenantId, id)
  if (!chat) return
  // Each list has its own id: the same decisions may be due again after a refusal of the chat.
  const bundleId = randomUUID()
  const own = {
    personId: id,
    conversationId: chat.conversationId,
    activityId: null,
    state: 'bundled',
    bundleId,
  } as const
  await ports.work.transaction(async () => {
    const cards = waiting.map(({ request, key }) => ({ ...own, requestId: request.requestId, key }))
    const bundled = await ports.sentCards.bundle(cards)
    // Another job may have ordered them meanwhile.
    if (bundled.length > 0) await ports.jobs.enqueue(again([noticeOrder(tenantId, id, `waiting:${bundleId}`)]))
  })
}
