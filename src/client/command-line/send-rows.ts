import type { BatchRow, NewBatch } from '../index.ts'
import type { Body } from './body.ts'
import type { Chunk } from './create-many.ts'
import type { ResultLine } from './csv-results.ts'
import type { Scope } from './define-command.ts'
import type { ProgressBar } from './progress-bar.ts'

/** One request of a list. */
export interface Row {
  readonly key: string
  readonly body: Body
  readonly fingerprint: string
}

/** Sends rows that go in one call, follows them, and says of each what became of it; also when it is interrupted. */
export async function sendRows(
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
    // Ctrl-C ends the following, not the batch: what is known by now is worth keeping.
    for await (const found of client.allBatchRows(batchId)) {
      const row = byKey.get(found.key)
      if (row) change(row, resultOf(found))
    }
  }
}

/** The service judges what each row is. */
export const batchOf = (resource: NewBatch['resource'], rows: readonly Row[]): NewBatch => ({
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
