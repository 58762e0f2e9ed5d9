import { type AuditLog, auditEntry } from '../core/index.ts'
import type { Database } from './database.ts'

/** Who did what, when: appended in the transaction of the change itself, never altered. */
export function createAuditLog(database: Database): AuditLog {
  return {
    async append(entries) {
      for (const entry of entries) {
        await database.query(
          'INSERT INTO audit_log (tenant_id, request_id, at, action, body) VALUES ($1, $2, $3, $4, $5)',
          [entry.tenantId, entry.requestId, entry.at, entry.action, JSON.stringify(entry)],
        )
      }
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
