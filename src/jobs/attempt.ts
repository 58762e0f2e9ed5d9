import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { from } from '../core/index.ts'
import { ambientConnection, type QueueLog, type QueueStore } from './boss.ts'
import type { Job, JobFailure, JobScope } from './define-job.ts'
import { failureOf, isRetryable, retryAfterSeconds } from './failure.ts'
import { putOff, putOffMilliseconds } from './put-off.ts'
import { requestsOf } from './queue-state.ts'

export type ClaimedJob = JobWithMetadata<object>

/** Runs one claimed job once, and tells what became of it: done, to be tried again, or given up. */
export async function attempt(
  boss: PgBoss,
  store: QueueStore,
  job: Job,
  claimed: ClaimedJob,
  log: QueueLog,
): Promise<JobResult> {
  const { id, retryCount, retryLimit, signal, data } = claimed
  const putOffs = claimed.sourceRetryCount ?? 0
  const scope: JobScope = {
    attempt: Math.max(1, retryCount + 1 - putOffs),
    lastAttempt: retryCount >= retryLimit,
    putOffs,
    signal,
    log,
    requestsOf: (name) => requestsOf(store, name),
  }
  try {
    await store.outside(() => from({ from: 'job', trace: id }, () => job.run(scope, data)))
    return { id, status: 'completed' }
  } catch (error) {
    const output = failureOf(error)
    const later = putOffMilliseconds(error)
    if (later !== undefined) {
      await putOff(store, claimed, later)
      return { id, status: 'failed', output }
    }
    const facts = { job: job.name, id, attempt: scope.attempt, error: output.message }
    if (!isRetryable(error)) {
      log.error(facts, 'a job cannot succeed and is given up')
      return { id, status: 'deadletter', output }
    }
    log.warn(
      facts,
      scope.lastAttempt ? 'a job failed its last attempt and is given up' : 'a job failed and is tried again',
    )
    const seconds = retryAfterSeconds(error) || (putOffs > 0 ? backoffSeconds(claimed, scope.attempt) : 0)
    if (!scope.lastAttempt) await postpone(boss, store, claimed, output, seconds)
    return { id, status: 'failed', output }
  }
}

/** As pg-boss doubles it, but only for attempts: pg-boss would also double it for each time the job was put off. */
function backoffSeconds({ retryDelay, retryDelayMax }: ClaimedJob, attempt: number): number {
  const seconds = Math.max(1, retryDelay) * 2 ** Math.min(15, attempt - 1) * (1 + Math.random())
  return Math.min(retryDelayMax ?? Number.POSITIVE_INFINITY, seconds)
}

/** Fails the attempt with a next one not before the time that the other side asked for; pg-boss only knows its backoff. */
async function postpone(
  boss: PgBoss,
  store: QueueStore,
  { name, id, retryCount }: ClaimedJob,
  output: JobFailure,
  seconds: number,
): Promise<void> {
  if (seconds <= 0) return
  const db = ambientConnection(store)
  const startAfter = new Date(Date.now() + seconds * 1000)
  // Once failed here, the result that the worker reports finds no active attempt and changes nothing.
  await store.transaction(async () => {
    // A claim that is over, since its time was up or it was given back, has no say in when the next attempt is.
    const { rows } = await store.query(
      `select 1 from ${store.queueConnection.schema}.job
       where name = $1 and id = $2 and retry_count = $3 and state = 'active' for update`,
      [name, id, retryCount],
    )
    if (rows.length === 0) return
    await boss.fail(name, { id, retryCount }, output, { db })
    await boss.update(name, undefined, { id, startAfter, db })
  })
}
