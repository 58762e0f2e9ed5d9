import type { QueueStore } from './boss.ts'

/** The shortest time that a job is put off, in milliseconds, so that it does not come back before what it waits for. */
const shortest = 500

/**
 * For how long an error asks to put its job off, in milliseconds; undefined = it is a failed attempt like any other.
 * Any error may carry `putOffMilliseconds`: what the job works on is taken just now, and nothing has been tried.
 */
export function putOffMilliseconds(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('putOffMilliseconds' in error)) return undefined
  return typeof error.putOffMilliseconds === 'number' ? Math.max(shortest, error.putOffMilliseconds) : undefined
}

/**
 * Makes an active job due again later: it uses up no attempt, and its worker is free. As `started_on` stays, the next claim
 * counts one more, so that nothing which is still said of this one meets it. How many of the claims were put off is kept in
 * `source_retry_count`, which pg-boss carries along and itself fills for copies in the dead letter queue only.
 */
export async function putOff(
  store: QueueStore,
  { name, id, retryCount }: { readonly name: string; readonly id: string; readonly retryCount: number },
  milliseconds: number,
): Promise<void> {
  await store.query(
    `update ${store.queueConnection.schema}.job
     set state = 'retry', retry_limit = retry_limit + 1, source_retry_count = coalesce(source_retry_count, 0) + 1,
       heartbeat_on = null, start_after = now() + $4 * interval '1 millisecond'
     where name = $1 and id = $2 and retry_count = $3 and state = 'active'`,
    [name, id, retryCount, Math.ceil(milliseconds)],
  )
}
