import { type HealthWatch, type HealthWatchStore, healthWatch } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** Who looks after the health of the service, and what the looks have come to. */
export function createHealthWatchStore(database: Database): HealthWatchStore {
  const read = async (tenantId: string, more: '' | ' FOR UPDATE'): Promise<HealthWatch | undefined> => {
    const { rows } = await database.query<{ body: unknown }>(
      `SELECT body FROM health_watch WHERE tenant_id = $1${more}`,
      [tenantId],
    )
    // What only another version can read is begun anew.
    return healthWatch.safeParse(rows[0]?.body).data
  }
  return {
    async hold(tenantId, holder, seconds) {
      const { rowCount } = await database.query(
        `INSERT INTO health_watch (tenant_id, holder, held_until) VALUES ($1, $2, now() + make_interval(secs => $3))
         ON CONFLICT (tenant_id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
         WHERE health_watch.holder = excluded.holder OR health_watch.held_until < now()`,
        [tenantId, holder, seconds],
      )
      return rowCount === 1
    },
    async release(tenantId, holder) {
      await database.query('UPDATE health_watch SET held_until = now() WHERE tenant_id = $1 AND holder = $2', [
        tenantId,
        holder,
      ])
    },
    find: (tenantId) => read(tenantId, ''),
    lock: (tenantId) => read(tenantId, ' FOR UPDATE'),
    async put(tenantId, watch) {
      await database.query('UPDATE health_watch SET body = $2 WHERE tenant_id = $1', [tenantId, JSON.stringify(watch)])
    },
  }
}
