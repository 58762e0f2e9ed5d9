import type { TokenBuckets } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

interface Row {
  readonly left_over: number
  readonly drawn: boolean
}

/**
 * Buckets that all processes over one store share: one statement for each request, whatever the number of buckets. Time is
 * the store's, so that clocks of processes that differ give nobody more; only tests set another.
 */
export function createTokenBuckets(database: Database, now: () => Date | null = () => null): TokenBuckets {
  return {
    async draw(rules) {
      if (rules.length === 0) return { taken: true, tokens: [] }
      const { rows } = await database.query<Row>(
        'SELECT * FROM draw_tokens($1, $2, $3, $4, coalesce($5::timestamptz, clock_timestamp()))',
        [
          rules.map(({ key }) => key),
          rules.map(({ capacity }) => capacity),
          rules.map((one) => one.perSecond),
          rules.map(({ cost = 1 }) => cost),
          now(),
        ],
      )
      return { taken: rows.every(({ drawn }) => drawn), tokens: rows.map((row) => row.left_over) }
    },
    async forgetFull() {
      await database.query('DELETE FROM token_buckets WHERE full_at <= coalesce($1::timestamptz, now())', [now()])
    },
  }
}
