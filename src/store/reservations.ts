import type { Reservations } from '../core/index.ts'
import type { Database } from './database.ts'

/** Names kept for requests that have not ended. Names are compared without case, as addresses are. */
export function createReservations(database: Database): Reservations {
  return {
    async reserve(tenantId, names, requestId) {
      // In one order, so that two requests that want the same names do not each wait for the other.
      const { rows } = await database.query<{ name: string; request_id: string }>(
        `INSERT INTO reservations (tenant_id, name, request_id)
         SELECT DISTINCT $1::uuid, lower(name), $3::uuid FROM unnest($2::text[]) AS name ORDER BY 2
         ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING name, request_id`,
        [tenantId, names, requestId],
      )
      const held = new Set(rows.filter(({ request_id }) => request_id !== requestId).map(({ name }) => name))
      return names.filter((name) => held.has(name.toLowerCase()))
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
