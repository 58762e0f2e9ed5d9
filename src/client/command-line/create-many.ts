import { randomUUID } from 'node:crypto'
import type { BatchTrial, NewBatch } from '../index.ts'
import type { Body, Fault, FieldFlags } from './body.ts'
import { fingerprintOf, type ResultLine, readResults, readRows, resultsPathOf } from './csv.ts'
import type { Scope } from './define-command.ts'
import { asColumn } from './fields.ts'
import {
  batchOf,
  type Call,
  isOpen,
  isSent,
  type ListRow,
  Results,
  reasonsOf,
  sendAndFollow,
  undecided,
} from './follow-list.ts'
import { promptsOf } from './questions.ts'
import { faultLines } from './show.ts'
import { clean, type ExitCode, exitCodes, fill, texts, UsageError } from './terminal.ts'

interface CreatingMany {
  readonly resource: NewBatch['resource']
  readonly fields: FieldFlags
  /** Completes the body of a line (the template's id, the values of flags, user ids of people), and returns its faults. */
  complete(body: Body): Promise<{ readonly body: Body; readonly faults: readonly Fault[] }>
}
interface How {
  readonly path: string
  readonly onlyTry: boolean
  /** Sends the correct lines without a question. */
  readonly yes: boolean
  /** Follows also requests that wait for approval. */
  readonly watch: boolean
}

/** The limits of the service for one call. */
const largestCall = { rows: 200, bytes: 480 * 1024 } as const

/**
 * Sends a list of requests: checks all lines, asks, sends the correct ones, follows them, and writes the result of each
 * line next to the list. Lines that an earlier run has sent are not sent again: each new run follows their requests.
 */
export async function createMany(scope: Scope, creating: CreatingMany, how: How): Promise<ExitCode> {
  const resultsPath = resultsPathOf(how.path)
  const earlier = await readResults(resultsPath)
  const sentBefore = new Map(earlier.filter(isSent).map((line) => [line.fingerprint, line]))
  const read = await rowsOf(creating, how.path)
  const fresh = read.filter(({ fingerprint, faults }) => faults.length === 0 && !sentBefore.has(fingerprint))
  const trials = await tryRows(scope, creating.resource, fresh)
  const rows = read.map((row): Row => {
    const trial = trials.get(row.key)
    return row.faults.length === 0 && trial ? { ...row, trial, faults: trial.errors } : row
  })
  const unsent = rows.filter(({ fingerprint }) => !sentBefore.has(fingerprint))
  const good = unsent.filter(({ faults }) => faults.length === 0)
  const wrong = unsent.filter(({ faults }) => faults.length > 0)
  if (!scope.terminal.json) showChecks(scope, good, wrong)
  if (how.onlyTry) {
    const valid = wrong.length === 0
    scope.terminal.result({ valid, rows: unsent.map(checkedLine) }, [])
    return valid ? exitCodes.done : exitCodes.refused
  }
  if (good.length > 0 && !(await confirmed(scope, how, good.length, wrong.length))) {
    scope.terminal.note(texts.ask.notSent)
    return exitCodes.cameToNothing
  }
  const calls = [...unfinishedCalls(rows, earlier, how), ...callsOf(good)]
  const results = new Results(resultsPath, linesOf(rows, sentBefore, calls))
  await results.write()
  try {
    await sendAndFollow(scope, creating.resource, { calls, results, watch: how.watch })
  } catch (error) {
    if (scope.signal.aborted && !scope.terminal.json) noteInterruption(scope, results.lines)
    throw error
  }
  return reportResults(scope, results, trials)
}

/** A line of the list. */
interface Row extends ListRow {
  readonly line: number
  readonly faults: readonly Fault[]
  /** The service's preview; undefined if the line had faults before. */
  readonly trial?: Trial
}
type Trial = BatchTrial['rows'][number]

/** Reads and completes all lines. The second of two equal lines is a fault, because it would request the same twice. */
async function rowsOf({ fields, complete }: CreatingMany, path: string): Promise<Row[]> {
  const known = new Map<string, Row>()
  const rows: Row[] = []
  for (const { line, key, body: typed, faults: ofCells } of await readRows(path, fields)) {
    const { body, faults } = await complete(typed)
    const fingerprint = fingerprintOf(body)
    const equal = known.get(fingerprint)
    const row = { line, key, body, fingerprint, faults: [...ofCells, ...faults] }
    const twice = { pointer: '', detail: fill(texts.csv.rowTwice, { line: equal?.line ?? 0 }) }
    // Each line has its own result, so each has its own fingerprint.
    const own = equal ? { ...row, fingerprint: fingerprintOf({ body, line }), faults: [...row.faults, twice] } : row
    known.set(own.fingerprint, own)
    rows.push(own)
  }
  return rows
}

/** Calls of earlier runs with rows that have not ended. */
function unfinishedCalls(rows: readonly Row[], earlier: readonly ResultLine[], { path }: How): Call[] {
  const byPrint = new Map(rows.map((row) => [row.fingerprint, row]))
  const groups = new Map<string, ResultLine[]>()
  for (const line of earlier) groups.set(line.sentAs, [...(groups.get(line.sentAs) ?? []), line])
  return [...groups].flatMap(([sentAs, lines]): Call[] => {
    if (sentAs === '' || !lines.some(isOpen)) return []
    const batchId = lines.find((line) => line.batchId !== '')?.batchId ?? ''
    const isKnown = batchId !== '' || !lines.some(({ status }) => undecided.includes(status))
    // A repeated call needs the same rows in the same order.
    const same = lines.flatMap(({ fingerprint, key }) => {
      const row = byPrint.get(fingerprint)
      return row ? [{ ...row, key }] : []
    })
    if (isKnown || same.length === lines.length) return [{ sentAs, batchId, rows: same }]
    const changed = lines.filter(({ fingerprint }) => !byPrint.has(fingerprint)).map(({ key }) => clean(key))
    throw new UsageError(fill(texts.csv.changedSince, { path, keys: changed.join(', ') }))
  })
}

/** Splits rows into calls. Each call has its key before it is sent, so that a repeat after a crash is the same call. */
function callsOf(rows: readonly Row[]): Call[] {
  const chunks: Row[][] = []
  let bytes = 0
  for (const row of rows) {
    const size = Buffer.byteLength(JSON.stringify({ key: row.key, body: row.body })) + 1
    const last = chunks.at(-1)
    if (last && last.length < largestCall.rows && bytes + size <= largestCall.bytes) last.push(row)
    else chunks.push([row])
    bytes = last === chunks.at(-1) ? bytes + size : size
  }
  return chunks.map((some) => ({ sentAs: randomUUID(), batchId: '', rows: some }))
}

/** Returns the service's preview of each row by its key. */
async function tryRows(
  scope: Scope,
  resource: NewBatch['resource'],
  rows: readonly Row[],
): Promise<ReadonlyMap<string, Trial>> {
  const trials: Trial[] = []
  if (rows.length === 0) return new Map()
  const client = await scope.client()
  for (const { rows: some } of callsOf(rows))
    trials.push(...(await client.tryBatch(batchOf(resource, some), { signal: scope.signal })).rows)
  return new Map(trials.map((trial) => [trial.key, trial]))
}

/** Shows the faults of all lines by line number, the warnings with the number of their lines, and the counts. */
function showChecks({ terminal }: Scope, good: readonly Row[], wrong: readonly Row[]): void {
  for (const { line, key, faults } of wrong) {
    const name = key === String(line) ? String(line) : `${line} (${clean(key)})`
    terminal.note(fill(texts.csv.wrong, { line: name }))
    for (const text of faultLines(faults, asColumn)) terminal.note(text)
  }
  const trials = [...good, ...wrong].flatMap(({ trial }) => trial ?? [])
  const warnings = new Map<string, number>()
  for (const { detail } of trials.flatMap(({ warnings = [] }) => warnings))
    warnings.set(detail, (warnings.get(detail) ?? 0) + 1)
  for (const [detail, count] of warnings) terminal.note(fill(texts.csv.warning, { count, detail: clean(detail) }))
  if (good.length + wrong.length === 0) return
  const approvals = trials.filter(({ approvalRequired }) => approvalRequired).length
  terminal.note(fill(texts.csv.tried, { good: good.length, wrong: wrong.length, approvals }))
}

/** The JSON result of a line that was only checked. */
const checkedLine = ({ line, key, faults, trial }: Row) => ({
  line,
  ...(trial ?? { key, status: 'refused', warnings: [], errors: faults }),
})

async function confirmed(scope: Scope, { yes, path }: How, good: number, wrong: number): Promise<boolean> {
  if (yes) return true
  if (!scope.terminal.isInteractive) throw new UsageError(fill(texts.csv.yesNeeded, { path }))
  const question = wrong === 0 ? texts.csv.send : texts.csv.sendGood
  return promptsOf(scope).yes(fill(question, { good, wrong }), false)
}

/** Returns the results: a line for each row, and for each request whose row is no longer in the list. */
function linesOf(rows: readonly Row[], before: ReadonlyMap<string, ResultLine>, calls: readonly Call[]): ResultLine[] {
  const sentAs = new Map(calls.flatMap((call) => call.rows.map((row) => [row.fingerprint, call.sentAs] as const)))
  const lines = rows.map((row): ResultLine => {
    const { key, fingerprint, faults } = row
    const known = before.get(fingerprint)
    if (known) return known
    const name = [row.body['name'], row.body['displayName']].find((one) => typeof one === 'string')
    const of = { key, name: String(name ?? ''), reference: '', requestId: '', fingerprint, batchId: '' }
    return faults.length > 0
      ? { ...of, status: 'refused', error: reasonsOf(faults), sentAs: '' }
      : { ...of, status: 'sending', error: '', sentAs: sentAs.get(fingerprint) ?? '' }
  })
  const prints = new Set(rows.map(({ fingerprint }) => fingerprint))
  return [...lines, ...[...before.values()].filter(({ fingerprint }) => !prints.has(fingerprint))]
}

function noteInterruption({ terminal }: Scope, lines: readonly ResultLine[]): void {
  const open = lines.filter(isOpen)
  if (open.length > 0) terminal.note(fill(texts.csv.interrupted, { count: open.length }))
}

/** The order of the statuses in the summary. */
const statuses = [
  ...['succeeded', 'pendingApproval', 'queued', 'provisioning', 'waiting', 'sending'],
  ...['refused', 'failed', 'rejected', 'expired', 'cancelled', 'cancelledBefore', 'unknown'],
]

function reportResults({ terminal }: Scope, { lines, path }: Results, trials: ReadonlyMap<string, Trial>): ExitCode {
  const count = (...some: string[]) => lines.filter(({ status }) => some.includes(status)).length
  const refused = count('refused', 'cancelledBefore', 'unknown')
  const nothing = count('failed', 'rejected', 'expired', 'cancelled')
  const counts = { made: count('succeeded'), refused, nothing, open: lines.filter(isOpen).length }
  const shown = lines.map(({ key, name, status, reference, requestId, error }) => {
    const { warnings = [] } = trials.get(key) ?? {}
    return { key, name, status, reference, requestId, error, ...(warnings.length > 0 && { warnings }) }
  })
  const parts = statuses.filter((one) => count(one) > 0).map((one) => `${count(one)} ${one}`)
  terminal.result({ ...counts, results: path, rows: shown }, [
    `${parts.join(', ')}.`,
    ...(count('pendingApproval') > 0 ? [texts.csv.approvals] : []),
    fill(texts.csv.results, { path }),
  ])
  return refused > 0 ? exitCodes.refused : nothing > 0 ? exitCodes.cameToNothing : exitCodes.done
}
