import { z } from 'zod'
import { type ApprovalStage, everAsked, isApproved, isRejected, openStage, waitingFor } from '../approvals/index.ts'
import type { JointReport } from '../decisions/index.ts'
import type { Request } from '../requests/index.ts'
import { type Context, defineUseCase } from '../shared/index.ts'
import { type Batch, type BatchPorts, type BatchRow, readBatch } from './batch.ts'
import { maxRows } from './order.ts'

/** The rows of a batch about which one approver was asked in one stage. */
export interface BatchQuestion {
  readonly batch: Batch
  readonly stage: number
  /** The requests that wait for the person's decision now, in the order of their rows. */
  readonly waiting: readonly Request[]
  /** The other requests: approved in this stage, rejected in it, and ended or reassigned. */
  readonly approved: number
  readonly rejected: number
  readonly over: number
  /** The person's last decision on this card, and the requests that it could not decide. */
  readonly last: JointReport | undefined
  readonly undecided: readonly Request[]
}

/** A row of a batch, with its request if it was submitted. */
export interface ProgressRow extends Pick<BatchRow, 'key' | 'status' | 'problem'> {
  readonly request: Request | null
}
/** A batch with all of its rows. */
export interface BatchProgress {
  readonly batch: Batch
  readonly rows: readonly ProgressRow[]
}

/** Whether more rows will be submitted soon, so that approvers are asked later, about all of them. */
export const isBeingSubmitted = ({ status, waitsFor }: Batch): boolean =>
  status === 'running' && (waitsFor === null || waitsFor.code === 'rate-limited')

/** Returns the requests of a batch, in the order of their submission. */
const requestsOfBatch = (ports: BatchPorts, tenantId: string, batchId: string): Promise<Request[]> =>
  ports.requests.list({ tenantId, batchId, limit: maxRows, oldestFirst: true })

/** Whether a request waits for this person in this stage. */
const isWaitingFor = ({ status, approvals }: Request, personId: string, stage: number): boolean =>
  status === 'pendingApproval' &&
  openStage(approvals)?.stage === stage &&
  waitingFor(approvals).some(({ id }) => id === personId)

/** Returns what a batch with these requests asks a person in a stage. */
export async function questionOf(
  ports: BatchPorts,
  { batch, requests }: { readonly batch: Batch; readonly requests: readonly Request[] },
  personId: string,
  stage: number,
): Promise<BatchQuestion> {
  const { batchId } = batch
  const last = await ports.jointDecisions.lastAbout(personId, batchId, stage)
  const undecided = requests.filter(({ requestId }) => typeof last?.results[requestId] === 'object')
  const waiting = requests.filter((request) => isWaitingFor(request, personId, stage))
  const others = requests
    .filter((request) => !waiting.includes(request))
    .flatMap(({ approvals }) => {
      const own = approvals.find((one) => one.stage === stage)
      return own && everAsked([own]).some(({ id }) => id === personId) ? [own] : []
    })
  const count = (is: (one: ApprovalStage) => boolean): number => others.filter(is).length
  const [approved, rejected] = [
    count((one) => !isRejected(one) && (isApproved(one) || hasDecided(one, personId))),
    count(isRejected),
  ]
  const over = others.length - approved - rejected
  return { batch, stage, waiting, approved, rejected, over, last, undecided }
}

const hasDecided = ({ decisions }: ApprovalStage, personId: string): boolean =>
  decisions.some(({ by, decision }) => by.id === personId && decision === 'approved')

/** Returns the people who can decide requests now, each once for each stage. */
export function askedPeople(requests: readonly Request[]): { personId: string; stage: number }[] {
  const pairs = requests.flatMap(({ status, approvals }) => {
    const stage = status === 'pendingApproval' ? openStage(approvals)?.stage : undefined
    return stage === undefined ? [] : waitingFor(approvals).map(({ id }) => ({ personId: id, stage }))
  })
  return [...new Map(pairs.map((pair) => [`${pair.stage} ${pair.personId}`, pair])).values()]
}

/** Whether nothing more happens to a row by itself: it was refused or cancelled, or its request has ended or failed. */
export const isRowOver = ({ status, request }: ProgressRow): boolean =>
  status === 'refused' || status === 'cancelled' || (request !== null && isRequestOver(request))

const isRequestOver = (request: Request): boolean => {
  if (request.status === 'succeeded') return request.followUp.state === 'announced'
  return ['failed', 'rejected', 'expired', 'cancelled'].includes(request.status)
}

/** Returns a batch with its rows and their requests. Requests that an earlier version stored do not name their batch. */
export async function progressOf(ports: BatchPorts, batch: Batch): Promise<BatchProgress> {
  const { tenantId, batchId } = batch
  const [rows, requests] = await Promise.all([
    ports.batches.rows({ batchId, limit: maxRows }),
    requestsOfBatch(ports, tenantId, batchId),
  ])
  const byId = new Map(requests.map((request) => [request.requestId, request]))
  for (const { request } of rows) {
    if (!request || byId.has(request.requestId)) continue
    const found = await ports.requests.find(request.requestId)
    if (found) byId.set(found.requestId, found)
  }
  return {
    batch,
    rows: rows.map(({ key, status, problem, request }) => {
      return { key, status, problem, request: (request && byId.get(request.requestId)) ?? null }
    }),
  }
}

/** Whether the batch needs its summary: all rows have been submitted, and nothing more happens to them. */
export const isBatchOver = ({ batch, rows }: BatchProgress): boolean =>
  batch.status !== 'running' && rows.every(isRowOver)

/** Returns a batch with its rows, for its requester and admins. Throws `not-found`. */
export const readBatchProgress = defineUseCase({
  permission: 'batch.read',
  input: z.object({ batchId: z.uuid() }),
  async handle(context: Context<BatchPorts>, { batchId }): Promise<BatchProgress> {
    const { batch } = await readBatch.handle(context, { batchId })
    return progressOf(context.ports, batch)
  },
})

/** Returns what a batch asks the actor in a stage; undefined if the batch no longer exists. */
export const readBatchQuestion = defineUseCase({
  permission: 'approval.list',
  input: z.object({ batchId: z.uuid(), stage: z.int() }),
  async handle({ ports, actor }: Context<BatchPorts>, { batchId, stage }): Promise<BatchQuestion | undefined> {
    const batch = await ports.batches.find(batchId)
    if (!batch || batch.tenantId !== actor.tenantId) return undefined
    const requests = await requestsOfBatch(ports, batch.tenantId, batchId)
    const question = await questionOf(ports, { batch, requests }, actor.id, stage)
    const { waiting, approved, rejected, over } = question
    return waiting.length + approved + rejected + over === 0 ? undefined : question
  },
})
