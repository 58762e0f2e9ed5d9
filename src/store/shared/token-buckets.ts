import type { TokenBuckets } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

interface BucketRow {
  readonly left_over: number
  readonly drawn: boolean
}

/**
 * Token buckets that all processes share: one statement for each call, for any number of buckets. Uses the
 * database's clock, because the clocks of processes differ. Only tests pass another time.
 */
export function createTokenBuckets(database: Database, now: () => Date | null = () => null): TokenBuckets {
  return {
    async draw(rules) {
      if (rules.length === 0) return { taken: true, tokens: [] }
      const { rows } = await database.query<BucketRow>(
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
