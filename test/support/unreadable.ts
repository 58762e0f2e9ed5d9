import type { Database } from '../../src/store/database/database.ts'

/** As if a job that nobody can read had been put off all its times but now: it is due, and given up. */
export async function endPatience(database: Database, name: string): Promise<void> {
  await database.query(
    `update ${database.queueConnection.schema}.job set source_retry_count = 30, start_after = now()
     where name = $1 and state = 'retry'`,
    [name],
  )
}
