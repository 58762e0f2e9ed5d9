import { type AuditEntry, type AuditLog, auditEntry } from '../core/index.ts'
import type { Database } from './database.ts'

/** Who did what, when: appended in the transaction of the change itself, never altered. */
export function createAuditLog(database: Database): AuditLog {
  return {
    async append(entries) {
      if (entries.length === 0) return
      const column = (read: (entry: AuditEntry) => string) => entries.map(read)
      await database.query(
        `INSERT INTO audit_log (tenant_id, request_id, at, action, body)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::jsonb[])`,
        [
          column(({ tenantId }) => tenantId),
          column(({ requestId }) => requestId),
          column(({ at }) => at),
          column(({ action }) => action),
          column((entry) => JSON.stringify(entry)),
        ],
      )
    },
    async timeline(requestId) {
      const { rows } = await database.query<{ body: unknown }>(
        'SELECT body FROM audit_log WHERE request_id = $1 ORDER BY entry',
        [requestId],
      )
      return rows.map(({ body }) => auditEntry.parse(body))
    },
  }
}
