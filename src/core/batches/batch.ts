import { z } from 'zod'
import {
  type FieldWarning,
  type Request,
  refuseSitesOfApplications,
  rolesOf,
  shownFieldWarning,
} from '../requests/index.ts'
import {
  type Actor,
  access,
  asPerson,
  because,
  type Context,
  defineUseCase,
  fault,
  instant,
  type JobOrder,
  jobId,
  noticeOrder,
  type Permission,
  ProvisioningError,
  person,
  refuseFields,
  requestState,
  shownFault,
  shownReason,
  withReason,
} from '../shared/index.ts'
import type { WebhookPorts } from '../webhooks/index.ts'
import { type BatchOrder, batchRows, resource } from './order.ts'

/** The maximum number of running batches of one person. */
const maxBatches = 10

/** `stopped`: the batch cannot continue, for example because its requester may no longer request anything. */
const batchStatuses = ['running', 'finished', 'cancelled', 'stopped'] as const
export const batchRowStatuses = ['waiting', 'submitted', 'refused', 'cancelled'] as const
export type BatchRowStatus = (typeof batchRowStatuses)[number]

const rowFault = withReason({ pointer: z.string(), code: z.string(), suggestion: z.string().optional() })
/** Why a row was refused. The pointers of its errors point into the body of the row. */
export const rowProblem = withReason({ code: z.string(), errors: z.array(rowFault) })
export type RowProblem = z.output<typeof rowProblem>
/** Why a batch waits or has stopped. */
const batchReason = withReason({ code: z.string() })
export type BatchReason = z.output<typeof batchReason>

/** A stored batch. */
export const batch = z.object({
  v: z.literal(1),
  batchId: z.uuid(),
  tenantId: z.uuid(),
  resource,
  status: z.enum(batchStatuses),
  requester: person,
  /** The client id of an application that requests without a person. */
  clientId: z.string().optional(),
  waitsFor: batchReason.nullable(),
  problem: batchReason.nullable(),
  createdAt: instant,
  /** When a row was last processed, or the batch ended. */
  updatedAt: instant,
  endedAt: instant.nullable(),
})
export type Batch = z.output<typeof batch>

/** A row that waits for submission. Processing deletes the row's body; the request of a submitted row has the contents. */
export interface WaitingRow {
  readonly place: number
  readonly key: string
  /** The id of the request that this row will create. Each attempt uses the same id, so a retry creates no second request. */
  readonly requestId: string
  readonly body: unknown
}
/** A row with the status of its request. */
export interface BatchRow {
  readonly place: number
  readonly key: string
  readonly status: BatchRowStatus
  readonly request: Pick<Request, 'requestId' | 'number' | 'status'> | null
  readonly problem: RowProblem | null
  /** The accepted fields of its mailbox that have no effect. */
  readonly warnings: readonly FieldWarning[]
}
/** The numbers of rows and of their requests, by status. */
interface BatchCounts {
  readonly rows: Partial<Record<BatchRowStatus, number>>
  readonly requests: Partial<Record<Request['status'], number>>
}
export interface BatchReport {
  readonly batch: Batch
  readonly counts: BatchCounts
}

export interface BatchStore {
  /** Stores a new batch with its waiting rows. Returns false if the id exists already. */
  insert(one: Batch, rows: readonly WaitingRow[]): Promise<boolean>
  find(batchId: string): Promise<Batch | undefined>
  /** Changes a running batch and locks it until the transaction ends. Returns false if the batch has ended. */
  change(
    batchId: string,
    to: Partial<Pick<Batch, 'status' | 'waitsFor' | 'problem' | 'updatedAt' | 'endedAt'>>,
  ): Promise<boolean>
  countRunning(tenantId: string, personId: string): Promise<number>
  /** Returns the batches of a person, the last changed first. */
  ofRequester(tenantId: string, personId: string, limit: number): Promise<Batch[]>
  /** Returns the rows that wait for submission, in their order. */
  waiting(batchId: string, limit: number): Promise<WaitingRow[]>
  /** Stores the result of a waiting row. Returns false if the row no longer waits. */
  settle(batchId: string, place: number, to: BatchRowStatus, problem?: RowProblem): Promise<boolean>
  /** Cancels all waiting rows. */
  cancelWaiting(batchId: string): Promise<void>
  rows(query: { batchId: string; status?: BatchRowStatus; after?: number; limit: number }): Promise<BatchRow[]>
  counts(batchId: string): Promise<BatchCounts>
  /** Deletes the batches that ended more than 30 days before this time. */
  forgetOld(at: Date): Promise<void>
}

const count = z.int().min(0)
/** A batch as the API shows it. */
export const batchView = z.strictObject({
  batchId: z.uuid(),
  tenantId: z.uuid(),
  resource,
  status: z
    .enum(batchStatuses)
    .describe(
      '`running`: rows wait to be submitted. `finished`: all rows were submitted or refused. `stopped`: see `problem`.',
    ),
  requester: person,
  rows: z.strictObject({
    total: count,
    waiting: count,
    submitted: count,
    refused: count,
    cancelled: count,
  }),
  requests: z.partialRecord(requestState, count).describe('Number of requests in each status.'),
  waitsFor: shownReason.nullable().describe('The reason why the batch waits; it continues automatically.'),
  problem: shownReason.nullable().describe('The reason why the batch stopped.'),
  createdAt: instant,
  updatedAt: instant,
  endedAt: instant.nullable(),
})

/** Why a row was refused. */
const shownRowProblem = z.strictObject({
  ...shownReason.shape,
  errors: z.array(shownFault).describe('Errors of fields, with pointers into the body of the row.'),
})

/** A row as the API shows it. */
export const batchRowView = z.strictObject({
  key: z.string(),
  status: z.enum(batchRowStatuses),
  request: z
    .strictObject({ requestId: z.uuid(), reference: z.string(), status: requestState })
    .nullable()
    .describe('The request of the row, if it was submitted.'),
  problem: shownRowProblem.nullable().describe('The reason why the row was refused.'),
  warnings: z
    .array(shownFieldWarning)
    .describe('The accepted fields of a mailbox without effect in Microsoft 365; for a site always empty.'),
})

/** The ports that this room and the rooms above it need. */
export interface BatchPorts extends WebhookPorts {
  readonly batches: BatchStore
}

/** Returns the job that processes the next part of a batch. Its id is fixed, so each part is enqueued once. */
export const batchTurn = (batchId: string, turn: number, startAfter?: Date): JobOrder => ({
  name: 'run-batch',
  payload: { v: 1, batchId, turn },
  id: jobId('run-batch', batchId, turn),
  ...(startAfter && { startAfter }),
})

/**
 * Starts a batch: stores its rows. Jobs then submit the rows one by one, within the rate limits. A repeated id returns the
 * same batch. Throws `too-many-open-requests` if the person already has {@link maxBatches} running batches.
 */
export const beginBatch = defineUseCase({
  permission: 'request.create',
  input: z.object({ batchId: z.uuid(), ...batchRows }),
  async handle(context: Context<BatchPorts>, { batchId, ...order }): Promise<BatchReport> {
    const { ports, actor } = context
    refuseSitesOfApplications(actor, order.resource)
    const known = await ports.batches.find(batchId)
    if (known) return reportOn(ports, requireBatchAccess(actor, known, 'batch.read'))
    if ((await ports.batches.countRunning(actor.tenantId, actor.id)) >= maxBatches)
      throw new ProvisioningError('too-many-open-requests', because('tooManyBatches', { count: maxBatches }))
    const rows = order.rows.map(
      ({ key, body }, place): WaitingRow => ({ place, key, body, requestId: jobId('batch', batchId, key) }),
    )
    const one = newBatch(actor, batchId, order, ports.clock.now().toISOString())
    await ports.work.transaction(async () => {
      if (await ports.batches.insert(one, rows))
        await ports.jobs.enqueue([batchTurn(batchId, 0), ...cardOfRequester(one)])
    })
    return readBatch.handle(context, { batchId })
  },
})

/** Returns the order of the requester's card. An application has no chat. */
const cardOfRequester = ({ tenantId, requester, batchId, clientId }: Batch): JobOrder[] =>
  clientId === undefined ? [noticeOrder(tenantId, requester.id, `batch:${batchId}`)] : []

/** Returns the order to update the cards of a batch whose rows wait or have ended. */
export const batchCardsOrder = ({ tenantId, batchId }: Batch, turn: number | string): JobOrder => ({
  name: 'refresh-batch',
  payload: { v: 1, tenantId, batchId },
  id: jobId('refresh-batch', batchId, 'turn', turn),
})

function newBatch(actor: Actor, batchId: string, { resource }: Pick<BatchOrder, 'resource'>, at: string): Batch {
  const { tenantId, clientId } = actor
  return {
    v: 1,
    batchId,
    tenantId,
    resource,
    status: 'running',
    requester: asPerson(actor),
    ...(clientId !== undefined && { clientId }),
    waitsFor: null,
    problem: null,
    createdAt: at,
    updatedAt: at,
    endedAt: null,
  }
}

/** Returns a batch with its counts. Throws `not-found` if there is no such batch, or for people except requester and admins. */
export const readBatch = defineUseCase({
  permission: 'batch.read',
  input: z.object({ batchId: z.uuid() }),
  async handle({ ports, actor }: Context<BatchPorts>, { batchId }): Promise<BatchReport> {
    return reportOn(ports, requireBatchAccess(actor, await ports.batches.find(batchId), 'batch.read'))
  },
})

/** Returns a page of the rows with their results, in order. The cursor is opaque: it comes from the previous page. */
export const readBatchRows = defineUseCase({
  permission: 'batch.read',
  input: z.object({
    batchId: z.uuid(),
    limit: z.int(),
    cursor: z.string().exactOptional(),
    status: z.enum(batchRowStatuses).exactOptional(),
  }),
  async handle(
    { ports, actor }: Context<BatchPorts>,
    { batchId, cursor, limit, status },
  ): Promise<{ rows: readonly BatchRow[]; nextCursor?: string }> {
    requireBatchAccess(actor, await ports.batches.find(batchId), 'batch.read')
    const from = { ...(status && { status }), ...(cursor !== undefined && { after: decodeCursor(cursor) }) }
    const found = await ports.batches.rows({ batchId, ...from, limit: limit + 1 })
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    return { rows, ...(found.length > limit && last && { nextCursor: encodeCursor(last) }) }
  },
})

/**
 * Ends a batch before its next row. Submitted requests stay, and can be cancelled one by one. Throws `already-ended`.
 */
export const cancelBatch = defineUseCase({
  permission: 'batch.cancel',
  input: z.object({ batchId: z.uuid() }),
  async handle(context: Context<BatchPorts>, { batchId }): Promise<BatchReport> {
    const { ports, actor } = context
    requireBatchAccess(actor, await ports.batches.find(batchId), 'batch.cancel')
    const isCancelled = await endBatch(ports, batchId, { status: 'cancelled', problem: null })
    const report = await readBatch.handle(context, { batchId })
    // It is no error to cancel a batch twice.
    if (isCancelled || report.batch.status === 'cancelled') return report
    throw new ProvisioningError('already-ended', because('batchEnded'))
  },
})

/** Ends a running batch and cancels its waiting rows. Returns false if the batch has ended already. */
export function endBatch(ports: BatchPorts, batchId: string, end: Pick<Batch, 'status' | 'problem'>): Promise<boolean> {
  return ports.work.transaction(async () => {
    const at = ports.clock.now().toISOString()
    const ended = await ports.batches.change(batchId, { ...end, waitsFor: null, updatedAt: at, endedAt: at })
    const one = ended ? await ports.batches.find(batchId) : undefined
    if (!one) return false
    await ports.batches.cancelWaiting(batchId)
    await ports.jobs.enqueue([batchCardsOrder(one, 'end')])
    return true
  })
}

const reportOn = async ({ batches }: BatchPorts, one: Batch): Promise<BatchReport> => ({
  batch: one,
  counts: await batches.counts(one.batchId),
})

/** Returns the batch if the actor has the permission as its requester or as an admin. Throws `not-found` otherwise. */
function requireBatchAccess(actor: Actor, one: Batch | undefined, permission: Permission): Batch {
  const roles = one && rolesOf(actor, { tenantId: one.tenantId, requester: one.requester, approvals: [] })
  if (one && access[permission].some((role) => roles?.has(role))) return one
  throw new ProvisioningError('not-found', because('batchUnknown'))
}

const encodeCursor = ({ place }: BatchRow): string => Buffer.from(`v1:${place}`).toString('base64url')

function decodeCursor(cursor: string): number {
  const place = /^v1:(\d{1,4})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  if (place !== undefined) return Number(place)
  return refuseFields([fault('/cursor', 'invalid', because('cursorInvalid'))])
}
