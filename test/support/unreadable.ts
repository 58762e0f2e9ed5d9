import type { Database } from '../../src/store/database/database.ts'

/** Simulates the last postponement of a job that no process can read: the job is due, and becomes a dead letter. */
export async function endPatience(database: Database, name: string): Promise<void> {
  await database.query(
    `update ${database.queueConnection.schema}.job set source_retry_count = 30, start_after = now()
     where name = $1 and state = 'retry'`,
    [name],
  )
}
