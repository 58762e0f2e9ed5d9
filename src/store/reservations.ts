import type { Reservations } from '../core/index.ts'
import type { Database } from './database.ts'

/** Names kept for requests that have not ended. Names are compared without case, as addresses are. */
export function createReservations(database: Database): Reservations {
  return {
    async reserve(tenantId, name, requestId) {
      const { rows } = await database.query<{ request_id: string }>(
        `INSERT INTO reservations (tenant_id, name, request_id) VALUES ($1, lower($2), $3)
         ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING request_id`,
        [tenantId, name, requestId],
      )
      return rows[0]?.request_id === requestId
    },
    async holder(tenantId, name) {
      const { rows } = await database.query<{ request_id: string }>(
        'SELECT request_id FROM reservations WHERE tenant_id = $1 AND name = lower($2)',
        [tenantId, name],
      )
      return rows[0]?.request_id
    },
    async release(requestId) {
      await database.query('DELETE FROM reservations WHERE request_id = $1', [requestId])
    },
  }
}
