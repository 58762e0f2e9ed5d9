import { createHash } from 'node:crypto'
import { openStage } from '../approvals/index.ts'
import {
  askedPeople,
  type BatchProgress,
  type BatchQuestion,
  isBatchOver,
  isBeingSubmitted,
  isRowOver,
  progressOf,
  questionOf,
} from '../batches/index.ts'
import {
  type ChatRefusal,
  type Conversation,
  chatOf,
  lostRight,
  reached,
  recordUndelivered,
} from '../decisions/index.ts'
import type { Request } from '../requests/index.ts'
import {
  type BatchSubject,
  checkBatchOrder,
  type JobOrder,
  type JobPayload,
  noticeOrder,
  noticeSubject,
  PutOff,
  refreshBatchOrder,
  type SystemContext,
} from '../shared/index.ts'
import type { BatchContent, NoticeContent, Outbox, WithdrawnContent } from './outbox.ts'
import { type BatchNotice, isStale, type NoticeCard, type NoticeOrder, type NotificationPorts } from './ports.ts'

/** Returns what a card about a batch shows now; undefined: it is out of date, or its person is not asked. */
async function batchContent(
  context: SystemContext<NotificationPorts>,
  { personId }: Pick<NoticeOrder, 'personId'>,
  subject: BatchSubject,
  known?: BatchProgress,
): Promise<BatchContent | WithdrawnContent | undefined> {
  const { ports } = context
  const progress = known ?? (await readProgress(ports, subject.batchId))
  if (!progress) return undefined
  if (subject.kind !== 'batch-ask') return { kind: subject.kind, isAdmin: false, progress }
  const about = { batch: progress.batch, requests: requestsIn(progress) }
  const question = await questionOf(ports, about, personId, subject.stage)
  const waiting = await withRight(context, question, personId)
  if (question.waiting.length > 0 && waiting.length === 0) return { kind: 'withdrawn', lost: 'approver' }
  return { kind: 'batch-ask', isAdmin: false, question: { ...question, waiting } }
}

async function readProgress(ports: NotificationPorts, batchId: string): Promise<BatchProgress | undefined> {
  const batch = await ports.batches.find(batchId)
  return batch && progressOf(ports, batch)
}

/** The requests of a batch. Approvers have single cards about the others, which an earlier version stored. */
const requestsIn = ({ rows }: BatchProgress): Request[] =>
  rows.flatMap(({ request }) => (request?.batch === undefined ? [] : [request]))

/** Returns the waiting requests that the person may still see. Checks requests with the same approvers once. */
async function withRight(
  context: SystemContext<NotificationPorts>,
  { waiting, stage }: BatchQuestion,
  personId: string,
): Promise<Request[]> {
  const first = new Map(waiting.toReversed().map((request) => [rightOf(request, personId), request]))
  const allowed = new Set<string>()
  for (const [right, request] of first)
    if (!(await lostRight(context, request, { personId, key: `approval:${stage}` }))) allowed.add(right)
  return waiting.filter((request) => allowed.has(rightOf(request, personId)))
}

/** The facts on which the right of an approver depends: equal texts are equal rights. */
const rightOf = ({ requester, approvals }: Request, personId: string): string =>
  JSON.stringify([
    requester.id === personId,
    approvals.map(({ approvers, standIns = [], decisions, membership }) => [
      approvers.some(({ id }) => id === personId),
      standIns.filter(({ person }) => person.id === personId).map(({ by, as }) => [by?.id, as]),
      decisions.some(({ by }) => by.id === personId),
      membership,
    ]),
  ])

/** The facts that a card shows, as a short text: equal texts need no update. */
function shownOf(content: BatchContent | WithdrawnContent): string {
  return createHash('sha256')
    .update(JSON.stringify(factsOf(content)))
    .digest('base64url')
    .slice(0, 16)
}

function factsOf(content: BatchContent | WithdrawnContent): unknown {
  if (content.kind === 'withdrawn') return content
  if (content.kind === 'batch-ask') {
    const { waiting, approved, rejected, over, last } = content.question
    const rows = waiting.map(({ requestId, addressConflict }) => [requestId, addressConflict?.taken])
    return [rows, approved, rejected, over, last?.results]
  }
  const { batch, rows } = content.progress
  return [
    batch.status,
    batch.waitsFor?.code,
    rows.map(({ status, request }) => [
      ...[status, request?.status, request?.followUp.state, request?.addressConflict?.taken],
    ]),
  ]
}

/** Returns what a new card about a batch shows; undefined: nothing is asked, or the summary replaces the progress. */
export async function newBatchContent(
  context: SystemContext<NotificationPorts>,
  order: NoticeOrder,
  subject: BatchSubject,
): Promise<BatchContent | undefined> {
  const content = await batchContent(context, order, subject)
  if (content?.kind === 'withdrawn') return undefined
  if (content?.kind === 'batch' && isBatchOver(content.progress)) return undefined
  return content?.kind === 'batch-ask' && content.question.waiting.length === 0 ? undefined : content
}

export const isBatchContent = (content: NoticeContent): content is BatchContent =>
  content.kind === 'batch' || content.kind === 'batch-end' || content.kind === 'batch-ask'

/** Returns the record of a card that was sent. */
export const batchCardOf = (content: BatchContent, activityId: string): NoticeCard => ({
  activityId,
  shown: shownOf(content),
})

/** Records that a card about a batch did not reach an approver, for each request on it. Ignores other notices. */
export async function batchUndelivered(
  context: SystemContext<NotificationPorts>,
  order: NoticeOrder,
  conversation: Conversation,
  refusal: Pick<ChatRefusal, 'why' | 'closed'>,
): Promise<void> {
  const subject = noticeSubject(order.notice)
  const content = subject.kind === 'batch-ask' ? await batchContent(context, order, subject) : undefined
  if (content?.kind !== 'batch-ask') return
  const { stage, waiting } = content.question
  const isKnown = ({ approvals }: Request): boolean =>
    openStage(approvals)?.unreachable?.some(({ person }) => person.id === order.personId) ?? false
  for (const request of waiting)
    if (!isKnown(request)) await recordUndelivered(context, request, conversation, `approval:${stage}`, refusal)
}

/** Records that a card about a batch has reached its approver, for each request on it. */
export async function batchReached(
  context: SystemContext<NotificationPorts>,
  content: BatchContent,
  personId: string,
): Promise<void> {
  if (content.kind !== 'batch-ask') return
  for (const request of content.question.waiting) await reached(context, request, personId)
}

/** How often a job updates the cards of a batch that change meanwhile. The check after it updates them once more. */
const mostRounds = 3

/**
 * Sends and updates the cards of a batch: asks each approver once in each stage about all rows, shows the progress to the
 * requester, and sends the summary at the end. Approvers are asked when the rows have been submitted or wait for a limit.
 * A failure in one chat does not stop the others.
 */
export async function refreshBatch(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  { tenantId, batchId, isCheck }: Omit<JobPayload<'refresh-batch'>, 'v'>,
): Promise<void> {
  const { ports } = context
  let progress = await readProgress(ports, batchId)
  if (progress?.batch.tenantId !== tenantId) return
  let notices = await ports.notices.ofBatch(tenantId, batchId)
  const now = ports.clock.now()
  const handled = notices.filter((notice) => !isStale(notice, now))
  await ports.jobs.enqueue([
    ...(isCheck ? [] : [checkBatchOrder(tenantId, batchId, now)]),
    ...(isBeingSubmitted(progress.batch) ? [] : questionsDue(progress, handled)),
    ...(await requesterDue(ports, progress, handled)),
    ...laterOrder(progress, now),
  ])
  const failures: unknown[] = []
  let contested = new Set<string>()
  for (let round = 1; progress && round <= mostRounds; round += 1) {
    const shown: BatchProgress = progress
    const updates = await Promise.allSettled(
      notices.map((notice) => refreshNotice(context, outbox, shown, notice, contested.has(nameOf(notice)))),
    )
    failures.push(...updates.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])))
    const results = updates.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
    if (failures.length > 0 || results.every((result) => result === undefined)) break
    contested = new Set(notices.flatMap((notice, at) => (results[at] === 'contested' ? [nameOf(notice)] : [])))
    // The rows may have changed during the calls to the chats, and another job may have shown them already.
    progress = await readProgress(ports, batchId)
    if (progress && contested.size === 0 && versionsOf(progress) === versionsOf(shown)) break
    notices = await ports.notices.ofBatch(tenantId, batchId)
  }
  const failure = failures.find((error) => !(error instanceof PutOff)) ?? failures[0]
  if (failure) throw failure
}

const nameOf = ({ personId, notice }: NoticeOrder): string => `${personId} ${notice}`

const versionsOf = ({ batch, rows }: BatchProgress): string =>
  JSON.stringify([batch, rows.map(({ status, request }) => [status, request?.version])])

const hour = 3_600_000

/** Returns the order of the next hourly update, if changes of a row order no update: an earlier version stored its request. */
const laterOrder = ({ batch, rows }: BatchProgress, now: Date): JobOrder[] =>
  rows.some((row) => row.request && row.request.batch === undefined && !isRowOver(row))
    ? [refreshBatchOrder(batch.tenantId, batch.batchId, new Date(Math.ceil(now.getTime() / hour) * hour))]
    : []

/** Returns the orders of a card for each person who is asked in a stage and has no card about it. */
function questionsDue(progress: BatchProgress, notices: readonly BatchNotice[]): JobOrder[] {
  const { tenantId, batchId } = progress.batch
  const have = new Set(
    notices.flatMap(({ personId, notice }) => {
      const subject = noticeSubject(notice)
      return subject.kind === 'batch-ask' ? [`${subject.stage} ${personId}`] : []
    }),
  )
  return askedPeople(requestsIn(progress))
    .filter(({ personId, stage }) => !have.has(`${stage} ${personId}`))
    .map(({ personId, stage }) => againOrder(tenantId, personId, batchId, stage))
}

/**
 * Returns the order of the requester's card, if it was not sent: the progress, or the summary at the end. An application has
 * no chat.
 */
async function requesterDue(
  ports: NotificationPorts,
  progress: BatchProgress,
  notices: readonly BatchNotice[],
): Promise<JobOrder[]> {
  const { tenantId, batchId, requester, clientId } = progress.batch
  const notice = `${isBatchOver(progress) ? 'batch-end' : 'batch'}:${batchId}` as const
  if (clientId !== undefined || notices.some((one) => one.notice === notice)) return []
  const order = noticeOrder(tenantId, requester.id, notice)
  const chat = await ports.conversations.ofPerson(tenantId, requester.id)
  // Without a known chat, one job searches for the chat. When the chat is found, the missed cards are ordered.
  return chat && chat.closed === undefined ? [withoutId(order)] : [order]
}

/** The order without an id: an earlier job may have found nothing to ask, and ended. The store keeps the card unique. */
function againOrder(tenantId: string, personId: string, batchId: string, stage: number): JobOrder {
  return withoutId(noticeOrder(tenantId, personId, `batch-ask:${batchId}:${stage}:0`))
}

const withoutId = ({ id: _, ...order }: JobOrder): JobOrder => order as JobOrder

/** Marks a card whose rows are all decided. New rows need a new card, which the person notices. */
const answered = 'answered '

/**
 * Updates one card if its contents changed, or if two jobs updated it at the same time (`isContested`): then the chat may show
 * the older contents. Returns undefined if nothing was updated.
 */
async function refreshNotice(
  context: SystemContext<NotificationPorts>,
  outbox: Outbox,
  progress: BatchProgress,
  order: BatchNotice,
  isContested: boolean,
): Promise<'updated' | 'contested' | undefined> {
  const { ports } = context
  const { card, personId, notice } = order
  const { tenantId, batchId } = progress.batch
  const subject = noticeSubject(notice)
  if (!card || !('batchId' in subject)) return undefined
  const content = await batchContent(context, order, subject, progress)
  if (!content) return undefined
  const question = content.kind === 'batch-ask' ? content.question : undefined
  if (question && question.waiting.length > 0 && card.shown.startsWith(answered)) {
    await ports.notices.remove(order)
    await ports.jobs.enqueue([againOrder(tenantId, personId, batchId, question.stage)])
    return undefined
  }
  const shown = `${question?.waiting.length === 0 ? answered : ''}${shownOf(content)}`
  if (shown === card.shown && !isContested) return undefined
  const conversation = await chatOf(context, tenantId, personId)
  if (!conversation || conversation.closed !== undefined) return undefined
  const result = await outbox.update(conversation, card.activityId, content, notice)
  if (result === 'updated') return (await ports.notices.replaceShown(order, card, shown)) ? 'updated' : 'contested'
  // Without its record, the next job sends a new card.
  if (result === 'gone') await ports.notices.remove(order)
  else if (result.closed) await ports.conversations.close(conversation, result.why, ports.clock.now())
  return undefined
}
