import type { PgBoss } from 'pg-boss'
import type { QueueStore } from './boss.ts'

/** How often the death of a process may interrupt a job, beyond its retries, before the job is taken to be the cause. */
const INTERRUPTIONS = 5
/** How often a worker says that it is alive, in seconds, and after which silence it counts as dead. */
export const HEARTBEAT_SECONDS = 3
const SILENCE_SECONDS = 9

/**
 * Makes the active jobs of dead processes due again at once, and returns how many. pg-boss would count the interruption
 * as a failure and wait out the backoff. In the embedded store call it at start only, when nobody else can be at work.
 */
export async function reclaim(store: QueueStore, boss: PgBoss): Promise<number> {
  const { schema } = store.queueConnection
  const abandoned =
    store.engine === 'embedded' ? 'true' : `heartbeat_on < now() - interval '${SILENCE_SECONDS} seconds'`
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

/** Says that whoever holds these claims of one name is alive; returns the ids of those that are still theirs. */
export async function keepAlive(
  store: QueueStore,
  name: string,
  claims: readonly { readonly id: string; readonly retryCount: number }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await store.query<{ id: string }>(
    `update ${store.queueConnection.schema}.job as job set heartbeat_on = now()
     from unnest($2::uuid[], $3::int[]) as held (id, retry_count)
     where job.name = $1 and job.id = held.id and job.retry_count = held.retry_count and job.state = 'active'
     returning job.id`,
    [name, claims.map(({ id }) => id), claims.map(({ retryCount }) => retryCount)],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Gives back what this process is at when it stops: due at once, with as many attempts left as before. As `started_on`
 * stays, the next claim counts one more (pg-boss's `fetchNextJob`): its handler sees that somebody may have begun, and
 * whatever pg-boss still says of the claim given back finds another `retry_count`.
 */
export async function giveBack(
  store: QueueStore,
  claims: Iterable<{ readonly name: string; readonly id: string; readonly retryCount: number }>,
): Promise<void> {
  for (const { name, id, retryCount } of claims) {
    await store.query(
      `update ${store.queueConnection.schema}.job
       set state = 'retry', retry_limit = retry_limit + 1, heartbeat_on = null, start_after = now()
       where name = $1 and id = $2 and retry_count = $3 and state = 'active'`,
      [name, id, retryCount],
    )
  }
}
