import { z } from 'zod'
import { type Request, refuseSitesOfApplications, rolesOf } from '../requests/index.ts'
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

/** How many rows a batch may have: what a person can look through, and what one transaction stores at once. */
export const mostRows = 200
/** How many batches of one person may be under way at a time. */
const mostBatches = 10

const resource = z.enum(['mailbox', 'site'])
const rowKey = z
  .string()
  .min(1)
  .max(64)
  .regex(/^\P{C}+$/u)
  .describe('What the caller calls the row, such as its number or its name; once in a batch.')

/** The rows of a batch, and what all of them ask for. */
export const batchRows = {
  resource: resource.describe('What every row asks for.'),
  rows: z
    .array(
      z.strictObject({
        key: rowKey,
        body: z
          .looseObject({})
          .describe('The body of the call that would create it: `POST /mail/v1/mailboxes` or `POST /collab/v1/spo`.'),
      }),
    )
    .min(1)
    .max(mostRows),
}

/** Many requests of one kind in one call. */
export const batchOrder = z
  .strictObject({
    dryRun: z.boolean().optional().describe('Only tell what each row would be. Nothing is written.'),
    ...batchRows,
  })
  .superRefine(({ rows }, context) => {
    const known = new Set<string>()
    for (const [place, { key }] of rows.entries()) {
      if (known.has(key)) context.addIssue({ code: 'custom', path: ['rows', place, 'key'], message: 'keyTwice' })
      known.add(key)
    }
  })
export type BatchOrder = z.output<typeof batchOrder>

/** `stopped`: it cannot go on, as when who asked for it may ask for nothing any more. */
const batchStatuses = ['running', 'finished', 'cancelled', 'stopped'] as const
export const batchRowStatuses = ['waiting', 'submitted', 'refused', 'cancelled'] as const
export type BatchRowStatus = (typeof batchRowStatuses)[number]

const rowFault = withReason({ pointer: z.string(), code: z.string(), suggestion: z.string().optional() })
/** Why a row was refused. The pointers of its errors are pointers into the body of the row. */
export const rowProblem = withReason({ code: z.string(), errors: z.array(rowFault) })
export type RowProblem = z.output<typeof rowProblem>
/** Why a batch waits or has stopped. */
const batchReason = withReason({ code: z.string() })
export type BatchReason = z.output<typeof batchReason>

/** A batch as it is stored. */
export const batch = z.object({
  v: z.literal(1),
  batchId: z.uuid(),
  tenantId: z.uuid(),
  resource,
  status: z.enum(batchStatuses),
  requester: person,
  /** Of an application that asks for itself. */
  clientId: z.string().optional(),
  waitsFor: batchReason.nullable(),
  problem: batchReason.nullable(),
  createdAt: instant,
  /** When a row was last done, or the batch ended. */
  updatedAt: instant,
  endedAt: instant.nullable(),
})
export type Batch = z.output<typeof batch>

/** A row that nothing was done about yet. What it asks for is kept only so long: then its request has it. */
export interface WaitingRow {
  readonly place: number
  readonly key: string
  /** The id that its request will have: the same however often it is submitted. */
  readonly requestId: string
  readonly body: unknown
}
/** A row, with how its request does. */
export interface BatchRow {
  readonly place: number
  readonly key: string
  readonly status: BatchRowStatus
  readonly request: Pick<Request, 'requestId' | 'number' | 'status'> | null
  readonly problem: RowProblem | null
}
/** How many rows stand how, and how many of their requests. */
interface BatchCounts {
  readonly rows: Partial<Record<BatchRowStatus, number>>
  readonly requests: Partial<Record<Request['status'], number>>
}
export interface BatchReport {
  readonly batch: Batch
  readonly counts: BatchCounts
}

export interface BatchStore {
  /** Stores a new batch with its rows, all of them waiting; false when its id is known already. */
  insert(one: Batch, rows: readonly WaitingRow[]): Promise<boolean>
  find(batchId: string): Promise<Batch | undefined>
  /** Changes one that is under way, and locks it until the transaction ends; false when it has ended. */
  change(
    batchId: string,
    to: Partial<Pick<Batch, 'status' | 'waitsFor' | 'problem' | 'updatedAt' | 'endedAt'>>,
  ): Promise<boolean>
  countRunning(tenantId: string, personId: string): Promise<number>
  /** Those rows that nothing was done about yet, in their order. */
  waiting(batchId: string, limit: number): Promise<WaitingRow[]>
  /** Says what became of a row that waits; false when it does not wait any more. */
  settle(batchId: string, place: number, to: BatchRowStatus, problem?: RowProblem): Promise<boolean>
  /** Whatever waits is not going to be done. */
  cancelWaiting(batchId: string): Promise<void>
  rows(query: { batchId: string; status?: BatchRowStatus; after?: number; limit: number }): Promise<BatchRow[]>
  counts(batchId: string): Promise<BatchCounts>
  /** Forgets, at this time, those that ended long ago. */
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
      '`running`: rows wait for their turn; `finished`: each was submitted or refused; `stopped`: see `problem`.',
    ),
  requester: person,
  rows: z.strictObject({
    total: count,
    waiting: count,
    submitted: count,
    refused: count,
    cancelled: count,
  }),
  requests: z.partialRecord(requestState, count).describe('How many of its requests are in which state.'),
  waitsFor: shownReason.nullable().describe('Why nothing goes on just now; it goes on by itself.'),
  problem: shownReason.nullable().describe('Why it has stopped.'),
  createdAt: instant,
  updatedAt: instant,
  endedAt: instant.nullable(),
})

/** Why a row was refused. */
const shownRowProblem = z.strictObject({
  ...shownReason.shape,
  errors: z.array(shownFault).describe('What is wrong with fields; a pointer is one into the body of the row.'),
})

/** A row as the API shows it. */
export const batchRowView = z.strictObject({
  key: z.string(),
  status: z.enum(batchRowStatuses),
  request: z
    .strictObject({ requestId: z.uuid(), reference: z.string(), status: requestState })
    .nullable()
    .describe('What came of it, when it was submitted.'),
  problem: shownRowProblem.nullable().describe('Why it was refused.'),
})

/** The ports that this room and the rooms above it need. */
export interface BatchPorts extends WebhookPorts {
  readonly batches: BatchStore
}

/** The order for a turn of a batch. Each turn is ordered once. */
export const batchTurn = (batchId: string, turn: number, startAfter?: Date): JobOrder => ({
  name: 'run-batch',
  payload: { v: 1, batchId, turn },
  id: jobId('run-batch', batchId, turn),
  ...(startAfter && { startAfter }),
})

/**
 * Takes a batch on: its rows are stored, and submitted one after the other as the limits of use allow. The same id again is the
 * same batch. Throws `too-many-open-requests` while the person has as many under way as may be.
 */
export const beginBatch = defineUseCase({
  permission: 'request.create',
  input: z.object({ batchId: z.uuid(), ...batchRows }),
  async handle(context: Context<BatchPorts>, { batchId, ...order }): Promise<BatchReport> {
    const { ports, actor } = context
    refuseSitesOfApplications(actor, order.resource)
    const known = await ports.batches.find(batchId)
    if (known) return reportOn(ports, visible(actor, known, 'batch.read'))
    if ((await ports.batches.countRunning(actor.tenantId, actor.id)) >= mostBatches)
      throw new ProvisioningError('too-many-open-requests', because('tooManyBatches', { count: mostBatches }))
    const rows = order.rows.map(
      ({ key, body }, place): WaitingRow => ({ place, key, body, requestId: jobId('batch', batchId, key) }),
    )
    const one = newBatch(actor, batchId, order, ports.clock.now().toISOString())
    await ports.work.transaction(async () => {
      if (await ports.batches.insert(one, rows)) await ports.jobs.enqueue([batchTurn(batchId, 0)])
    })
    return readBatch.handle(context, { batchId })
  },
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

/** How a batch does. `not-found` also when it is somebody else's. */
export const readBatch = defineUseCase({
  permission: 'batch.read',
  input: z.object({ batchId: z.uuid() }),
  async handle({ ports, actor }: Context<BatchPorts>, { batchId }): Promise<BatchReport> {
    return reportOn(ports, visible(actor, await ports.batches.find(batchId), 'batch.read'))
  },
})

/** What became of its rows, in their order. The cursor is opaque: it comes from the page before. */
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
    visible(actor, await ports.batches.find(batchId), 'batch.read')
    const from = { ...(status && { status }), ...(cursor !== undefined && { after: decodeCursor(cursor) }) }
    const found = await ports.batches.rows({ batchId, ...from, limit: limit + 1 })
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    return { rows, ...(found.length > limit && last && { nextCursor: encodeCursor(last) }) }
  },
})

/** Ends a batch before its next row. What was submitted stays, each to be cancelled by itself. Throws `already-ended`. */
export const cancelBatch = defineUseCase({
  permission: 'batch.cancel',
  input: z.object({ batchId: z.uuid() }),
  async handle(context: Context<BatchPorts>, { batchId }): Promise<BatchReport> {
    const { ports, actor } = context
    visible(actor, await ports.batches.find(batchId), 'batch.cancel')
    const isCancelled = await endBatch(ports, batchId, { status: 'cancelled', problem: null })
    const report = await readBatch.handle(context, { batchId })
    // A repeated call finds the batch cancelled.
    if (isCancelled || report.batch.status === 'cancelled') return report
    throw new ProvisioningError('already-ended', because('batchEnded'))
  },
})

/** Ends a batch that is under way, with all rows that wait; false when it has ended already. */
export function endBatch(ports: BatchPorts, batchId: string, end: Pick<Batch, 'status' | 'problem'>): Promise<boolean> {
  return ports.work.transaction(async () => {
    const at = ports.clock.now().toISOString()
    const ended = await ports.batches.change(batchId, { ...end, waitsFor: null, updatedAt: at, endedAt: at })
    if (ended) await ports.batches.cancelWaiting(batchId)
    return ended
  })
}

const reportOn = async ({ batches }: BatchPorts, one: Batch): Promise<BatchReport> => ({
  batch: one,
  counts: await batches.counts(one.batchId),
})

/** A batch is its requester's; admins see all of their tenant. */
function visible(actor: Actor, one: Batch | undefined, permission: Permission): Batch {
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
