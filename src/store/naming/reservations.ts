import type { Reservations } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** Names are compared without case, as addresses are. Not as the store's own `lower` has it, which depends on its locale. */
const folded = (name: string): string => name.toLowerCase()

/** Names kept for requests that have not ended. */
export function createReservations(database: Database): Reservations {
  return {
    async reserve(tenantId, names, requestId) {
      // In one order, so that two requests that want the same names do not each wait for the other.
      const { rows } = await database.query<{ name: string; request_id: string }>(
        `INSERT INTO reservations (tenant_id, name, request_id)
         SELECT DISTINCT $1::uuid, name, $3::uuid FROM unnest($2::text[]) AS name ORDER BY 2
         ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING name, request_id`,
        [tenantId, names.map(folded), requestId],
      )
      const held = new Set(rows.filter(({ request_id }) => request_id !== requestId).map(({ name }) => name))
      return names.filter((name) => held.has(folded(name)))
    },
    async holder(tenantId, name) {
      const { rows } = await database.query<{ request_id: string }>(
        'SELECT request_id FROM reservations WHERE tenant_id = $1 AND name = $2',
        [tenantId, folded(name)],
      )
      return rows[0]?.request_id
    },
    async release(requestId) {
      await database.query('DELETE FROM reservations WHERE request_id = $1', [requestId])
    },
  }
}
