/** How long the directory took to show new sites. */
import type { DirectorySightings } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** How long a delay is kept, in days. */
const keptDays = 2

export function createDirectorySightings(database: Database): DirectorySightings {
  return {
    async note({ tenantId, requestId, seenAt, seconds }) {
      await database.query(
        `INSERT INTO directory_sightings (tenant_id, request_id, seen_at, seconds) VALUES ($1, $2, $3, $4)
         ON CONFLICT (request_id) DO NOTHING`,
        [tenantId, requestId, seenAt.toISOString(), seconds],
      )
    },
    async isNoted(requestId) {
      const { rows } = await database.query('SELECT 1 FROM directory_sightings WHERE request_id = $1', [requestId])
      return rows.length > 0
    },
    async delay(tenantId, since) {
      const { rows } = await database.query<{ seen: number; p50: number | null; p95: number | null }>(
        `SELECT count(*) AS seen, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95
         FROM directory_sightings WHERE tenant_id = $1 AND seen_at >= $2`,
        [tenantId, since.toISOString()],
      )
      const [row] = rows
      return { seen: row?.seen ?? 0, p50Seconds: row?.p50 ?? 0, p95Seconds: row?.p95 ?? 0 }
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query('DELETE FROM directory_sightings WHERE seen_at < $1', [before])
    },
  }
}
