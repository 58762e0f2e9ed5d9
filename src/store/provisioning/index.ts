/** How long the directory took to show new sites, and which created resources no longer exist. */
import { type DirectorySightings, type GoneResources, provisioningRequest } from '../../core/index.ts'
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

/** How long a deleted resource can be restored, in days: SharePoint keeps sites for 93 days, the directory accounts for 30. */
const restorableDays = 93

/** Requests whose resource no longer exists in the tenant. */
export function createGoneResources(database: Database): GoneResources {
  return {
    async toCheck({ tenantId, templateId, endedBefore, hour = null, after, limit }) {
      const { rows } = await database.query<{ body: unknown }>(
        `SELECT body FROM requests request
         WHERE tenant_id = $1 AND body -> 'template' ->> 'id' = $2 AND status = 'succeeded' AND number > $3
           AND (body ->> 'finishedAt') COLLATE "C" < $4
           AND ($5::int IS NULL OR number % 24 = $5)
           AND NOT EXISTS (SELECT FROM gone_resources gone WHERE gone.request_id = request.request_id
             AND gone.gone_since < now() - make_interval(days => $6))
         ORDER BY number LIMIT ${Number(limit)}`,
        [tenantId, templateId, after, endedBefore.toISOString(), hour, restorableDays],
      )
      return rows.map(({ body }) => provisioningRequest.parse(body))
    },
    async note(tenantId, at, exists) {
      const ids = (wanted: boolean) => [...exists].flatMap(([id, there]) => (there === wanted ? [id] : []))
      const [gone, there] = [ids(false), ids(true)]
      if (gone.length > 0)
        await database.query(
          `INSERT INTO gone_resources (request_id, tenant_id, gone_since)
           SELECT id, $2, $3 FROM unnest($1::uuid[]) AS id ORDER BY id ON CONFLICT (request_id) DO NOTHING`,
          [gone, tenantId, at.toISOString()],
        )
      if (there.length > 0) await database.query('DELETE FROM gone_resources WHERE request_id = ANY($1)', [there])
    },
  }
}
