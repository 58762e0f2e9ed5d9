import { type Batch, type BatchRow, isBatchOver, isOver, type NewBatch, ProblemError } from '../index.ts'
import type { Body, Fault } from './body.ts'
import { type ResultLine, writeResults } from './csv.ts'
import type { Scope } from './define-command.ts'
import { asColumn } from './fields.ts'
import { type ProgressBar, progressBar } from './show.ts'
import { texts } from './terminal.ts'

/** A correct line of a list. */
export interface ListRow {
  readonly key: string
  readonly body: Body
  readonly fingerprint: string
}

const openStates: readonly string[] = ['queued', 'provisioning', 'pendingApproval']
/** Statuses of rows whose request does not exist yet, or may exist only in the service. */
export const undecided: readonly string[] = ['sending', 'waiting']
export const isSent = ({ requestId, status }: ResultLine): boolean =>
  requestId !== '' || undecided.includes(status) || status === 'unknown'
export const isOpen = ({ status }: ResultLine): boolean => openStates.includes(status) || undecided.includes(status)

/** A call to send, or to repeat with its key if it is unknown whether it arrived. It has its batch if that is known. */
export interface Call {
  readonly sentAs: string
  readonly batchId: string
  readonly rows: readonly ListRow[]
}

export const reasonsOf = (faults: readonly Fault[]): string =>
  faults.map(({ pointer, detail }) => [asColumn(pointer), detail].filter(Boolean).join(': ')).join(' ')

/** The results file in memory. */
export class Results {
  readonly path: string
  readonly lines: ResultLine[]
  constructor(path: string, lines: ResultLine[]) {
    this.path = path
    this.lines = lines
  }
  write(): Promise<void> {
    return writeResults(this.path, this.lines)
  }
  of({ sentAs }: Pick<Call, 'sentAs'>): ResultLine[] {
    return this.lines.filter((line) => line.sentAs === sentAs)
  }
  change(matches: (line: ResultLine) => boolean, to: Partial<ResultLine>): void {
    for (const [index, line] of this.lines.entries()) if (matches(line)) this.lines[index] = { ...line, ...to }
  }
}

interface Sending {
  readonly calls: readonly Call[]
  readonly results: Results
  readonly watch: boolean
  /** When to stop following a batch; by default at the end of its work, with `watch` also of its approvals. */
  readonly until?: (batch: Batch) => boolean
}

/**
 * Sends each call, or repeats it, then follows the rows of all calls: people may take days to decide the first ones.
 * Writes the results so far also after an interruption.
 */
export async function sendAndFollow(scope: Scope, resource: NewBatch['resource'], sending: Sending) {
  const { calls, results } = sending
  const sent: Call[] = []
  // Sent batches that may still submit rows.
  const running: Call[] = []
  for (const call of calls) {
    let known: Call | undefined
    while (!known) {
      try {
        known = await send(scope, resource, call, results)
      } catch (error) {
        const [earliest] = running.splice(0, 1)
        if (!(error instanceof ProblemError) || error.code !== 'too-many-open-requests' || !earliest) throw error
        // The service limits the running batches of one person.
        await follow(scope, earliest, { ...sending, watch: false, until: ({ status }) => status !== 'running' })
      }
    }
    sent.push(known)
    running.push(known)
  }
  for (const call of sent) await follow(scope, call, sending)
}

/** Sends a call whose batch is not known, and writes its batch to the results. */
async function send(scope: Scope, resource: NewBatch['resource'], call: Call, results: Results): Promise<Call> {
  if (call.batchId !== '' || !results.of(call).some(({ status }) => undecided.includes(status))) return call
  const client = await scope.client()
  const how = { idempotencyKey: call.sentAs, signal: scope.signal }
  const { batchId } = await client.createBatch(batchOf(resource, call.rows), how)
  const isOfCall = ({ sentAs }: ResultLine) => sentAs === call.sentAs
  results.change(isOfCall, { batchId })
  results.change((line) => isOfCall(line) && line.status === 'sending', { status: 'waiting' })
  await results.write()
  return { ...call, batchId }
}

async function follow(scope: Scope, call: Call, sending: Sending): Promise<void> {
  const { calls, results } = sending
  const linesOf = (some: readonly Call[]) => some.flatMap((one) => results.of(one))
  const before = linesOf(
    calls.slice(
      0,
      calls.findIndex(({ sentAs }) => sentAs === call.sentAs),
    ),
  )
  const bar = progressBar(scope.terminal, linesOf(calls).length, {
    succeeded: before.filter(({ status }) => status === 'succeeded').length,
    refused: before.filter(({ status }) => status === 'refused').length,
    done: before.filter((line) => !isOpen(line)).length,
  })
  try {
    await followCall(scope, { ...sending, call, bar })
  } finally {
    bar.end()
    await results.write()
  }
}

interface Following extends Omit<Sending, 'calls'> {
  readonly call: Call
  readonly bar: ProgressBar
}

async function followCall(scope: Scope, following: Following): Promise<void> {
  if (following.call.batchId === '' || !(await followBatch(scope, following))) await followRequests(scope, following)
}

/** Follows the rows of a batch; false if the service has forgotten the batch, as it does 30 days after its end. */
async function followBatch(scope: Scope, { call, results, bar, watch, ...following }: Following): Promise<boolean> {
  const client = await scope.client()
  const { signal } = scope
  let latest: Batch | undefined
  const onPoll = (batch: Batch) => {
    latest = batch
    bar.show(batch)
  }
  const { until = watch ? hasEnded : isBatchOver } = following
  try {
    await client.waitForBatch(call.batchId, { signal, onPoll, until })
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not-found') return false
    throw error
  } finally {
    // Ctrl-C ends the following, not the batch: results so far are still recorded.
    if (latest)
      for await (const row of client.allBatchRows(call.batchId))
        results.change(({ sentAs, key }) => sentAs === call.sentAs && key === row.key, resultOf(row, latest))
  }
  return true
}

/** Whether no request of a batch is open, not even for approval. */
const hasEnded = ({ status, requests }: Batch): boolean =>
  status !== 'running' && openStates.every((state) => !requests[state as keyof typeof requests])

/** Follows requests one by one. */
async function followRequests(scope: Scope, { call, results, watch }: Omit<Following, 'bar'>): Promise<void> {
  const client = await scope.client()
  for (const { fingerprint, requestId } of results.of(call).filter(isOpen)) {
    const isThis = (line: ResultLine) => line.fingerprint === fingerprint
    if (requestId === '') {
      results.change(isThis, { status: 'unknown', error: texts.csv.forgotten })
      continue
    }
    const request = await client.waitForRequest(requestId, {
      signal: scope.signal,
      until: (one) => isOver(one) || (!watch && one.status === 'pendingApproval'),
    })
    results.change(isThis, { status: request.status, reference: request.reference })
  }
}

/** The service validates each row. */
export const batchOf = (resource: NewBatch['resource'], rows: Call['rows']): NewBatch => ({
  resource,
  rows: rows.map(({ key, body }) => ({ key, body: body as never })),
})

function resultOf({ status, request, problem }: BatchRow, batch: Batch): Partial<ResultLine> {
  if (request) return { ...request, error: '' }
  if (problem) return { status, error: reasonsOf(problem.errors) || problem.detail }
  return status === 'cancelled' ? { status: 'cancelledBefore', error: batch.problem?.detail ?? '' } : { status }
}
