import { z } from 'zod'
import {
  type ExportedEntry,
  type ExportQuery,
  type ExportSource,
  type ExportTickets,
  exportFormats,
  exportKinds,
  linkMinutes,
  provisioningRequest,
  type Request,
  type StoredTicket,
  type UnreadableRequest,
} from '../../core/index.ts'
import { iso } from '../audit/index.ts'
import type { Database } from '../database/index.ts'

/** Rows that are read at a time: few, so that other work on the event loop gets its turn. */
const pageSize = 100

interface RequestRow {
  readonly id: string
  readonly number: number
  readonly status: string
  /** A time with microseconds, which a Date would lose. */
  readonly at: string
  readonly body: unknown
}
interface EntryRow extends ExportedEntry {
  readonly entry: string
  readonly exactly: string
}

/** Requests and audit entries between two times, page by page, so that memory stays small. */
export function createExportSource(database: Database): ExportSource {
  return {
    async count({ tenantId, from, before }) {
      const { rows } = await database.query<{ requests: number; entries: number }>(
        `SELECT
           (SELECT count(*)::int FROM requests WHERE tenant_id = $1 AND submitted_at >= $2 AND submitted_at < $3) AS requests,
           (SELECT count(*)::int FROM audit_log WHERE tenant_id = $1 AND at >= $2 AND at < $3) AS entries`,
        [tenantId, from, before],
      )
      return rows[0] ?? { requests: 0, entries: 0 }
    },
    requests: (query) => requestsOf(database, query),
    entries: (query) => entriesOf(database, query),
  }
}

async function* requestsOf(
  database: Database,
  { tenantId, from, before }: ExportQuery,
): AsyncGenerator<(Request | UnreadableRequest)[]> {
  let after: readonly [at: string, id: string] = [from.toISOString(), beforeAll]
  for (;;) {
    const { rows } = await database.query<RequestRow>(
      `SELECT request_id AS id, number, status, submitted_at::text AS at, body FROM requests
       WHERE tenant_id = $1 AND submitted_at < $2 AND (submitted_at, request_id) > ($3::timestamptz, $4::uuid)
       ORDER BY submitted_at, request_id LIMIT ${pageSize}`,
      [tenantId, before, ...after],
    )
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(readRequest)
    after = [last.at, last.id]
  }
}

/** Marks a request that cannot be parsed, so that the export continues. */
function readRequest({ id, number, status, body }: RequestRow): Request | UnreadableRequest {
  const parsed = provisioningRequest.safeParse(body)
  if (parsed.success) return parsed.data
  return { requestId: id, reference: `REQ-${number}`, status, unreadable: true }
}

async function* entriesOf(
  database: Database,
  { tenantId, from, before }: ExportQuery,
): AsyncGenerator<ExportedEntry[]> {
  let after: readonly [at: string, entry: string] = [from.toISOString(), '0']
  for (;;) {
    const { rows } = await database.query<EntryRow>(
      `SELECT entry::text AS entry, at::text AS exactly, seq, request_id AS "requestId", tenant_id AS "tenantId",
         ${iso('at')} AS at, action, actor_id AS "actorId", origin AS "from", trace, version, digest,
         state_salt AS "stateSalt", before, after, body AS text, salt, hash,
         (SELECT 'REQ-' || number FROM requests WHERE request_id = audit_log.request_id) AS reference,
         (SELECT hash FROM audit_log AS earlier
          WHERE earlier.request_id = audit_log.request_id AND earlier.entry < audit_log.entry AND earlier.seq IS NOT NULL
          ORDER BY earlier.entry DESC LIMIT 1) AS previous
       FROM audit_log
       WHERE tenant_id = $1 AND at < $2 AND (at, entry) > ($3::timestamptz, $4::bigint)
       ORDER BY audit_log.at, audit_log.entry LIMIT ${pageSize}`,
      [tenantId, before, ...after],
    )
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(({ entry: _, exactly: __, ...exported }) => exported)
    after = [last.exactly, last.entry]
  }
}

const beforeAll = '00000000-0000-0000-0000-000000000000'

/** How long a ticket is kept after its expiry, in hours, so that its link is answered "used" or "expired". */
const keptHours = 24

const row = z
  .object({
    hash: z.string(),
    tenantId: z.string(),
    what: z.enum(exportKinds),
    format: z.enum(exportFormats),
    from: z.string(),
    to: z.string(),
    personId: z.string().nullable(),
    by: z.string(),
    issuedAt: z.date(),
    until: z.date(),
    usedAt: z.date().nullable(),
  })
  .transform(({ personId, ...ticket }): StoredTicket => ({ ...ticket, ...(personId !== null && { personId }) }))

/** The tickets of links to exports. */
export function createExportTickets(database: Database): ExportTickets {
  return {
    async issue(tickets) {
      for (const { hash, tenantId, what, format, from, to, personId, by, issuedAt, until } of tickets)
        await database.query(
          `INSERT INTO export_tickets
             (hash, tenant_id, what, format, from_day, to_day, person_id, issued_by, issued_at, until)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [hash, tenantId, what, format, from, to, personId ?? null, by, issuedAt, until],
        )
    },
    async find(hash) {
      const { rows } = await database.query(
        `SELECT hash, tenant_id AS "tenantId", what, format, from_day AS "from", to_day AS "to", person_id AS "personId",
           issued_by AS "by", issued_at AS "issuedAt", until, used_at AS "usedAt"
         FROM export_tickets WHERE hash = $1`,
        [hash],
      )
      return rows[0] === undefined ? undefined : row.parse(rows[0])
    },
    async use(hash, at) {
      const { rowCount } = await database.query(
        `UPDATE export_tickets SET used_at = $2
         WHERE hash = $1 AND used_at IS NULL AND until > $2 AND issued_at > $2 - make_interval(mins => ${linkMinutes})`,
        [hash, at],
      )
      return rowCount === 1
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptHours * 3_600_000)
      await database.query('DELETE FROM export_tickets WHERE until < $1', [before])
    },
  }
}
