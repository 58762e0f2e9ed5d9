import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import {
  asWritten,
  type DeadLetter,
  type DeadLetterHead,
  type DeadLetters,
  from,
  type JobOutcome,
  jobId,
  originOfJob,
  type Telemetry,
} from '../../core/index.ts'
import { ambientConnection, type QueueLog, type QueueStore } from './boss.ts'
import {
  failureOf,
  interruption,
  isRetryable,
  type Job,
  type JobFailure,
  type JobScope,
  putOffMilliseconds,
  retryAfterSeconds,
  retryInterrupted,
} from './define-job.ts'
import {
  type LetterRow,
  letterOfRetry,
  lockClaim,
  putOff,
  readLetter,
  readLetters,
  requestsOf,
  takeLetter,
} from './tables.ts'

export type ClaimedJob = JobWithMetadata<object>

/** Where attempts are reported. */
interface Reports {
  readonly log: QueueLog
  readonly telemetry?: Telemetry | undefined
}
/** The outcome of an attempt, its result for the queue, and the message for the log. */
interface End {
  readonly outcome: JobOutcome
  readonly result: JobResult
  readonly message: string
}

/**
 * Runs one claimed job once, under the trace of its order, and logs the outcome.
 */
export function attempt(
  boss: PgBoss,
  store: QueueStore,
  job: Job,
  claimed: ClaimedJob,
  { log, telemetry }: Reports,
): Promise<JobResult> {
  const { id, data, retryCount, retryLimit, signal } = claimed
  const putOffs = claimed.sourceRetryCount ?? 0
  const scope: JobScope = {
    id,
    attempt: Math.max(1, retryCount + 1 - putOffs),
    lastAttempt: retryCount >= retryLimit,
    putOffs,
    signal,
    log,
    requestsOf: (name) => requestsOf(store, name),
  }
  const run = async (): Promise<JobResult> => {
    const startedAt = performance.now()
    const { outcome, result, message } = await ended(boss, store, { job, claimed, scope })
    const seconds = (performance.now() - startedAt) / 1000
    telemetry?.jobTried({ job: job.name, outcome, seconds, waitedSeconds: waitedSeconds(claimed) })
    if (outcome === 'given-up' && !job.options.hasDeadLetters) telemetry?.jobsGivenUp(job.name, 1)
    const error = result.output === undefined ? {} : { error: failureOf(result.output).message }
    const facts = {
      job: job.name,
      id,
      attempt: scope.attempt,
      outcome,
      milliseconds: Math.round(seconds * 1000),
      ...error,
    }
    log[levelOf(outcome)](facts, message)
    return result
  }
  return store.outside(() => from(originOfJob(id, data), run))
}

async function ended(
  boss: PgBoss,
  store: QueueStore,
  { job, claimed, scope }: { job: Job; claimed: ClaimedJob; scope: JobScope },
): Promise<End> {
  const { id, data } = claimed
  try {
    await job.run(scope, data)
    return { outcome: 'done', result: { id, status: 'completed' }, message: 'a job completed' }
  } catch (error) {
    const output = failureOf(error)
    const failed = { id, status: 'failed', output } as const
    const later = putOffMilliseconds(error)
    if (later !== undefined) {
      await putOff(store, claimed, later)
      return { outcome: 'put-off', result: failed, message: 'a job was postponed' }
    }
    if (!isRetryable(error)) {
      const result = { id, status: 'deadletter', output } as const
      return { outcome: 'given-up', result, message: 'a job cannot succeed and is now a dead letter' }
    }
    if (scope.lastAttempt)
      return { outcome: 'given-up', result: failed, message: 'a job failed its last attempt and is now a dead letter' }
    const required = retryAfterSeconds(error)
    // A service that requires short waits must not use up the attempts within seconds.
    if (required > 0 || scope.putOffs > 0)
      await postpone(boss, store, claimed, output, Math.max(required, backoffSeconds(claimed, scope.attempt)))
    return { outcome: 'tried-again', result: failed, message: 'a job failed and will be retried' }
  }
}

/** Returns the log level of an outcome. A dead letter is logged again as an error. */
const levelOf = (outcome: JobOutcome): 'debug' | 'warn' =>
  outcome === 'given-up' || outcome === 'tried-again' ? 'warn' : 'debug'

/** Returns the seconds from when the job was due to its start, by the clock of the store. */
function waitedSeconds({ createdOn, startAfter, startedOn }: ClaimedJob): number {
  const due = Math.max(createdOn.getTime(), startAfter.getTime())
  return Math.max(0, startedOn.getTime() - due) / 1000
}

/**
 * Returns the delay before the next attempt, in seconds. pg-boss would also double it each time the job was put off.
 */
function backoffSeconds({ retryDelay, retryDelayMax }: ClaimedJob, attempt: number): number {
  const seconds = Math.max(1, retryDelay) * 2 ** Math.min(15, attempt - 1) * (1 + Math.random())
  return Math.min(retryDelayMax ?? Number.POSITIVE_INFINITY, seconds)
}

/** Fails the attempt and delays the next one by this time. pg-boss itself has only its backoff. */
async function postpone(
  boss: PgBoss,
  store: QueueStore,
  { name, id, retryCount }: ClaimedJob,
  output: JobFailure,
  seconds: number,
): Promise<void> {
  const db = ambientConnection(store)
  const startAfter = new Date(Date.now() + seconds * 1000)
  // The attempt fails here, so the result that the worker reports later changes nothing.
  await store.transaction(async () => {
    // A claim that has ended, by time-out or release, does not decide when the next attempt is.
    if (!(await lockClaim(store, { name, id, retryCount }))) return
    await boss.fail(name, { id, retryCount }, output, { db })
    await boss.update(name, undefined, { id, startAfter, db })
  })
}

/** The wait before the queue retries a job whose process was killed in each attempt, in milliseconds. */
const retryInterruptedAfter = 3_600_000

/**
 * Orders one more run of an interrupted job in an hour, when the cause may be over. Returns false if this job with this
 * payload already had one within the last week. Until then the dead letter stays on the list, where admins see the reason.
 */
async function retriedLater(boss: PgBoss, store: QueueStore, { id, data, sourceName }: ClaimedJob): Promise<boolean> {
  const payload = { ...data, traceparent: undefined }
  const retry = {
    // The store sorts the members of a payload, so that equal payloads are equal texts.
    id: jobId(retryInterrupted, sourceName ?? '', JSON.stringify(payload)),
    data: { v: 1, letterId: id },
    startAfter: new Date(Date.now() + retryInterruptedAfter),
  }
  await boss.insert(retryInterrupted, [retry], { db: ambientConnection(store) })
  return (await letterOfRetry(store, retry.id)) === id
}

/** Runs the `onDeadLetter` of a job without further attempts. This is durable work with its own retries. */
export const handleDeadLetter =
  (boss: PgBoss, store: QueueStore, jobs: ReadonlyMap<string, Job>, { log, telemetry }: Reports) =>
  async (letter: ClaimedJob): Promise<JobResult> => {
    const { id, data, sourceName, sourceId, sourceOutput } = letter
    const failure = failureOf(sourceOutput)
    const job = jobs.get(sourceName ?? '')
    if (letter.retryCount === 0) telemetry?.jobsGivenUp(job?.name ?? 'unknown', 1)
    const isRetriable =
      failure.name === interruption.name && job?.options.retriesInterrupted && jobs.has(retryInterrupted)
    const handle = async () => {
      const isRetried = isRetriable && (await retriedLater(boss, store, letter))
      const facts = { job: sourceName, id: sourceId, error: failure.message }
      if (isRetried) return log.error(facts, 'a job killed its process each time and is retried in an hour')
      log.error(facts, 'a job failed for good')
      await job?.onDeadLetter(data, failure)
    }
    try {
      await store.outside(() => from(originOfJob(id, data), handle))
      return { id, status: 'completed' }
    } catch (error) {
      return { id, status: 'failed', output: failureOf(error) }
    }
  }

/** The dead letters that no admin has handled yet. The queue keeps them for 90 days. */
export function createDeadLetters(boss: PgBoss, store: QueueStore, log: QueueLog): DeadLetters {
  const take = async (letterId: string): Promise<DeadLetter | undefined> => {
    const row = await takeLetter(store, letterId)
    return row && letterOf(row)
  }
  return {
    list: async () => (await readLetters(store)).map(headOf),
    async find(letterId) {
      const row = await readLetter(store, letterId)
      return row && letterOf(row)
    },
    async settle(letterId, about) {
      const letter = await take(letterId)
      if (letter) log.info({ job: letter.job, letterId, ...about }, 'a dead letter was removed from the list')
      return letter !== undefined
    },
    replay: (letterId) =>
      store.transaction(async () => {
        const letter = await take(letterId)
        if (!letter) return false
        await boss.send(letter.job, letter.payload as object, { db: ambientConnection(store) })
        log.info({ job: letter.job, letterId }, 'a dead letter is retried')
        return true
      }),
  }
}

const headOf = ({ id, ...head }: Omit<LetterRow, 'failure'>): DeadLetterHead => ({ letterId: id, ...head })
function letterOf({ failure, ...head }: LetterRow): DeadLetter {
  const { message, reason = asWritten(message) } = failureOf(failure)
  return { ...headOf(head), problem: reason }
}
