import type { RetentionStore } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** Requests that ended long ago, by the index of migration 17. */
export function createRetentionStore(database: Database): RetentionStore {
  return {
    async start(tenantId) {
      const { rows } = await database.query<{ days: number; startsAt: Date; count: number }>(
        'SELECT days, starts_at AS "startsAt", count FROM retention_starts WHERE tenant_id = $1',
        [tenantId],
      )
      const [row] = rows
      return row && { ...row, startsAt: row.startsAt.toISOString() }
    },
    async putStart(tenantId, { days, startsAt, count }, known) {
      const { rowCount } = await database.query(
        `INSERT INTO retention_starts AS stored (tenant_id, days, starts_at, count) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id) DO UPDATE SET days = excluded.days, starts_at = excluded.starts_at, count = excluded.count
         WHERE stored.days = $5 AND stored.starts_at = $6`,
        [tenantId, days, startsAt, count, known?.days ?? null, known?.startsAt ?? null],
      )
      return rowCount === 1
    },
    async forgetStart(tenantId) {
      await database.query('DELETE FROM retention_starts WHERE tenant_id = $1', [tenantId])
    },
    async count({ tenantId, before }) {
      const { rows } = await database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM requests
         WHERE tenant_id = $1 AND body ->> 'finishedAt' IS NOT NULL AND body ->> 'reducedAt' IS NULL
           AND (body ->> 'finishedAt') COLLATE "C" < $2`,
        [tenantId, before.toISOString()],
      )
      return rows[0]?.count ?? 0
    },
    async due({ tenantId, before, but, limit }) {
      const { rows } = await database.query<{ id: string }>(
        `SELECT request_id AS id FROM requests
         WHERE tenant_id = $1 AND body ->> 'finishedAt' IS NOT NULL AND body ->> 'reducedAt' IS NULL
           AND (body ->> 'finishedAt') COLLATE "C" < $2 AND request_id <> ALL($3::uuid[])
         ORDER BY (body ->> 'finishedAt') COLLATE "C" LIMIT ${Number(limit)}`,
        [tenantId, before.toISOString(), but],
      )
      return rows.map(({ id }) => id)
    },
    async forgetParts(requestId) {
      await database.query('DELETE FROM sent_cards WHERE request_id = $1', [requestId])
      await database.query('DELETE FROM drafts WHERE request_id = $1', [requestId])
      await database.query(`DELETE FROM deliveries WHERE request_id = $1 AND status <> 'pending'`, [requestId])
    },
  }
}
