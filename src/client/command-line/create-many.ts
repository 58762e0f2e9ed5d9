import { randomUUID } from 'node:crypto'
import type { BatchRow, BatchTrial, NewBatch } from '../index.ts'
import type { Body, FieldFlags } from './body.ts'
import { fingerprintOf, type ResultLine, readResults, readRows, resultsPathOf, writeResults } from './csv.ts'
import type { Scope } from './define-command.ts'
import { promptsOf } from './questions.ts'
import { faultLines, type ProgressBar, progressBar } from './show.ts'
import { clean, type ExitCode, exitCodes, fill, texts, UsageError } from './terminal.ts'

interface CreatingMany {
  readonly resource: NewBatch['resource']
  readonly fields: FieldFlags
  /** Completes the body of a line: the template's id, the values of flags, user ids of people. */
  complete(body: Body): Promise<Body>
}
interface How {
  readonly path: string
  readonly onlyTry: boolean
  /** Sends without a question. */
  readonly yes: boolean
}

/** The limits of the service for one call. */
const largestCall = { rows: 200, bytes: 480 * 1024 } as const

/**
 * Sends a list of requests: checks it, asks, sends, follows it, and writes the result of each line next to the list.
 * Lines that an earlier run has sent are not sent again: their interrupted calls are repeated and followed.
 */
export async function createMany(scope: Scope, creating: CreatingMany, how: How): Promise<ExitCode> {
  const { terminal } = scope
  const resultsPath = resultsPathOf(how.path)
  const rows = await rowsOf(creating, how.path)
  const before = new Map((await readResults(resultsPath)).map((line) => [line.fingerprint, line]))
  const isSent = ({ fingerprint }: Row) => {
    const line = before.get(fingerprint)
    return line !== undefined && (line.requestId !== '' || line.status === 'sending' || line.status === 'waiting')
  }
  const fresh = rows.filter((row) => !isSent(row))
  const isRefused = await dryRun(scope, creating, fresh)
  const good = fresh.filter(({ key }) => !isRefused.has(key))
  if (how.onlyTry) return isRefused.size === 0 ? exitCodes.done : exitCodes.refused
  if (good.length > 0 && !(await confirmed(scope, how, good.length))) {
    terminal.note(texts.ask.notSent)
    return exitCodes.cameToNothing
  }
  const lines = new Map<string, ResultLine>()
  const chunks = [...interruptedChunks(rows, before), ...chunksOf(good)]
  for (const row of rows) lines.set(row.fingerprint, lineOf(row, before, isRefused.get(row.key)))
  for (const { rows: some, sentAs } of chunks)
    for (const row of some) setLine(lines, row, { status: 'sending', sentAs, error: '' })
  const write = () => writeResults(resultsPath, [...lines.values()])
  await write()
  let done = 0
  const total = chunks.reduce((sum, { rows: some }) => sum + some.length, 0)
  for (const chunk of chunks) {
    const bar = progressBar(terminal, total, done)
    const change = (row: Row, to: Partial<ResultLine>) => setLine(lines, row, to)
    try {
      await sendRows(scope, creating.resource, chunk, { bar, change })
    } finally {
      await write()
    }
    done += chunk.rows.length
  }
  return reportResults(scope, [...lines.values()], resultsPath)
}

/** Throws {@link UsageError} for two equal lines, which would request the same twice. */
async function rowsOf({ fields, complete }: CreatingMany, path: string): Promise<Row[]> {
  const known = new Map<string, string>()
  const rows: Row[] = []
  for (const { key, body: typedBody } of await readRows(path, fields)) {
    const body = await complete(typedBody)
    const fingerprint = fingerprintOf(body)
    const other = known.get(fingerprint)
    if (other !== undefined) throw new UsageError(fill(texts.csv.rowTwice, { key: clean(key), other: clean(other) }))
    known.set(fingerprint, key)
    rows.push({ key, body, fingerprint })
  }
  return rows
}

interface Chunk {
  readonly sentAs: string
  readonly rows: readonly Row[]
}

/** Calls that an earlier run did not finish: the same rows in the same order, under the same key. */
function interruptedChunks(rows: readonly Row[], before: ReadonlyMap<string, ResultLine>): Chunk[] {
  const byPrint = new Map(rows.map((row) => [row.fingerprint, row]))
  const sent = new Map<string, ResultLine[]>()
  for (const line of before.values()) sent.set(line.sentAs, [...(sent.get(line.sentAs) ?? []), line])
  return [...sent].flatMap(([sentAs, lines]) => {
    const isOpen = lines.some(({ status }) => status === 'sending' || status === 'waiting')
    const some = lines.flatMap(({ fingerprint, key }) => {
      const row = byPrint.get(fingerprint)
      return row ? [{ ...row, key }] : []
    })
    return sentAs !== '' && isOpen && some.length === lines.length ? [{ sentAs, rows: some }] : []
  })
}

/** Splits rows into calls. Each call has its key before it is sent, so that a repeat after a crash is the same call. */
function chunksOf(rows: readonly Row[]): Chunk[] {
  const chunks: Row[][] = []
  let bytes = 0
  for (const row of rows) {
    const size = Buffer.byteLength(JSON.stringify({ key: row.key, body: row.body })) + 1
    const last = chunks.at(-1)
    if (last && last.length < largestCall.rows && bytes + size <= largestCall.bytes) last.push(row)
    else chunks.push([row])
    bytes = last === chunks.at(-1) ? bytes + size : size
  }
  return chunks.map((some) => ({ sentAs: randomUUID(), rows: some }))
}

/** Shows what the service would refuse, and returns the reasons by row. */
async function dryRun(
  scope: Scope,
  { resource }: CreatingMany,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>()
  if (rows.length === 0) return refused
  const client = await scope.client()
  const trials: BatchTrial['rows'][number][] = []
  for (const { rows: some } of chunksOf(rows)) {
    trials.push(...(await client.tryBatch(batchOf(resource, some), { signal: scope.signal })).rows)
  }
  for (const { key, errors } of trials.filter(({ status }) => status === 'refused')) {
    scope.terminal.note(fill(texts.csv.wouldBeRefused, { key: clean(key) }))
    for (const line of faultLines(errors)) scope.terminal.note(line)
    refused.set(key, errors.map(({ pointer, detail }) => `${pointer}: ${detail}`).join(' '))
  }
  const approvals = trials.filter(({ approvalRequired }) => approvalRequired).length
  scope.terminal.note(fill(texts.csv.tried, { good: rows.length - refused.size, refused: refused.size, approvals }))
  return refused
}

async function confirmed(scope: Scope, { yes, path }: How, count: number): Promise<boolean> {
  if (yes) return true
  if (!scope.terminal.isInteractive) throw new UsageError(fill(texts.csv.yesNeeded, { path }))
  return promptsOf(scope).yes(fill(texts.csv.send, { count }), false)
}

function lineOf(row: Row, before: ReadonlyMap<string, ResultLine>, refused: string | undefined): ResultLine {
  const name = [row.body['name'], row.body['displayName']].find((one) => typeof one === 'string')
  const fresh = { ...{ key: row.key, status: '', reference: '', requestId: '', error: '', sentAs: '' } }
  const known = before.get(row.fingerprint)
  const line = { ...fresh, ...known, name: String(name ?? ''), fingerprint: row.fingerprint }
  return refused === undefined ? line : { ...line, status: 'refused', sentAs: '', error: refused }
}

function setLine(lines: Map<string, ResultLine>, { fingerprint }: Row, to: Partial<ResultLine>): void {
  const line = lines.get(fingerprint)
  if (line) lines.set(fingerprint, { ...line, ...to })
}

function reportResults({ terminal }: Scope, lines: readonly ResultLine[], path: string): ExitCode {
  const count = (...status: string[]) => lines.filter((line) => status.includes(line.status)).length
  const refused = count('refused', 'cancelledBefore')
  const nothing = count('failed', 'rejected', 'expired', 'cancelled')
  const counts = {
    made: count('succeeded'),
    refused,
    nothing,
    open: count('pendingApproval', 'queued', 'provisioning'),
  }
  const results = lines.map(({ key, name, status, reference, requestId, error }) => {
    return { key, name, status, reference, requestId, error }
  })
  terminal.result({ ...counts, results: path, rows: results }, [
    fill(texts.csv.done, counts),
    fill(texts.csv.results, { path }),
  ])
  return refused > 0 ? exitCodes.refused : nothing > 0 ? exitCodes.cameToNothing : exitCodes.done
}

interface Row {
  readonly key: string
  readonly body: Body
  readonly fingerprint: string
}

/** Sends the rows of one call, follows them, and records the result of each; also when it is interrupted. */
async function sendRows(
  { client: signedIn, signal }: Scope,
  resource: NewBatch['resource'],
  { rows, sentAs }: Chunk,
  { bar, change }: { readonly bar: ProgressBar; readonly change: (row: Row, to: Partial<ResultLine>) => void },
): Promise<void> {
  const client = await signedIn()
  const { batchId } = await client.createBatch(batchOf(resource, rows), { idempotencyKey: sentAs, signal })
  try {
    await client.waitForBatch(batchId, { signal, onLook: (batch) => bar.show(batch) })
  } finally {
    bar.end()
    const byKey = new Map(rows.map((row) => [row.key, row]))
    // Ctrl-C ends the following, not the batch: results so far are still recorded.
    for await (const found of client.allBatchRows(batchId)) {
      const row = byKey.get(found.key)
      if (row) change(row, resultOf(found))
    }
  }
}

/** The service validates each row. */
const batchOf = (resource: NewBatch['resource'], rows: readonly Row[]): NewBatch => ({
  resource,
  rows: rows.map(({ key, body }) => ({ key, body: body as never })),
})

function resultOf({ status, request, problem }: BatchRow): Partial<ResultLine> {
  if (request) return { ...request, error: '' }
  if (problem) {
    const fields = problem.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`)
    return { status, error: fields.join(' ') || problem.detail }
  }
  return { status: status === 'cancelled' ? 'cancelledBefore' : status }
}
