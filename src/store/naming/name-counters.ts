import type { NameCounters } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** The numbers in names. One statement takes one, so that two who ask in the same moment get two. */
export function createNameCounters(database: Database): NameCounters {
  return {
    async last(tenantId, scope) {
      const { rows } = await database.query<{ last_number: number }>(
        'SELECT last_number FROM name_counters WHERE tenant_id = $1 AND scope = $2',
        [tenantId, scope],
      )
      return rows[0]?.last_number ?? 0
    },
    async next(tenantId, scope) {
      const { rows } = await database.query<{ last_number: number }>(
        `INSERT INTO name_counters (tenant_id, scope, last_number) VALUES ($1, $2, 1)
         ON CONFLICT (tenant_id, scope) DO UPDATE SET last_number = name_counters.last_number + 1 RETURNING last_number`,
        [tenantId, scope],
      )
      if (!rows[0]) throw new Error('the store gave no number')
      return rows[0].last_number
    },
  }
}
