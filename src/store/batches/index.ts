/** Batches with their rows. */
import {
  type BatchRow,
  type BatchRowStatus,
  type BatchStore,
  batch,
  batchRowStatuses,
  type FieldWarning,
  fieldWarningsOf,
  limitedStates,
  provisioningRequest,
  requestState,
  rowProblem,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** How long a batch is kept after its end, in days. Its requests stay. */
const keptDays = 30

interface Row {
  readonly place: number
  readonly key: string
  readonly status: string
  readonly request_id: string
  readonly problem: unknown
  readonly number: number | null
  readonly state: string | null
  readonly sent: unknown
}

export function createBatchStore(database: Database): BatchStore {
  return {
    async insert(one, rows) {
      const { batchId, tenantId, requester, status, updatedAt, endedAt } = one
      const { rowCount } = await database.query(
        `INSERT INTO batches (batch_id, tenant_id, person_id, status, updated_at, ended_at, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
        [batchId, tenantId, requester.id, status, updatedAt, endedAt, JSON.stringify(one)],
      )
      if (rowCount === 0) return false
      await database.query(
        `INSERT INTO batch_rows (batch_id, place, key, request_id, body)
         SELECT $1, place, key, request_id, body::jsonb
         FROM unnest($2::integer[], $3::text[], $4::uuid[], $5::text[]) AS new_row (place, key, request_id, body)`,
        [
          batchId,
          rows.map(({ place }) => place),
          rows.map(({ key }) => key),
          rows.map(({ requestId }) => requestId),
          rows.map(({ body }) => JSON.stringify(body)),
        ],
      )
      return true
    },
    async find(batchId) {
      const { rows } = await database.query<{ body: unknown }>('SELECT body FROM batches WHERE batch_id = $1', [
        batchId,
      ])
      return rows[0] && batch.parse(rows[0].body)
    },
    async change(batchId, to) {
      const { rowCount } = await database.query(
        `UPDATE batches SET body = body || $2::jsonb, status = coalesce($3, status),
           updated_at = coalesce($4::timestamptz, updated_at), ended_at = coalesce($5::timestamptz, ended_at)
         WHERE batch_id = $1 AND status = 'running'`,
        [batchId, JSON.stringify(to), to.status ?? null, to.updatedAt ?? null, to.endedAt ?? null],
      )
      return rowCount === 1
    },
    async countRunning(tenantId, personId) {
      const { rows } = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM batches WHERE tenant_id = $1 AND person_id = $2 AND status = 'running'`,
        [tenantId, personId],
      )
      return rows[0]?.n ?? 0
    },
    async ofRequester(tenantId, personId, limit) {
      const { rows } = await database.query<{ body: unknown }>(
        'SELECT body FROM batches WHERE tenant_id = $1 AND person_id = $2 ORDER BY updated_at DESC LIMIT $3',
        [tenantId, personId, limit],
      )
      return rows.map(({ body }) => batch.parse(body))
    },
    async waiting(batchId, limit) {
      const { rows } = await database.query<Row & { body: unknown }>(
        `SELECT place, key, request_id, body FROM batch_rows
         WHERE batch_id = $1 AND status = 'waiting' ORDER BY place LIMIT ${Number(limit)}`,
        [batchId],
      )
      return rows.map(({ place, key, request_id: requestId, body }) => ({ place, key, requestId, body }))
    },
    async settle(batchId, place, to, problem) {
      const { rowCount } = await database.query(
        `UPDATE batch_rows SET status = $3, problem = $4, body = NULL
         WHERE batch_id = $1 AND place = $2 AND status = 'waiting'`,
        [batchId, place, to, problem ? JSON.stringify(problem) : null],
      )
      return rowCount === 1
    },
    async cancelWaiting(batchId) {
      await database.query(
        `UPDATE batch_rows SET status = 'cancelled', body = NULL WHERE batch_id = $1 AND status = 'waiting'`,
        [batchId],
      )
    },
    rows: (query) => rowsOf(database, query),
    counts: (batchId) => countsOf(database, batchId),
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query(
        `DELETE FROM batches WHERE ended_at < $1 AND NOT EXISTS (
           SELECT FROM requests q WHERE q.tenant_id = batches.tenant_id AND q.body -> 'batch' IS NOT NULL
           AND q.body -> 'batch' ->> 'batchId' = batches.batch_id::text AND q.status = ANY($2))`,
        [before, limitedStates],
      )
    },
  }
}

/** Lists rows with the states and warnings of their requests. */
async function rowsOf(
  database: Database,
  { batchId, status, after, limit }: Parameters<BatchStore['rows']>[0],
): Promise<BatchRow[]> {
  const { rows } = await database.query<Row>(
    `SELECT r.place, r.key, r.status, r.request_id, r.problem, q.number, q.status AS state, q.body AS sent
     FROM batch_rows r LEFT JOIN requests q ON q.request_id = r.request_id AND r.status = 'submitted'
     WHERE r.batch_id = $1 AND r.place > $2 AND ($3::text IS NULL OR r.status = $3)
     ORDER BY r.place LIMIT ${Number(limit)}`,
    [batchId, after ?? -1, status ?? null],
  )
  return rows.map(({ place, key, status: stored, request_id: requestId, problem, number, state, sent }) => ({
    place,
    key,
    status: rowStatusOf(stored),
    request: number === null ? null : { requestId, number, status: requestState.parse(state) },
    problem: problem === null ? null : rowProblem.parse(problem),
    warnings: warningsIn(sent),
  }))
}

/** Returns the warnings of a stored request; an empty list for an unreadable request, so that it hides no other row. */
function warningsIn(stored: unknown): FieldWarning[] {
  const request = provisioningRequest.safeParse(stored).data
  return request === undefined ? [] : fieldWarningsOf(request)
}

async function countsOf(database: Database, batchId: string): Promise<Awaited<ReturnType<BatchStore['counts']>>> {
  const { rows } = await database.query<{ status: string; state: string | null; n: number }>(
    `SELECT r.status, q.status AS state, count(*)::int AS n
     FROM batch_rows r LEFT JOIN requests q ON q.request_id = r.request_id AND r.status = 'submitted'
     WHERE r.batch_id = $1 GROUP BY 1, 2`,
    [batchId],
  )
  const counts: { rows: Partial<Record<BatchRowStatus, number>>; requests: Record<string, number> } = {
    rows: {},
    requests: {},
  }
  for (const { status, state, n } of rows) {
    const rowStatus = rowStatusOf(status)
    counts.rows[rowStatus] = (counts.rows[rowStatus] ?? 0) + n
    if (state !== null) counts.requests[requestState.parse(state)] = n
  }
  return counts
}

function rowStatusOf(text: string): BatchRowStatus {
  const known = batchRowStatuses.find((one) => one === text)
  if (!known) throw new Error(`unknown status of a batch row: ${text}`)
  return known
}
