import { openFaults, quotaUse, submit, templateOf } from '../requests/index.ts'
import {
  type Actor,
  actorFor,
  because,
  type Context,
  isRecord,
  type JobPayload,
  ProvisioningError,
  type SystemContext,
} from '../shared/index.ts'
import {
  type Batch,
  type BatchPorts,
  type BatchReason,
  type BatchRowStatus,
  batchCardsOrder,
  batchTurn,
  endBatch,
  type RowProblem,
  type WaitingRow,
} from './batch.ts'

/** The attempt of a turn of a batch. */
export interface BatchAttempt {
  readonly lastAttempt: boolean
  readonly signal: AbortSignal
  /** Reports a row that cannot be submitted because of a defect of the service. */
  readonly report: (row: string, error: unknown) => void
}

/** The rows of one turn. Few, so that a row that fails repeatedly uses up the attempts of its own turn only. */
const rowsOfATurn = 20
/**
 * No row starts after this time, in milliseconds. It is a third of the job's time limit, so that a slow directory fails
 * no batch.
 */
const longestTurn = 60_000
/** The pause of a waiting batch before its next turn, in milliseconds. It grows with the time without progress. */
const pause = { least: 1000, most: 60_000, share: 1 / 4 } as const

/** Why a row is not submitted now, and in how many milliseconds to retry. */
interface Wait extends BatchReason {
  readonly milliseconds: number
}

/**
 * Runs one turn of a batch: submits rows in order until one has to wait, then orders the next turn. Each request and
 * the result of its row are one transaction with a fixed id. So a turn can be killed and run again at any point, also
 * twice at the same time.
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
    const outcome = await processRow(context, { ...one, updatedAt: movedAt }, row, attempt)
    if (outcome === 'ended') return
    if (outcome !== 'done') {
      wait = outcome
      break
    }
    movedAt = ports.clock.now().toISOString()
  }
  await endTurn(ports, one, turn, wait)
}

/** Orders the next turn, or finishes a batch without waiting rows. */
function endTurn(ports: BatchPorts, one: Batch, turn: number, wait: Wait | undefined): Promise<void> {
  const { batchId } = one
  return ports.work.transaction(async () => {
    const now = ports.clock.now()
    const waitsFor = wait ? { code: wait.code, reason: wait.reason } : null
    if (!(await ports.batches.change(batchId, { waitsFor }))) return
    if ((await ports.batches.waiting(batchId, 1)).length === 0) {
      const at = now.toISOString()
      await ports.batches.change(batchId, { status: 'finished', updatedAt: at, endedAt: at })
      await ports.jobs.enqueue([batchCardsOrder(one, 'end')])
      return
    }
    const startAfter = wait && new Date(now.getTime() + wait.milliseconds)
    // While the rows wait, the approvers are asked about those that were submitted.
    const asks = waitsFor && waitsFor.code !== one.waitsFor?.code ? [batchCardsOrder(one, turn)] : []
    await ports.jobs.enqueue([batchTurn(batchId, turn + 1, startAfter), ...asks])
  })
}

/**
 * Stops a batch whose job has failed for good; `interrupted`: its process was killed in each attempt. Its waiting rows
 * are cancelled, and the job is a dead letter.
 */
export async function giveUpBatch(
  { ports }: SystemContext<BatchPorts>,
  batchId: string,
  why: 'interrupted' | 'unexpected',
): Promise<void> {
  const problem = { code: 'internal', reason: because(why === 'interrupted' ? 'interruptedOfBatch' : 'internalOfRow') }
  await endBatch(ports, batchId, { status: 'stopped', problem })
}

/** Submits one row and returns the result. `ended`: the batch has ended, so the turn ends too. */
async function processRow(
  context: SystemContext<BatchPorts>,
  one: Batch,
  row: WaitingRow,
  attempt: BatchAttempt,
): Promise<'done' | 'ended' | Wait> {
  const { ports } = context
  const { batchId, tenantId, requester, clientId } = one
  let actor: Actor | undefined
  try {
    // For each row again: the requester may have lost rights since the last row.
    actor = await actorFor(context, { tenantId, id: requester.id, clientId })
    const waits = await waitForLimits(context, one, actor)
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

/** Counts one more submission against the rate limits. Returns how long to wait, or undefined if it is allowed. */
async function waitForLimits(
  { ports, settings }: SystemContext<BatchPorts>,
  one: Batch,
  actor: Actor,
): Promise<Wait | undefined> {
  // Checked first, because a counted write cannot be undone. The rows of this batch that wait for approval are one request.
  const [full] = await openFaults(ports, settings, actor, one.batchId)
  if (full) return waiting(ports, one, full)
  const { taken, againInMilliseconds } = await ports.rateLimits.takeWrite(actor)
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
  const alsoWrite = async () => {
    await mark(ports, batchId, place, 'submitted')
    isMarked = true
  }
  const from = { batchId, row: key }
  await submit({ ...context, actor }, { requestId, resource, body, channel: 'rest', batch: from, alsoWrite })
  // A request that existed already did not mark its row.
  if (!isMarked) await mark(ports, batchId, place, 'submitted')
}

/** Thrown inside the transaction: the batch has ended, or another turn has processed the row. */
class RowOver extends Error {}

/** A row that another turn has submitted is done. This turn continues, because the other turn may have stopped. */
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

/** Returns the quota of open requests per person, if it refused the row: the batch waits until one of them ends. */
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
