import { randomUUID } from 'node:crypto'
import {
  type ApprovalStage,
  type Delegation,
  nextTimerRun,
  opened,
  openStage,
  realigned,
  waitingFor,
  withDifferentPeople,
  withStage,
} from '../approvals/index.ts'
import { type AuditAction, type AuditEntry, system } from '../audit/index.ts'
import {
  isTerminal,
  type JobOrder,
  jobId,
  notifyAdminsOrder,
  notifyOrder,
  type Person,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import { batchJobs } from './batch-jobs.ts'
import { type Delivery, provisionedEvent, webhookOf } from './events.ts'
import type { RequestPorts } from './ports.ts'
import type { Request } from './request.ts'

/** The result of a change: the new request, its audit entries and the jobs that follow. */
export interface Change {
  readonly request: Request
  readonly audit: readonly AuditEntry[]
  readonly jobs?: readonly JobOrder[]
}

/** Returns an entry for the timeline. */
export function entry(
  request: Request,
  by: Person | typeof system,
  action: AuditAction,
  more: { comment?: string; data?: Record<string, unknown> } = {},
): AuditEntry {
  const actor =
    'id' in by ? { id: by.id, displayName: by.displayName, userPrincipalName: by.userPrincipalName } : system
  const comment = more.comment ? { comment: more.comment } : {}
  const data = more.data ? { data: more.data } : {}
  const { requestId, tenantId, updatedAt } = request
  return { requestId, tenantId, at: updatedAt, actor, action, ...comment, ...data }
}

/**
 * Locks a request, calls the pure function `decide`, and writes the new state, its audit entries and the jobs that follow in one
 * transaction. `decide` may throw to refuse, or return undefined to change nothing.
 */
export async function changeRequest(
  context: SystemContext<RequestPorts>,
  requestId: string,
  decide: (request: Request, at: string) => Change | undefined,
): Promise<Request | undefined> {
  const { ports } = context
  return ports.work.transaction(async () => {
    const before = await ports.requests.lock(requestId)
    if (!before) return undefined
    const change = decide(before, ports.clock.now().toISOString())
    if (!change) return before
    const request = { ...change.request, version: before.version + 1 }
    await ports.requests.update(request)
    await record(context, { ...change, request }, before)
    return request
  })
}

/** Writes the audit entries, deliveries and jobs of a stored request. Call it in the transaction that stores the request. */
export async function record(context: SystemContext<RequestPorts>, change: Change, before?: Request): Promise<void> {
  const { ports } = context
  const { request } = change
  const isNewState = request.status !== before?.status
  if (isNewState) ports.work.afterCommit?.(() => ports.telemetry?.stateReached(request.status))
  // Together, so that a server gets these statements in one round trip.
  await Promise.all([
    ports.audit.append(change.audit, { version: request.version, before, after: request }),
    isTerminal(request.status) && ports.reservations.release(request.requestId),
    order(context, change, before),
  ])
}

/** Writes the deliveries of a change and orders its jobs. */
async function order(context: SystemContext<RequestPorts>, change: Change, before?: Request): Promise<void> {
  const { ports } = context
  const { request } = change
  const isNewState = request.status !== before?.status
  const deliveries = !isNewState ? [] : await deliveriesOf(context, request)
  for (const delivery of deliveries) await ports.deliveries.insert(delivery)
  await ports.jobs.enqueue([
    ...batchJobs(request, change.jobs ?? [], ports.clock.now()),
    ...deliveries.map(
      ({ deliveryId }): JobOrder => ({
        name: 'deliver-webhook',
        payload: { v: 1, deliveryId, attempt: 0 },
        id: jobId('deliver', deliveryId, 0),
      }),
    ),
    // A new request has no cards yet, except the status card of its submission.
    ...(before === undefined
      ? []
      : // Approvers' cards show decisions and the end. Only the requester's card shows the steps.
        [refreshCardsOrder(request, isNewState || isForApprovers(request, before) ? 'all' : 'status')]),
  ])
}

/** Whether a change is on the cards of approvers. */
const isForApprovers = (after: Request, before: Request): boolean =>
  after.approvals !== before.approvals || after.addressConflict !== before.addressConflict

/** Returns the order to update a request's cards to its current version. */
export const refreshCardsOrder = ({ requestId, version }: Request, cards: 'all' | 'status'): JobOrder => ({
  name: 'refresh-cards',
  payload: { v: 1, requestId, version, cards },
  id: jobId('refresh', requestId, version),
})

/** Returns the deliveries to the template's receiver and to the bot's own, which gets webhooks like any other receiver. */
async function deliveriesOf({ ports, settings }: SystemContext<RequestPorts>, request: Request): Promise<Delivery[]> {
  const body = webhookOf(request)
  if (!body) return []
  const template = await ports.templates.find(request.tenantId, request.template.id)
  const { requestId, tenantId, updatedAt } = request
  const draft = {
    requestId,
    tenantId,
    type: body.type,
    body: JSON.stringify(body),
    status: 'pending',
    attempts: 0,
    lastStatus: null,
    createdAt: updatedAt,
    updatedAt,
  } as const
  const deliveries: Delivery[] = []
  if (template?.webhook?.events.includes(body.type)) {
    deliveries.push({
      ...draft,
      deliveryId: randomUUID(),
      subscriber: { templateId: template.id },
      url: template.webhook.url,
    })
  }
  if (settings.followUpWebhookUrl && body.type === provisionedEvent(request)) {
    deliveries.push({ ...draft, deliveryId: randomUUID(), subscriber: 'bot', url: settings.followUpWebhookUrl })
  }
  return deliveries
}

/** Returns the jobs of a request that has just been queued: the work and the first directory poll. */
export function jobsOfQueued(request: Request, settings: Settings): JobOrder[] {
  const { requestId, queuedAt } = request
  if (queuedAt === null) return []
  return [
    { name: 'provision', payload: { v: 1, requestId }, id: jobId('provision', requestId, queuedAt) },
    directoryPoll(request, 0, settings),
  ].filter((order): order is JobOrder => order !== undefined)
}

/** Slow polls after the fast ones, in seconds from the same moment: 1, 5, 15 and 60 minutes. */
const slowPolls = [60, 300, 900, 3600]

/** Returns the times of the polls in seconds from their start: with the default settings 20, 30, 40, 50, then the slow ones. */
export function pollTimes({ followUp }: Pick<Settings, 'followUp'>): { fast: number[]; all: number[] } {
  const { firstSeconds, everySeconds, stopSeconds } = followUp
  const fast = Array.from(
    { length: Math.floor(stopSeconds / everySeconds) + 1 },
    (_, index) => firstSeconds + index * everySeconds,
  )
  const last = fast.at(-1) ?? 0
  return { fast, all: [...fast, ...slowPolls.filter((seconds) => seconds > last)] }
}

/** The number of hourly polls after that. Then an admin has to act. */
const hourlyPolls = 7 * 24

/** Returns the number of a request's last poll. */
const lastPoll = (settings: Pick<Settings, 'followUp'>): number => pollTimes(settings).all.length - 1 + hourlyPolls

/** Returns the seconds from the start of a request's polls to their end. */
export const pollsEndAfter = (settings: Pick<Settings, 'followUp'>): number =>
  (pollTimes(settings).all.at(-1) ?? 0) + hourlyPolls * 3600

/**
 * If the resource is created this many seconds after queueing, the polls start again at that moment. The polls since queueing are
 * too far apart by then to notify people soon, or to measure the directory's delay (amber above 300 seconds).
 */
const createdLateSeconds = 300

/** Returns the start of a request's polls: the queueing or, if much later, the creation of the resource. */
function pollsFrom({ queuedAt, finishedAt }: Request): string | null {
  if (queuedAt === null || finishedAt === null) return queuedAt
  return Date.parse(finishedAt) - Date.parse(queuedAt) > createdLateSeconds * 1000 ? finishedAt : queuedAt
}

/** Returns an immediate poll for a resource that was created late; none if the polls since queueing find it soon. */
export function pollOfLate(request: Request, settings: Settings): JobOrder[] {
  const poll = pollsFrom(request) === request.queuedAt ? undefined : directoryPoll(request, 0, settings)
  return poll ? [{ ...poll, startAfter: new Date(request.updatedAt) }] : []
}

/**
 * Returns the order for one directory poll; undefined after the last one. `poll` counts from 0. `now`: the time of the previous poll, so that missed
 * polls do not all run at once after an outage.
 */
export function directoryPoll(request: Request, poll: number, settings: Settings, now?: Date): JobOrder | undefined {
  const { all } = pollTimes(settings)
  const { requestId } = request
  const from = pollsFrom(request)
  const beyond = poll - all.length + 1
  if (from === null || beyond > hourlyPolls) return undefined
  const seconds = all[poll] ?? (all.at(-1) ?? 0) + beyond * 3600
  const due = Date.parse(from) + seconds * 1000
  const missed = now !== undefined && due < now.getTime()
  const startAfter = new Date(missed ? now.getTime() + settings.followUp.everySeconds * 1000 : due)
  return {
    name: 'follow-up',
    payload: { v: 1, requestId, look: poll },
    id: jobId('look', requestId, from, poll),
    startAfter,
  }
}

/** Returns the order for one directory poll now that orders no other one; undefined if the request was never queued. */
export function singlePoll(request: Request, settings: Settings, id: string, now: string): JobOrder | undefined {
  const poll = directoryPoll(request, lastPoll(settings), settings)
  return poll && { ...poll, id, startAfter: new Date(now) }
}

/** Returns the orders of a card for each person whose decision the request waits for. */
export function askApprovers(request: Request): JobOrder[] {
  const { requestId } = request
  const card = `approval:${openStage(request.approvals)?.stage ?? 1}` as const
  return waitingFor(request.approvals).map(({ id }) => notifyOrder(requestId, id, card))
}

/**
 * Returns the order to run the timers of a waiting stage at `due`; none without `due`. Each time has one order; `again` adds
 * another one.
 */
export function approvalTimer(
  { requestId }: Pick<Request, 'requestId'>,
  { stage }: Pick<ApprovalStage, 'stage'>,
  due: string | undefined,
  again = '',
): JobOrder[] {
  if (due === undefined) return []
  return [
    {
      name: 'tend-approval',
      payload: { v: 1, requestId, stage },
      id: jobId('tend-approval', requestId, stage, due, again),
      startAfter: new Date(due),
    },
  ]
}

/** Returns the order of one outcome card for the requester. */
export const notifyRequester = (request: Request): JobOrder =>
  notifyOrder(request.requestId, request.requester.id, outcomeCard(request))

/** Returns the order of the outcome card for each admin, except the requester. */
export const notifyAdminsOfOutcome = (request: Request): JobOrder =>
  notifyAdminsOrder(request.requestId, outcomeCard(request))

/** Returns the orders of the late card for the requester and each admin, once for each start of the work. */
export const notifyLate = (request: Request): JobOrder[] => [
  notifyOrder(request.requestId, request.requester.id, lateCard(request)),
  notifyAdminsOrder(request.requestId, lateCard(request)),
]
export const lateCard = ({ queuedAt }: Request): `late:${string}` => `late:${queuedAt ?? ''}`

/** Returns the card's key. A request can fail again after a retry, so the key of a failure contains the start of the work. */
export const outcomeCard = (request: Request): `outcome:${string}` =>
  request.status === 'failed' ? `outcome:failed:${request.queuedAt ?? ''}` : `outcome:${request.status}`

/** Opens the next stage of a pending request: sets its times and the delegates of people who are `away`. */
export function withOpenStage<R extends Request>(
  request: R,
  settings: Settings,
  away: readonly Delegation[],
  at: string,
): R {
  const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  if (!stage || stage.openedAt !== undefined) return request
  const { approval } = request.template
  const next = withDifferentPeople(opened(stage, approval, settings.approvals, at), request.approvals, approval)
  return withStage(request, realigned(next, away, request.requester.id, at))
}

/** Returns the entry about delegates at the opening of a stage, if there are any. */
export function openStageEntries(request: Request): AuditEntry[] {
  const stage = openStage(request.approvals)
  return stage?.standIns === undefined ? [] : [delegatedNow(request, stage)]
}

/** Returns the orders of a card for each approver and of the stage's first timer. */
export function jobsOfOpenStage(request: Request): JobOrder[] {
  const stage = openStage(request.approvals)
  if (!stage?.openedAt) return askApprovers(request)
  const { openedAt, times } = stage
  const isDueNow = times?.escalateAt !== undefined && times.escalateAt <= openedAt
  const due = isDueNow ? openedAt : nextTimerRun(stage, openedAt)
  return [...askApprovers(request), ...approvalTimer(request, stage, due)]
}

/** Reads the delegations of the approvers in stages that are not open yet. */
export function awayOf(
  ports: RequestPorts,
  { tenantId, approvals }: Pick<Request, 'tenantId' | 'approvals'>,
  at: string,
) {
  const people = approvals.filter(({ openedAt }) => openedAt === undefined).flatMap(({ approvers }) => approvers)
  const ids = [...new Set(people.map(({ id }) => id))]
  return ids.length === 0 ? Promise.resolve([]) : ports.delegations.reaching(tenantId, ids, at)
}

/** Returns the entry about the current delegates of a stage. */
export function delegatedNow(request: Request, { stage, standIns = [] }: ApprovalStage): AuditEntry {
  const now = standIns.filter(({ why }) => why === 'delegated')
  const data = { stage, standIns: now.map(({ person, by, until }) => ({ person, insteadOf: by, until })) }
  return entry(request, system, 'delegated', { data })
}
