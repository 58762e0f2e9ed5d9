/**
 * The service’s own health: statistics, calls to Microsoft 365 and running processes.
 */
import {
  type EndedRequest,
  type ProcessStore,
  resourceKinds,
  type SeenProcess,
  type Span,
  type Spread,
  type StatsStore,
  type SubmittedRow,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

export { type CallCounts, createCallCounts } from './service-calls.ts'

/** The condition of the index of migration 16. */
const outcomes = `log.tenant_id = $1 AND log.at >= $2 AND log.at < $3
  AND log.action IN ('approved', 'rejected', 'succeeded', 'failed')`

const template = `request.body -> 'template'`
/** Requests by kind, state and template, with the newest name of the template. */
const byTemplate = `
  SELECT request.kind, request.status, ${template} ->> 'id' AS "templateId", count(*)::int AS count,
    first_value(max(named.name)) OVER (PARTITION BY ${template} ->> 'id' ORDER BY max(request.number) DESC) AS name
  FROM requests request
  CROSS JOIN LATERAL (SELECT ${template} ->> 'name' AS name) AS named
  WHERE request.tenant_id = $1 AND request.submitted_at >= $2 AND request.submitted_at < $3
  GROUP BY request.kind, request.status, ${template} ->> 'id'`

const half = 'percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP'
const seconds = (from: string, until: string) => `(ORDER BY extract(epoch FROM ${until} - ${from})::float8)`
const queuedAt = `coalesce((request.body ->> 'queuedAt')::timestamptz, request.submitted_at)`
/**
 * A request counts as decided with its last decision if it was queued or rejected, and not if it ended before all decisions
 * that it needed. Each request is decided and created at most once.
 */
const measured = `
  WITH happened AS (SELECT log.request_id, log.action, log.at FROM audit_log log WHERE ${outcomes}),
  decided AS (
    SELECT request.status, request.submitted_at, last.at FROM (
      SELECT request_id, max(at) AS at FROM happened WHERE action IN ('approved', 'rejected') GROUP BY request_id) AS last
    JOIN requests request USING (request_id)
    WHERE (request.status = 'rejected' OR request.body ->> 'queuedAt' IS NOT NULL)
      AND NOT EXISTS (SELECT FROM audit_log later WHERE later.request_id = last.request_id
        AND later.action IN ('approved', 'rejected') AND later.at > last.at)),
  made AS (
    SELECT happened.at, request.submitted_at, ${queuedAt} AS queued_at
    FROM happened JOIN requests request USING (request_id) WHERE happened.action = 'succeeded')
  SELECT
    (SELECT count(*)::int FROM decided) AS decided,
    (SELECT count(*)::int FROM decided WHERE status = 'rejected') AS rejected,
    (SELECT count(*)::int FROM made) AS made,
    (SELECT count(*)::int FROM happened WHERE action = 'failed') AS failed,
    (SELECT ${half} ${seconds('submitted_at', 'at')} FROM decided) AS "toDecision",
    (SELECT ${half} ${seconds('submitted_at', 'at')} FROM made) AS "toCompletion",
    (SELECT ${half} ${seconds('queued_at', 'at')} FROM made) AS work`

/**
 * Decisions without overrides by admins. The time counts from the start of the stage, or from the submission for older
 * requests.
 */
const approvers = `
  WITH decisions AS (
    SELECT decision -> 'by' AS by, decision ->> 'decision' AS decision,
      decision ? 'override' AS is_override, (decision ->> 'at')::timestamptz AS at,
      coalesce((stage ->> 'openedAt')::timestamptz, request.submitted_at) AS since
    FROM requests request
    CROSS JOIN LATERAL jsonb_array_elements(request.body -> 'approvals') AS stage
    CROSS JOIN LATERAL jsonb_array_elements(stage -> 'decisions') AS decision
    WHERE request.request_id IN (SELECT log.request_id FROM audit_log log WHERE ${outcomes}
      AND log.action IN ('approved', 'rejected')))
  SELECT (array_agg(by ORDER BY at DESC))[1] AS person, count(*)::int AS decisions,
    (count(*) FILTER (WHERE decision = 'rejected'))::int AS rejections,
    percentile_cont(0.5) WITHIN GROUP ${seconds('since', 'at')} AS median, (count(*) OVER ())::int AS "all"
  FROM decisions WHERE at >= $2 AND at < $3 AND NOT is_override
  GROUP BY by ->> 'id' ORDER BY count(*) DESC, max(at) DESC LIMIT $4`

const failures = `
  SELECT coalesce(log.body -> 'data' ->> 'code', 'unknown') AS code, count(*)::int AS count
  FROM audit_log log WHERE ${outcomes} AND log.action = 'failed' GROUP BY 1 ORDER BY 2 DESC, 1`

/** By the index of migration 26, kind by kind. */
const lastEnded = `
  SELECT ended.* FROM unnest($4::text[]) AS every (kind) CROSS JOIN LATERAL (
    SELECT request.kind, request.status, request.updated_at AS at FROM requests request
    WHERE request.tenant_id = $1 AND request.kind = every.kind AND request.updated_at >= $2
      AND request.status IN ('succeeded', 'failed')
    ORDER BY request.updated_at DESC LIMIT $3) AS ended`

interface MeasuredRow extends Record<'decided' | 'rejected' | 'made' | 'failed', number> {
  readonly toDecision: number[] | null
  readonly toCompletion: number[] | null
  readonly work: number[] | null
}
type ApproverRow = Awaited<ReturnType<StatsStore['approvers']>>['approvers'][number] & { readonly all: number }

/** Statistics over all requests. They use only values that stay when a request's details are removed. */
export function createStatsStore(database: Database): StatsStore {
  const of = (tenantId: string, { from, until }: Span) => [tenantId, from.toISOString(), until.toISOString()]
  return {
    submitted: async (tenantId, span) => (await database.query<SubmittedRow>(byTemplate, of(tenantId, span))).rows,
    async countSubmitted(tenantId, span) {
      const { rows } = await database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM requests WHERE tenant_id = $1 AND submitted_at >= $2 AND submitted_at < $3`,
        of(tenantId, span),
      )
      return rows[0]?.count ?? 0
    },
    async measure(tenantId, span) {
      const { rows } = await database.query<MeasuredRow>(measured, of(tenantId, span))
      const [row] = rows
      if (!row) throw new Error('the store returned no counts')
      const { toDecision, toCompletion, work, ...counts } = row
      return { ...counts, toDecision: spreadOf(toDecision), toCompletion: spreadOf(toCompletion), work: spreadOf(work) }
    },
    async approvers(tenantId, span, most) {
      const { rows } = await database.query<ApproverRow>(approvers, [...of(tenantId, span), most])
      return { approvers: rows.map(({ all: _, ...row }) => row), approverCount: rows[0]?.all ?? 0 }
    },
    failures: async (tenantId, span) =>
      (await database.query<{ code: string; count: number }>(failures, of(tenantId, span))).rows,
    lastEnded: async (tenantId, since, most) =>
      (await database.query<EndedRequest>(lastEnded, [tenantId, since.toISOString(), most, resourceKinds])).rows,
  }
}

/** Clocks of replicas differ a little, so negative times count as 0. */
function spreadOf(percentiles: readonly number[] | null): Spread {
  const [median, p95] = percentiles ?? []
  return median === undefined || p95 === undefined ? null : { median: whole(median), p95: whole(p95) }
}
const whole = (seconds: number): number => Math.max(0, Math.round(seconds))

/** How long a process that stopped unexpectedly is remembered, in hours. */
const keptHours = 24

interface Row {
  readonly process_id: string
  readonly name: string
  readonly version: string
  readonly works: boolean
  readonly started_at: Date
  readonly seen_at: Date
  readonly silent: number
}
const columns = `process_id, name, version, works, started_at, seen_at,
  greatest(extract(epoch FROM now() - seen_at), 0)::float8 AS silent`

/** The processes of the service. Times are those of the store, because clocks of processes differ. */
export function createProcessStore(database: Database): ProcessStore {
  return {
    async beat({ processId, name, version, works, startedAt }) {
      await database.query(
        `INSERT INTO processes (process_id, name, version, works, started_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (process_id) DO UPDATE SET works = excluded.works, seen_at = now()`,
        [processId, name, version, works, startedAt],
      )
    },
    async leave(processId) {
      await database.query('DELETE FROM processes WHERE process_id = $1', [processId])
    },
    async list() {
      const { rows } = await database.query<Row>(`SELECT ${columns} FROM processes ORDER BY started_at, process_id`)
      return rows.map(read)
    },
    async forgetOthers(processId) {
      await database.query('DELETE FROM processes WHERE process_id <> $1', [processId])
    },
    async forgetOld() {
      await database.query('DELETE FROM processes WHERE seen_at < now() - make_interval(hours => $1)', [keptHours])
    },
  }
}

const read = (row: Row): SeenProcess => ({
  processId: row.process_id,
  name: row.name,
  version: row.version,
  works: row.works,
  startedAt: row.started_at,
  seenAt: row.seen_at,
  silentSeconds: row.silent,
})
