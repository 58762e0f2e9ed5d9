/** Requests as whole aggregates. Every row is parsed by the core's schema when it is read. */
import {
  AlreadySubmitted,
  limitedStates,
  provisioningRequest,
  type Request,
  type RequestQuery,
  type RequestState,
  type RequestStore,
  waitingFor,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** The first number of a tenant is 1001, so all references have the same length. */
const numberBeforeFirst = 1000

export function createRequestStore(database: Database): RequestStore {
  const one = async (sql: string, values: readonly unknown[]): Promise<Request | undefined> => {
    const { rows } = await database.read<{ body: unknown }>(sql, values)
    return rows[0] && provisioningRequest.parse(rows[0].body)
  }
  return {
    async insert(request) {
      const stored = database.query<{ number: number }>(
        `WITH counted AS (
           INSERT INTO counters (tenant_id, last_number) VALUES ($2, $3)
           ON CONFLICT (tenant_id) DO UPDATE SET last_number = counters.last_number + 1 RETURNING last_number)
         INSERT INTO requests (request_id, tenant_id, number, kind, status, requester_id, waiting_for, version, submitted_at, updated_at, body)
         SELECT $1, $2, last_number, $4, $5, $6, $7, $8, $9, $10, $11::jsonb || jsonb_build_object('number', last_number)
         FROM counted RETURNING number`,
        [
          request.requestId,
          request.tenantId,
          numberBeforeFirst + 1,
          request.kind,
          request.status,
          request.requester.id,
          waitingIds(request),
          request.version,
          request.submittedAt,
          request.updatedAt,
          JSON.stringify(request),
        ],
      )
      const { rows } = await stored.catch((error: unknown) => {
        throw isKnownId(error) ? new AlreadySubmitted() : error
      })
      return { ...request, number: rows[0]?.number ?? request.number }
    },

    find: (requestId) => one('SELECT body FROM requests WHERE request_id = $1', [requestId]),
    findByNumber: (tenantId, number) =>
      one('SELECT body FROM requests WHERE tenant_id = $1 AND number = $2', [tenantId, number]),
    lastCreated: (tenantId, name, but) =>
      one(
        `SELECT body FROM requests WHERE tenant_id = $1 AND request_id <> $3
           AND ${'alias' in name ? hasAlias : `(body ->> 'address' = $2 OR body ->> 'aliasAddress' = $2)`}
           AND body -> 'steps' @> '[{"status": "done"}]' ORDER BY number DESC LIMIT 1`,
        [tenantId, 'alias' in name ? name.alias : name.address, but],
      ),
    async lock(requestId) {
      const { rows } = await database.query<{ body: unknown }>(
        'SELECT body FROM requests WHERE request_id = $1 FOR UPDATE',
        [requestId],
      )
      return rows[0] && provisioningRequest.parse(rows[0].body)
    },

    async update(request) {
      const { rowCount } = await database.query(
        `UPDATE requests SET status = $2, waiting_for = $3, version = $4, updated_at = $5, body = $6
         WHERE request_id = $1 AND version = $4 - 1`,
        [
          request.requestId,
          request.status,
          waitingIds(request),
          request.version,
          request.updatedAt,
          JSON.stringify(request),
        ],
      )
      if (rowCount !== 1)
        throw new Error(`request ${request.requestId} was changed concurrently, before version ${request.version}`)
    },

    async list(query) {
      const { where, values } = conditions(query)
      const { rows } = await database.query<{ body: unknown }>(
        `SELECT body FROM requests WHERE ${where}
         ORDER BY number ${query.oldestFirst ? 'ASC' : 'DESC'} LIMIT ${Number(query.limit)}`,
        values,
      )
      return rows.map(({ body }) => provisioningRequest.parse(body))
    },

    async statuses(requestIds) {
      const { rows } = await database.read<{
        request_id: string
        status: RequestState
        at: Date
        queued: string | null
      }>(
        `SELECT request_id, status, submitted_at AS at, body ->> 'queuedAt' AS queued FROM requests
         WHERE request_id = ANY($1)`,
        [requestIds],
      )
      return rows.map(({ request_id: requestId, status, at, queued: queuedAt }) => {
        return { requestId, status, submittedAt: at.toISOString(), queuedAt }
      })
    },

    async versions(requestIds) {
      const { rows } = await database.read<{ request_id: string; version: number }>(
        'SELECT request_id, version FROM requests WHERE request_id = ANY($1)',
        [requestIds],
      )
      return new Map(rows.map(({ request_id, version }) => [request_id, version]))
    },

    async count(query) {
      const { where, values } = conditions(query)
      const { rows } = await database.query<{ count: number }>(
        query.limit === undefined
          ? `SELECT count(*)::int AS count FROM requests WHERE ${where}`
          : `SELECT count(*)::int AS count FROM (SELECT FROM requests WHERE ${where} LIMIT ${Number(query.limit)}) AS counted`,
        values,
      )
      return rows[0]?.count ?? 0
    },

    async overdue({
      tenantId,
      queuedBefore,
      provisioningBefore,
      submittedBefore,
      createdBefore,
      polledBefore,
      ...more
    }) {
      const { rows } = await database.query<{ request_id: string; version: number }>(overdue, [
        ...[tenantId, queuedBefore, provisioningBefore, submittedBefore, createdBefore, more.limit, more.underWay],
        polledBefore,
      ])
      return rows.map(({ request_id, version }) => ({ requestId: request_id, version }))
    },

    async waitingBut(tenantId, requestIds, limit) {
      const { rows } = await database.query<{ request_id: string }>(
        `SELECT request_id FROM requests
         WHERE tenant_id = $1 AND status = 'pendingApproval' AND request_id <> ALL($2::uuid[]) ORDER BY number LIMIT $3`,
        [tenantId, requestIds, limit],
      )
      return rows.map(({ request_id }) => request_id)
    },

    async countOpen(tenantId, requesterId, but) {
      const { rows } = await database.read<{ open: number }>(
        `SELECT (count(*) FILTER (WHERE batch IS NULL) + count(DISTINCT batch) FILTER (WHERE batch <> $4))::int AS open
         FROM (SELECT CASE status WHEN 'pendingApproval' THEN body -> 'batch' ->> 'batchId' END AS batch FROM requests
           WHERE tenant_id = $1 AND requester_id = $2 AND status = ANY($3)) AS counted`,
        [tenantId, requesterId, limitedStates, but ?? ''],
      )
      return rows[0]?.open ?? 0
    },

    async sentSince({ tenantId, requesterId, fingerprint, since, but }) {
      // Only the index of migration 30 is usable. PostgreSQL cannot choose between several ones in a new table, which has no
      // statistics, and it could read all requests of the person or of the day each time.
      const { rows } = await database.read<{ body: unknown }>(
        `SELECT body FROM requests WHERE body ->> 'fingerprint' = $4
         AND ARRAY[tenant_id, requester_id] = ARRAY[$1, $2]::uuid[]
         AND submitted_at - $3::timestamptz >= interval '0' AND request_id <> $5`,
        [tenantId, requesterId, since, fingerprint, but],
      )
      const sent = rows.map(({ body }) => provisioningRequest.parse(body))
      return sent.sort((one, other) => other.number - one.number)
    },

    async countOfTemplate({ tenantId, templateId, requesterId = null, states, but, most }) {
      const { rows } = await database.read<{ count: number }>(
        `SELECT count(*)::int AS count FROM (
           SELECT FROM requests WHERE tenant_id = $1 AND body -> 'template' ->> 'id' = $2 AND status = ANY($3)
           AND request_id <> ALL($4::uuid[]) AND ($5::uuid IS NULL OR requester_id = $5)
           AND NOT EXISTS (SELECT FROM gone_resources gone WHERE gone.request_id = requests.request_id)
           LIMIT $6) AS counted`,
        [tenantId, templateId, states, but, requesterId, most],
      )
      return rows[0]?.count ?? 0
    },

    async countByState(tenantId, states) {
      const { rows } = await database.query<{ status: RequestState; count: number }>(
        'SELECT status, count(*)::int AS count FROM requests WHERE tenant_id = $1 AND status = ANY($2) GROUP BY status',
        [tenantId, states],
      )
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
    },
  }
}

/** Whether PostgreSQL refused a request because its id exists. */
const isKnownId = (error: unknown): boolean => Object(error).constraint === 'requests_pkey'

const waitingIds = (request: Request): string[] =>
  request.status === 'pendingApproval' ? waitingFor(request.approvals).map(({ id }) => id) : []

/**
 * The site's own alias: the tenant's naming policy may have changed the requested alias. The expression of migration
 * 24's index.
 */
const hasAlias = `lower(coalesce(body -> 'progress' -> 'createdAs' ->> 'alias', body ->> 'alias')) = lower($2)`

/** The condition of the index of migration 2. */
const unannounced = `status = 'succeeded' AND body -> 'followUp' ->> 'state' <> 'announced'`

/** Each part has its own index and reads only open requests. */
const overdue = `
  SELECT request_id, version FROM (
    SELECT version, request_id, number, updated_at, $2::timestamptz AS said_before FROM requests
      WHERE tenant_id = $1 AND status = 'queued' AND updated_at < $2 AND request_id <> ALL($7::uuid[])
    UNION ALL SELECT version, request_id, number, updated_at, $3::timestamptz FROM requests
      WHERE tenant_id = $1 AND status = 'provisioning' AND updated_at < $3
    UNION ALL SELECT version, request_id, number, submitted_at, '-infinity' FROM requests
      WHERE tenant_id = $1 AND status = 'pendingApproval' AND submitted_at < $4
    UNION ALL SELECT version, request_id, number, updated_at,
        CASE WHEN (body ->> 'finishedAt')::timestamptz < $8 THEN '-infinity' ELSE $5::timestamptz END FROM requests
      WHERE tenant_id = $1 AND ${unannounced} AND updated_at < $5
  ) AS late
  WHERE NOT EXISTS (
    SELECT 1 FROM audit_log
    WHERE request_id = late.request_id AND action = 'overdue' AND at >= greatest(late.updated_at, late.said_before))
  ORDER BY number LIMIT $6`

/** The start of the current state, as core's `sinceOf` computes it. Omits pending requests without an approver. */
const stood = `(status <> 'pendingApproval' OR waiting_for <> '{}') AND CASE status
  WHEN 'pendingApproval' THEN submitted_at
  WHEN 'queued' THEN coalesce((body ->> 'queuedAt')::timestamptz, submitted_at)
  WHEN 'succeeded' THEN coalesce((body ->> 'finishedAt')::timestamptz, updated_at)
  ELSE updated_at END`

function conditions(query: Omit<RequestQuery, 'limit'>): { where: string; values: unknown[] } {
  const values: unknown[] = [query.tenantId]
  const clauses = ['tenant_id = $1']
  const add = (clause: (place: string) => string, value: unknown) => {
    if (value === undefined) return
    values.push(value)
    clauses.push(clause(`$${values.length}`))
  }
  add((place) => `requester_id = ${place}`, query.requesterId)
  // Only pending requests have approvers, and the index contains only these.
  if (query.approverId !== undefined) clauses.push(`status = 'pendingApproval'`)
  add((place) => `waiting_for @> ARRAY[${place}]::uuid[]`, query.approverId)
  // The expression of migration 27's index.
  if (query.batchId !== undefined) clauses.push(`body -> 'batch' IS NOT NULL`)
  add((place) => `body -> 'batch' ->> 'batchId' = ${place}`, query.batchId)
  // With `=` for a single state, the index also provides the order.
  const states = typeof query.status === 'string' ? [query.status] : query.status
  if (states?.length === 1) add((place) => `status = ${place}`, states[0])
  else add((place) => `status = ANY(${place})`, states)
  if (query.unannounced) clauses.push(unannounced)
  add((place) => `${stood} <= ${place}`, query.stoodSince)
  add((place) => `kind = ${place}`, query.kind)
  add((place) => `number < ${place}`, query.before)
  add((place) => `number > ${place}`, query.after)
  return { where: clauses.join(' AND '), values }
}
