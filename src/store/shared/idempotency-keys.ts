import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { IdempotencyKey, IdempotencyStore } from '../../core/index.ts'
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

const keyCondition = 'tenant_id = $1 AND person_id = $2 AND route = $3 AND key = $4'
const keyParameters = ({ tenantId, personId, route, key }: IdempotencyKey): string[] => [tenantId, personId, route, key]

/** Idempotency keys. Each claim is one transaction, so exactly one of several concurrent claims is the first. */
export function createIdempotencyKeys(database: Database): IdempotencyStore {
  // The embedded store has only one process, so a process that has ended left each claim with another process id.
  const process = randomUUID()
  const holderOf = (holder: string): string => `${process} ${holder}`
  const mayLive = ({ holder }: Row): boolean => database.engine === 'server' || holder?.startsWith(process) === true
  return {
    claim: (key, attempt) =>
      database.transaction(async () => {
        await database.query(`DELETE FROM idempotency_keys WHERE ${keyCondition} AND keep_until <= $5`, [
          ...keyParameters(key),
          attempt.at,
        ])
        const values = [
          ...keyParameters(key),
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
          `SELECT fingerprint, request_id, holder, lease_until, keep_until, answer FROM idempotency_keys WHERE ${keyCondition} FOR UPDATE`,
          keyParameters(key),
        )
        const [row] = rows
        if (!row) return { state: 'in-flight' }
        // Version 0.1 kept a row without a fingerprint after a refusal.
        const same = row.fingerprint === null || row.fingerprint === attempt.fingerprint
        if (!same) return { state: 'reused' }
        if (row.answer !== null) return { state: 'answered', answer: storedAnswer.parse(row.answer) }
        if (row.lease_until !== null && row.lease_until > attempt.at && mayLive(row)) return { state: 'in-flight' }
        await database.query(
          `UPDATE idempotency_keys SET fingerprint = $5, holder = $6, lease_until = $7 WHERE ${keyCondition}`,
          [...keyParameters(key), attempt.fingerprint, holderOf(attempt.holder), attempt.leaseUntil],
        )
        return { state: 'claimed', requestId: row.request_id }
      }),
    async complete(key, answer) {
      await database.query(`UPDATE idempotency_keys SET answer = $5 WHERE ${keyCondition} AND answer IS NULL`, [
        ...keyParameters(key),
        JSON.stringify(answer),
      ])
    },
    async renew(key, holder, leaseUntil) {
      await database.query(
        `UPDATE idempotency_keys SET lease_until = $6
         WHERE ${keyCondition} AND holder = $5 AND lease_until IS NOT NULL AND answer IS NULL`,
        [...keyParameters(key), holderOf(holder), leaseUntil],
      )
    },
    async release(key, holder, outcome) {
      const change =
        outcome === 'refused' ? 'DELETE FROM idempotency_keys' : 'UPDATE idempotency_keys SET lease_until = NULL'
      await database.query(`${change} WHERE ${keyCondition} AND holder = $5 AND answer IS NULL`, [
        ...keyParameters(key),
        holderOf(holder),
      ])
    },
    async forgetOld(at) {
      await database.query('DELETE FROM idempotency_keys WHERE keep_until <= $1', [at])
    },
  }
}
