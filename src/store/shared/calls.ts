import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { IdempotencyKey, IdempotencyStore, TokenBuckets } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

const storedAnswer = z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() })

interface Row {
  readonly fingerprint: string | null
  readonly request_id: string
  readonly holder: string | null
  readonly lease_until: Date | null
  readonly keep_until: Date
  readonly answer: unknown
}

const mine = 'tenant_id = $1 AND person_id = $2 AND route = $3 AND key = $4'
const placesOf = ({ tenantId, personId, route, key }: IdempotencyKey): string[] => [tenantId, personId, route, key]

/** Idempotency keys. Each claim is one transaction, so exactly one of several concurrent claims is the first. */
export function createIdempotencyKeys(database: Database): IdempotencyStore {
  // An embedded store has one process: a claim of another process belongs to a dead one.
  const process = randomUUID()
  const holderOf = (holder: string): string => `${process} ${holder}`
  const mayLive = ({ holder }: Row): boolean => database.engine === 'server' || holder?.startsWith(process) === true
  return {
    claim: (key, attempt) =>
      database.transaction(async () => {
        await database.query(`DELETE FROM idempotency_keys WHERE ${mine} AND keep_until <= $5`, [
          ...placesOf(key),
          attempt.at,
        ])
        const values = [
          ...placesOf(key),
          attempt.fingerprint,
          attempt.requestId,
          holderOf(attempt.holder),
          attempt.leaseUntil,
          attempt.keepUntil,
        ]
        const { rowCount } = await database.query(
          `INSERT INTO idempotency_keys (tenant_id, person_id, route, key, fingerprint, request_id, holder, lease_until, keep_until)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
          values,
        )
        if (rowCount === 1) return { state: 'claimed', requestId: attempt.requestId }
        const { rows } = await database.query<Row>(
          `SELECT * FROM idempotency_keys WHERE ${mine} FOR UPDATE`,
          placesOf(key),
        )
        const [row] = rows
        if (!row) return { state: 'in-flight' }
        // Version 0.1 kept a row without a fingerprint after a refusal.
        const same = row.fingerprint === null || row.fingerprint === attempt.fingerprint
        if (!same) return { state: 'reused' }
        if (row.answer !== null) return { state: 'answered', answer: storedAnswer.parse(row.answer) }
        if (row.lease_until !== null && row.lease_until > attempt.at && mayLive(row)) return { state: 'in-flight' }
        await database.query(
          `UPDATE idempotency_keys SET fingerprint = $5, holder = $6, lease_until = $7 WHERE ${mine}`,
          [...placesOf(key), attempt.fingerprint, holderOf(attempt.holder), attempt.leaseUntil],
        )
        return { state: 'claimed', requestId: row.request_id }
      }),
    async complete(key, answer) {
      await database.query(`UPDATE idempotency_keys SET answer = $5 WHERE ${mine} AND answer IS NULL`, [
        ...placesOf(key),
        JSON.stringify(answer),
      ])
    },
    async renew(key, holder, leaseUntil) {
      await database.query(
        `UPDATE idempotency_keys SET lease_until = $6
         WHERE ${mine} AND holder = $5 AND lease_until IS NOT NULL AND answer IS NULL`,
        [...placesOf(key), holderOf(holder), leaseUntil],
      )
    },
    async release(key, holder, outcome) {
      const change =
        outcome === 'refused' ? 'DELETE FROM idempotency_keys' : 'UPDATE idempotency_keys SET lease_until = NULL'
      await database.query(`${change} WHERE ${mine} AND holder = $5 AND answer IS NULL`, [
        ...placesOf(key),
        holderOf(holder),
      ])
    },
    async forgetOld(at) {
      await database.query('DELETE FROM idempotency_keys WHERE keep_until <= $1', [at])
    },
  }
}

interface BucketRow {
  readonly left_over: number
  readonly drawn: boolean
}

/**
 * Token buckets that all processes share: one statement for each request, for any number of buckets. The time is that of
 * the store, since clocks of processes differ; only tests set another time.
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
