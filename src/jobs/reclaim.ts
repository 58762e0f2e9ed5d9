import type { PgBoss } from 'pg-boss'
import type { QueueStore } from './boss.ts'

/** How often the death of a process may interrupt a job, beyond its retries, before the job is taken to be the cause. */
const INTERRUPTIONS = 5

/**
 * Makes the active jobs of dead processes due again at once, and returns how many. pg-boss would count the interruption
 * as a failure and wait out the backoff. In the embedded store call it at start only, when nobody else can be at work.
 */
export async function reclaim(store: QueueStore, boss: PgBoss): Promise<number> {
  const { schema } = store.queueConnection
  const abandoned =
    store.engine === 'embedded' ? 'true' : `heartbeat_on + heartbeat_seconds * interval '1 second' < now()`
  const { rows } = await store.query<{ id: string }>(
    `update ${schema}.job set state = 'retry', start_after = now(), heartbeat_on = null
     where state = 'active' and ${abandoned} and retry_count < retry_limit + $1 returning id`,
    [INTERRUPTIONS],
  )
  const { rows: lethal } = await store.query<{ id: string; name: string }>(
    `select id, name from ${schema}.job where state = 'active' and ${abandoned}`,
  )
  for (const { id, name } of lethal) await boss.fail(name, id, { message: 'the process died each time it ran' })
  return rows.length
}
