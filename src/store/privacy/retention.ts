import type { RetentionStore } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** What has ended long ago, by the index of migration 17. */
export function createRetentionStore(database: Database): RetentionStore {
  return {
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
