import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { ambientConnection, createBoss, type QueueLog, type QueueStore } from './boss.ts'
import type { Job, JobFailure } from './define-job.ts'
import { putOff, putOffMilliseconds } from './put-off.ts'
import { countJobs, type JobCounts, type QueueState, readQueueState } from './queue-state.ts'
import { reclaim } from './reclaim.ts'

export interface Queue {
  /**
   * Enqueues a job, inside the transaction around it if there is one: then it comes to be with it.
   * A second job with the same `id` (a UUID) is not enqueued. Not before `startAfter`, and within a second of it.
   */
  enqueue(name: string, payload: object, options?: { id?: string; startAfter?: Date }): Promise<void>
  /** Creates the queues and begins to work on them. */
  start(jobs: ReadonlyMap<string, Job>): Promise<void>
  /** Takes no more jobs and waits for those at work; after the time-out their signals abort and they are tried again. */
  stop(timeoutSeconds: number): Promise<void>
  counts(): Promise<JobCounts[]>
  /** How the queue does as a whole. */
  state(): Promise<QueueState>
}

const DEAD_LETTER = 'dead-letter'
const DAY_SECONDS = 86_400
/** A killed worker's jobs are due again after this and a look of the reclaimer: 20 s at most. */
const HEARTBEAT_SECONDS = 10
const RECLAIM_MILLISECONDS = 10_000
/** NOTIFY tells of new jobs; jobs whose time has come are found by looking, this often. */
const LOOK_MILLISECONDS = 500
const PAYLOAD_VERSION = 1

/** Opens the queue in the store. Jobs can be enqueued once `start` has made their queues. */
export async function createQueue(store: QueueStore, log: QueueLog): Promise<Queue> {
  const boss = createBoss(store, log)
  await store.outside(() => boss.start())
  const timers: NodeJS.Timeout[] = []

  async function start(jobs: ReadonlyMap<string, Job>): Promise<void> {
    await createQueues(boss, store, jobs)
    const interrupted = await reclaim(store, boss)
    if (interrupted > 0) log.info({ interrupted }, 'jobs that a dead process left are taken up again')
    const workers = new Map<string, string[]>()
    for (const job of jobs.values()) workers.set(job.name, await work(boss, store, job, log))
    workers.set(DEAD_LETTER, [await workDeadLetters(boss, store, jobs, log)])
    timers.push(every(LOOK_MILLISECONDS, log, () => wakeForDue(boss, store, workers)))
    if (store.engine === 'server') timers.push(every(RECLAIM_MILLISECONDS, log, () => reclaim(store, boss)))
  }

  return {
    async enqueue(name, payload, { id, startAfter } = {}) {
      await boss.send(name, { v: PAYLOAD_VERSION, ...payload }, { id, startAfter, db: ambientConnection(store) })
    },
    start: (jobs) => store.outside(() => start(jobs)),
    async stop(timeoutSeconds) {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await store.outside(() => boss.stop({ timeout: timeoutSeconds * 1000 }))
    },
    counts: () => countJobs(store, DEAD_LETTER),
    state: () => readQueueState(store, DEAD_LETTER),
  }
}

async function createQueues(boss: PgBoss, store: QueueStore, jobs: ReadonlyMap<string, Job>): Promise<void> {
  // Done jobs are kept as long as idempotency keys are: until then the same id is the same job.
  const common = {
    notify: true,
    retryBackoff: true,
    deleteAfterSeconds: 7 * DAY_SECONDS,
    ...(store.engine === 'server' ? { heartbeatSeconds: HEARTBEAT_SECONDS } : {}),
  }
  const deadLetters = { ...common, retryLimit: 8, retryDelay: 5, deleteAfterSeconds: 90 * DAY_SECONDS }
  await boss.createQueue(DEAD_LETTER, deadLetters)
  for (const { name, options } of jobs.values()) {
    const queue = {
      ...common,
      retryLimit: options.retries,
      retryDelay: options.retryDelaySeconds,
      expireInSeconds: options.expireInSeconds,
      deadLetter: DEAD_LETTER,
    }
    await boss.createQueue(name, queue)
    // A queue that exists already keeps the options it was made with; those of the code hold.
    await boss.updateQueue(name, queue)
  }
}

/** Begins work on one kind of job; returns the ids of its workers. */
async function work(boss: PgBoss, store: QueueStore, job: Job, log: QueueLog): Promise<string[]> {
  const workers: string[] = []
  for (let index = 0; index < job.options.concurrency; index += 1) {
    const options = { perJobResults: true, includeMetadata: true, pollingIntervalSeconds: 0.5 } as const
    const worker = await boss.work(job.name, options, async (claimed: JobWithMetadata<object>[]) => {
      const results: JobResult[] = []
      for (const one of claimed) results.push(await attempt(boss, store, job, one, log))
      // There may be more: without this a worker waits out its polling interval after each job.
      for (const id of workers) boss.notifyWorker(id)
      return results
    })
    workers.push(worker)
  }
  return workers
}

async function attempt(
  boss: PgBoss,
  store: QueueStore,
  job: Job,
  claimed: JobWithMetadata<object>,
  log: QueueLog,
): Promise<JobResult> {
  const { id, retryCount, retryLimit, signal, data } = claimed
  const scope = { attempt: retryCount + 1, lastAttempt: retryCount >= retryLimit, signal }
  try {
    await store.outside(() => job.run(scope, data))
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
    if (!scope.lastAttempt) await postpone(boss, store, claimed, output, retryAfterSeconds(error))
    return { id, status: 'failed', output }
  }
}

/** Fails the attempt with a next one not before the time that the other side asked for; pg-boss only knows its backoff. */
async function postpone(
  boss: PgBoss,
  store: QueueStore,
  { name, id, retryCount }: JobWithMetadata<object>,
  output: JobFailure,
  seconds: number,
): Promise<void> {
  if (seconds <= 0) return
  const db = ambientConnection(store)
  const startAfter = new Date(Date.now() + seconds * 1000)
  // Once failed here, the result that the worker reports finds no active attempt and changes nothing.
  await store.transaction(async () => {
    await boss.fail(name, { id, retryCount }, output, { db })
    await boss.update(name, undefined, { id, startAfter, db })
  })
}

/** Tells jobs that they were given up, durably: this is work like any other, with its own retries. */
function workDeadLetters(
  boss: PgBoss,
  store: QueueStore,
  jobs: ReadonlyMap<string, Job>,
  log: QueueLog,
): Promise<string> {
  const options = { includeMetadata: true, pollingIntervalSeconds: 0.5 } as const
  return boss.work(DEAD_LETTER, options, async (claimed: JobWithMetadata<object>[]) => {
    for (const { data, sourceName, sourceId, sourceOutput } of claimed) {
      const failure = failureOf(sourceOutput)
      log.error({ job: sourceName, id: sourceId, error: failure.message }, 'a job was given up')
      await store.outside(async () => jobs.get(sourceName ?? '')?.onDeadLetter(data, failure))
    }
  })
}

async function wakeForDue(boss: PgBoss, store: QueueStore, workers: ReadonlyMap<string, string[]>): Promise<void> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<{ name: string }>(
    `select distinct name from ${schema}.job where state < 'active' and start_after <= now() and name = any($1)`,
    [[...workers.keys()]],
  )
  for (const { name } of rows) for (const id of workers.get(name) ?? []) boss.notifyWorker(id)
}

/** Runs a look again and again, one at a time; a failed one is logged and the next may do better. */
function every(milliseconds: number, log: QueueLog, look: () => Promise<unknown>): NodeJS.Timeout {
  let looking = false
  return setInterval(() => {
    if (looking) return
    looking = true
    look()
      .catch((error: unknown) => log.warn({ error: failureOf(error).message }, 'the queue could not look for work'))
      .finally(() => {
        looking = false
      })
  }, milliseconds)
}

function isRetryable(error: unknown): boolean {
  return !(typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === false)
}

function retryAfterSeconds(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfterSeconds' in error)) return 0
  return typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds : 0
}

/** What is kept of an error: its stack would tell more than the store should. */
function failureOf(error: unknown): JobFailure {
  const { name, message, value } = (
    typeof error === 'object' && error !== null ? error : { message: String(error) }
  ) as {
    name?: unknown
    message?: unknown
    value?: unknown
  }
  if (message === undefined && value !== undefined) return failureOf(value)
  return { name: String(name ?? 'Error'), message: String(message ?? 'unknown') }
}
