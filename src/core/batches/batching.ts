import { z } from 'zod'
import { rolesOf } from '../requests/index.ts'
import {
  type Actor,
  access,
  because,
  type Context,
  defineUseCase,
  fault,
  type JobOrder,
  jobId,
  type Permission,
  ProvisioningError,
  refuseFields,
} from '../shared/index.ts'
import {
  type Batch,
  type BatchOrder,
  type BatchReport,
  type BatchRow,
  batchRowStatuses,
  batchRows,
  mostBatches,
  type WaitingRow,
} from './batch.ts'
import type { BatchPorts } from './ports.ts'

/** The order for a turn of a batch; a turn is ordered once, whoever does. */
export const batchTurn = (batchId: string, turn: number, startAfter?: Date): JobOrder => ({
  name: 'run-batch',
  payload: { v: 1, batchId, turn },
  id: jobId('run-batch', batchId, turn),
  ...(startAfter && { startAfter }),
})

/** An application asks for mailboxes alone, one by one or many at once. */
export function refuseSitesOfApplications(actor: Actor, { resource }: Pick<BatchOrder, 'resource'>): void {
  if (resource === 'site' && actor.clientId !== undefined)
    throw new ProvisioningError('forbidden', because('sitesNeedPerson'))
}

/**
 * Takes a batch on: its rows are stored, and submitted one after the other as the limits of use allow. The same id again is the
 * same batch. Throws `too-many-open-requests` while the person has as many under way as may be.
 */
export const beginBatch = defineUseCase({
  permission: 'request.create',
  input: z.object({ batchId: z.uuid(), ...batchRows }),
  async handle(context: Context<BatchPorts>, { batchId, ...order }): Promise<BatchReport> {
    const { ports, actor } = context
    refuseSitesOfApplications(actor, order)
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
  const { id, displayName, userPrincipalName, tenantId, clientId } = actor
  return {
    ...{ v: 1, batchId, tenantId, resource, status: 'running' },
    requester: { id, displayName, userPrincipalName },
    ...(clientId !== undefined && { clientId }),
    ...{ waitsFor: null, problem: null, createdAt: at, updatedAt: at, endedAt: null },
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
    // Asked for twice it is cancelled all the same.
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
