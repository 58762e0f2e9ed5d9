import type { SenderChange } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/**
 * The records of cards that a job is sending, in either table. `owner` is the first column of the table's key. Each `key` has
 * the values of the owner, of `person_id` and of `key`.
 */
export function createSendingRecords(
  database: Database,
  table: 'sent_cards' | 'notices',
  owner: 'request_id' | 'tenant_id',
) {
  const isSending = `${owner} = $1 AND person_id = $2 AND key = $3 AND state = 'sending' AND job_id IS NOT DISTINCT FROM $4`
  return {
    /** Stores which job sends a card from now on. Returns false if it is not `from` any more, or if the card was sent. */
    async takeOver(key: readonly [string, string, string], { from, to, begunBefore }: SenderChange): Promise<boolean> {
      const { rowCount } = await database.query(
        `UPDATE ${table} SET job_id = $5, updated_at = now()
         WHERE ${isSending} AND ($6::timestamptz IS NULL OR updated_at < $6)`,
        [...key, from ?? null, to ?? null, begunBefore?.toISOString() ?? null],
      )
      return rowCount === 1
    },
    /** Deletes the record of a card that `job` is sending. Keeps it if the card was sent, or if another job sends it. */
    async release(key: readonly [string, string, string], job: string | undefined): Promise<void> {
      await database.query(`DELETE FROM ${table} WHERE ${isSending}`, [...key, job ?? null])
    },
  }
}
