import { type HealthWatch, type HealthWatchStore, healthWatch } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** `holder` and `held_until` say which process checks, to versions that elect one. A row of ours names none, and its time is over. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The result of the health checks: one row, which all processes share. */
export function createHealthWatchStore(database: Database): HealthWatchStore {
  const read = async (tenantId: string, more: '' | ' FOR UPDATE'): Promise<HealthWatch | undefined> => {
    const { rows } = await database.query<{ body: unknown }>(
      `SELECT body FROM health_watch WHERE tenant_id = $1${more}`,
      [tenantId],
    )
    // A result that only another version can read is replaced.
    return healthWatch.safeParse(rows[0]?.body).data
  }
  return {
    find: (tenantId) => read(tenantId, ''),
    async lock(tenantId) {
      await database.query(
        `INSERT INTO health_watch (tenant_id, holder, held_until) VALUES ($1, $2, now())
         ON CONFLICT (tenant_id) DO NOTHING`,
        [tenantId, nobody],
      )
      return read(tenantId, ' FOR UPDATE')
    },
    async put(tenantId, watch) {
      await database.query(
        `INSERT INTO health_watch (tenant_id, holder, held_until, body) VALUES ($1, $2, now(), $3)
         ON CONFLICT (tenant_id) DO UPDATE SET body = excluded.body`,
        [tenantId, nobody, JSON.stringify(watch)],
      )
    },
  }
}
