import type { QueueStore } from './boss.ts'

/** The shortest time that a job is put off, in milliseconds: until then what its worker reports finds no active attempt. */
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
 * Makes an active job due again later as if it had not been claimed: it counts as no attempt, and its worker is free.
 * pg-boss counts a claim by `started_on`, and takes the attempt that it knows of by its `retry_count`.
 */
export async function putOff(
  store: QueueStore,
  { id, retryCount }: { readonly id: string; readonly retryCount: number },
  milliseconds: number,
): Promise<void> {
  await store.query(
    `update ${store.queueConnection.schema}.job
     set state = 'created', started_on = null, heartbeat_on = null, start_after = now() + $3 * interval '1 millisecond'
     where id = $1 and retry_count = $2 and state = 'active'`,
    [id, retryCount, Math.ceil(milliseconds)],
  )
}
