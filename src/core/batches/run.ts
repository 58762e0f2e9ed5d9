import { isRecord, openFaults, quotaUse, submit, templateOf } from '../requests/index.ts'
import {
  type Actor,
  actorFor,
  because,
  type Context,
  type JobPayload,
  ProvisioningError,
  type SystemContext,
} from '../shared/index.ts'
import {
  type Batch,
  type BatchPorts,
  type BatchReason,
  type BatchRowStatus,
  batchTurn,
  endBatch,
  type RowProblem,
  type WaitingRow,
} from './batch.ts'

/** What a turn of a batch knows of the attempt that it is. */
export interface BatchAttempt {
  readonly lastAttempt: boolean
  readonly signal: AbortSignal
  /** Told of a row that cannot be done for a reason which is ours. */
  readonly report: (row: string, error: unknown) => void
}

/** So many rows a turn, so that one which fails again and again uses up only its own turn's attempts. */
const rowsOfATurn = 20
/** No row is begun after so long, in milliseconds: a third of what its job has, so that a slow directory gives up no batch. */
const longestTurn = 60_000
/** How long a waiting batch pauses before its next turn, in milliseconds: longer, the longer nothing moved. */
const pause = { least: 1000, most: 60_000, share: 1 / 4 } as const

/** Why a row is not submitted now, and in how many milliseconds to try again. */
interface Wait extends BatchReason {
  readonly milliseconds: number
}

/**
 * One turn of a batch: submits rows, in their order, until something has to be waited for, and orders the next turn. Each row's
 * request, with what is said of the row, is one transaction under an id of its own, so this may be killed and run again at any
 * point, also by two at once.
 */
export async function runBatch(
  context: SystemContext<BatchPorts>,
  { batchId, turn }: JobPayload<'run-batch'>,
  attempt: BatchAttempt,
): Promise<void> {
  const { ports } = context
  const one = await ports.batches.find(batchId)
  if (one?.status !== 'running') return
  const rows = await ports.batches.waiting(batchId, rowsOfATurn)
  let wait: Wait | undefined
  let movedAt = one.updatedAt
  const end = ports.clock.now().getTime() + longestTurn
  for (const row of rows) {
    attempt.signal.throwIfAborted()
    if (ports.clock.now().getTime() > end) break
    const outcome = await rowOf(context, { ...one, updatedAt: movedAt }, row, attempt)
    if (outcome === 'ended') return
    if (outcome !== 'done') {
      wait = outcome
      break
    }
    movedAt = ports.clock.now().toISOString()
  }
  await endTurn(ports, batchId, turn, wait)
}

/** Orders the next turn; a batch in which no row waits any more has finished. */
function endTurn(ports: BatchPorts, batchId: string, turn: number, wait: Wait | undefined): Promise<void> {
  return ports.work.transaction(async () => {
    const now = ports.clock.now()
    const waitsFor = wait ? { code: wait.code, reason: wait.reason } : null
    if (!(await ports.batches.change(batchId, { waitsFor }))) return
    if ((await ports.batches.waiting(batchId, 1)).length === 0) {
      const at = now.toISOString()
      await ports.batches.change(batchId, { status: 'finished', updatedAt: at, endedAt: at })
      return
    }
    const startAfter = wait && new Date(now.getTime() + wait.milliseconds)
    await ports.jobs.enqueue([batchTurn(batchId, turn + 1, startAfter)])
  })
}

/** A job of it was given up: what waits is not going to be done, and an admin finds the job among the dead letters. */
export async function giveUpBatch({ ports }: SystemContext<BatchPorts>, batchId: string): Promise<void> {
  const problem = { code: 'internal', reason: because('internalOfRow') }
  await endBatch(ports, batchId, { status: 'stopped', problem })
}

/** What came of trying one row; `ended`: the batch did, so nothing more is to be done. */
async function rowOf(
  context: SystemContext<BatchPorts>,
  one: Batch,
  row: WaitingRow,
  attempt: BatchAttempt,
): Promise<'done' | 'ended' | Wait> {
  const { ports } = context
  const { batchId, tenantId, requester, clientId } = one
  let actor: Actor | undefined
  try {
    // Anew for each row: who may ask for nothing any more, or for less, is not served from what was.
    actor = await actorFor(context, { tenantId, id: requester.id, clientId })
    const waits = await turnOf(context, one, actor)
    if (waits) return waits
    await submitRow(context, one, row, actor)
    return 'done'
  } catch (error) {
    if (error instanceof RowOver) return overOf(ports, batchId)
    if (!(error instanceof ProvisioningError)) {
      if (!attempt.lastAttempt) throw error
      attempt.report(row.key, error)
      return refused(ports, batchId, row, {
        code: 'internal',
        reason: because('internalOfRow'),
        errors: [],
      })
    }
    const { code, reason } = error
    if (code === 'unavailable') return waiting(ports, one, { code, reason: because('batchOutOfOrder') }, 5)
    if (!actor) {
      await endBatch(ports, batchId, { status: 'stopped', problem: { code, reason } })
      return 'ended'
    }
    if (code === 'too-many-open-requests') return waiting(ports, one, { code, reason })
    const quota = await quotaWaitedFor({ ...context, actor }, row, error)
    if (quota) return waiting(ports, one, quota)
    return refused(ports, batchId, row, { code, reason, errors: error.faults.map((fault) => ({ ...fault })) })
  }
}

/** What the limits of use say to one more submission: nothing, when it was counted. */
async function turnOf(
  { ports, settings }: SystemContext<BatchPorts>,
  one: Batch,
  actor: Actor,
): Promise<Wait | undefined> {
  // Looked at first, since a write that was counted is not given back.
  const [full] = await openFaults(ports, settings, actor)
  if (full) return waiting(ports, one, full)
  const { taken, againInMilliseconds } = await ports.limitsOfUse.takeWrite(actor)
  if (taken) return undefined
  const reason = because('batchRateLimited')
  return { code: 'rate-limited', reason, milliseconds: Math.min(pause.most, againInMilliseconds) }
}

async function submitRow(
  context: SystemContext<BatchPorts>,
  { batchId, resource }: Batch,
  { place, key, requestId, body }: WaitingRow,
  actor: Actor,
): Promise<void> {
  const { ports } = context
  let isMarked = false
  const along = async () => {
    await mark(ports, batchId, place, 'submitted')
    isMarked = true
  }
  const from = { batchId, row: key }
  await submit({ ...context, actor }, { requestId, resource, body, channel: 'rest', batch: from, along })
  // One that was there already had nothing written along with it.
  if (!isMarked) await mark(ports, batchId, place, 'submitted')
}

/** Thrown inside the transaction: the batch has ended, or the row was done, since it was looked at. */
class RowOver extends Error {}

/** A row that another turn has submitted meanwhile is done, and this turn goes on: the other one may have stopped. */
const overOf = async ({ batches }: BatchPorts, batchId: string): Promise<'done' | 'ended'> =>
  (await batches.find(batchId))?.status === 'running' ? 'done' : 'ended'

/** Locks the batch first, then the row, in the same order as the end of a batch. */
const mark = (
  ports: BatchPorts,
  batchId: string,
  place: number,
  to: BatchRowStatus,
  problem?: RowProblem,
): Promise<void> =>
  ports.work.transaction(async () => {
    const isRunning = await ports.batches.change(batchId, { updatedAt: ports.clock.now().toISOString() })
    if (!isRunning || !(await ports.batches.settle(batchId, place, to, problem))) throw new RowOver()
  })

async function refused(
  ports: BatchPorts,
  batchId: string,
  { place }: WaitingRow,
  problem: RowProblem,
): Promise<'done' | 'ended'> {
  try {
    await mark(ports, batchId, place, 'refused', problem)
    return 'done'
  } catch (error) {
    if (error instanceof RowOver) return overOf(ports, batchId)
    throw error
  }
}

/** How many requests of a template somebody may have open at a time: one that ends makes room, so it is waited for. */
async function quotaWaitedFor(
  { ports, settings, actor }: Context<BatchPorts>,
  { body, requestId }: WaitingRow,
  { faults }: ProvisioningError,
): Promise<BatchReason | undefined> {
  const [first] = faults
  if (!first || !isRecord(body) || faults.some(({ code }) => code !== 'quota-reached')) return undefined
  const inquiry = { ports, settings, actor, requestId, isSubmission: false, crowded: false } as const
  const template = await templateOf(inquiry, body)
  const { openPerPerson, resources } = template.quota
  const { own, all } = await quotaUse({ ports, actor, but: [requestId] }, template)
  const isOwn = own === openPerPerson && all !== resources
  return isOwn ? { code: first.code, reason: first.reason } : undefined
}

function waiting(ports: BatchPorts, { updatedAt }: Batch, { code, reason }: BatchReason, leastSeconds = 1): Wait {
  const still = (ports.clock.now().getTime() - Date.parse(updatedAt)) * pause.share
  const least = Math.max(pause.least, leastSeconds * 1000)
  return { code, reason, milliseconds: Math.min(pause.most, Math.max(least, still)) }
}
