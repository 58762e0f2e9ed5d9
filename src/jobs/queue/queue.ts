import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss, QueueOptions, QueueResult } from 'pg-boss'
import { type DeadLetters, jobId, type Telemetry, traceparentToEnqueue } from '../../core/index.ts'
import { attempt, type ClaimedJob, createDeadLetters, handleDeadLetter } from './attempt.ts'
import { ambientConnection, createBoss, type QueueLog, type QueueStore } from './boss.ts'
import { failureOf, type Job } from './define-job.ts'
import {
  countJobs,
  DEAD_LETTER,
  dueAt,
  HEARTBEAT_SECONDS,
  indexRunningJobs,
  type JobCounts,
  jobTable,
  LAST_RESORT_SECONDS,
  lastDone,
  type QueueState,
  readDueJobs,
  readQueueState,
  reclaim,
  release,
} from './tables.ts'
import { createWorker, type Worker } from './worker.ts'

/** An order for a job: see {@link Queue.enqueue}. */
interface QueueOrder {
  readonly name: string
  readonly payload: object
  readonly id?: string
  readonly startAfter?: Date
}

export interface Queue {
  /**
   * Enqueues a job, as a part of the transaction around the call if there is one.
   * A second job with the same `id` (a UUID) is not enqueued. The job starts within a second after `startAfter`.
   */
  enqueue(name: string, payload: object, options?: { id?: string; startAfter?: Date }): Promise<void>
  /** Enqueues many jobs, with one statement for each name. */
  enqueueAll(orders: readonly QueueOrder[]): Promise<void>
  /**
   * Creates the queues and starts to work on them. Returns the number of jobs that it took over from dead processes.
   */
  start(jobs: ReadonlyMap<string, Job>): Promise<number>
  /**
   * Takes no more jobs and waits for the running ones. Jobs that run after the time-out are released: they are due at
   * once for the next process, and their signals abort. Ends within a second of the time-out.
   */
  stop(timeoutSeconds: number): Promise<void>
  counts(): Promise<JobCounts[]>
  /** The length of the queue and the age of its oldest job. */
  state(): Promise<QueueState>
  /** When a job of this name was last completed; null: not within the last seven days. */
  lastDone(name: string): Promise<Date | null>
  /**
   * When the next job of this name is due, by request. Requests without such a job, or whose job runs now, are missing.
   */
  dueAt(name: string, requestIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
  /** Whether this process works on the queue: it has started, has not stopped, and its last polls reached the store. */
  isWorking(): boolean
  readonly deadLetters: DeadLetters
}

const DAY_SECONDS = 86_400
/** The longest delay between two attempts, in seconds. */
const LONGEST_BACKOFF_SECONDS = 900
/** How often jobs of dead processes are taken over. Together with their silence, this takes 12 s at most. */
const RECLAIM_MILLISECONDS = 3000
/** NOTIFY announces new jobs. Jobs that become due later are found by polling at this interval, before they are due. */
const POLL_MILLISECONDS = 500
/** Jobs of one name that become due in the same step start together, so that each does not need a statement of its own. */
const STEP_MILLISECONDS = 50
/** After failed polls for this time, the process reports that it does not work on the queue. */
const BLIND_MILLISECONDS = 5000
const PAYLOAD_VERSION = 1

/** Opens the queue in the store. Jobs can be enqueued once `start` has created their queues. */
export async function createQueue(store: QueueStore, log: QueueLog, telemetry?: Telemetry): Promise<Queue> {
  const workers = new Map<string, Worker>()
  const wake = (name?: string) => {
    for (const worker of name === undefined ? workers.values() : [workers.get(name)]) worker?.wake()
  }
  const boss = createBoss(store, log, wake)
  await store.outside(() => boss.start())
  const timers: NodeJS.Timeout[] = []
  const polls = { good: Number.NEGATIVE_INFINITY, failed: Number.NEGATIVE_INFINITY }
  const complain = (error: unknown) => boss.emit('error', error instanceof Error ? error : new Error(String(error)))

  async function start(jobs: ReadonlyMap<string, Job>): Promise<number> {
    // An alert on the increase of a counter misses the first failure if the counter does not begin with 0.
    for (const name of jobs.keys()) telemetry?.jobsGivenUp(name, 0)
    await createQueues(boss, store, jobs)
    await indexRunningJobs(store)
    const left = await reclaim(store, boss)
    if (left.length > 0) log.info({ interrupted: left.length }, 'took over jobs of a dead process')
    workers.set(
      DEAD_LETTER,
      createWorker(boss, store, {
        name: DEAD_LETTER,
        concurrency: 1,
        run: handleDeadLetter(boss, store, jobs, { log, telemetry }),
        complain,
      }),
    )
    for (const job of jobs.values()) {
      const { name, options } = job
      const run = (claimed: ClaimedJob) => attempt(boss, store, job, claimed, { log, telemetry })
      workers.set(name, createWorker(boss, store, { name, concurrency: options.concurrency, run, complain }))
    }
    wake()
    polls.good = performance.now()
    timers.push(every(POLL_MILLISECONDS, log, polls, () => wakeForDue(store, workers)))
    if (store.engine === 'server') timers.push(every(RECLAIM_MILLISECONDS, log, polls, reclaimDead))
    // A periodic job does not count: its next turn does the same work.
    return left.filter((name) => jobs.get(name)?.options.hasDeadLetters !== false).length
  }

  /** While the store was down, no process could report a heartbeat. Living processes get time to report first. */
  async function reclaimDead(): Promise<number> {
    if (store.engine === 'embedded' || performance.now() - polls.failed < 2 * HEARTBEAT_SECONDS * 1000) return 0
    const interrupted = (await reclaim(store, boss)).length
    if (interrupted > 0) log.warn({ interrupted }, 'took over jobs of a dead process')
    return interrupted
  }

  async function stop(timeoutSeconds: number): Promise<void> {
    for (const timer of timers.splice(0)) clearInterval(timer)
    const all = [...workers.values()]
    const rested = Promise.all(all.map((worker) => worker.stop())).then(() => true)
    const inTime = await Promise.race([rested, pause(timeoutSeconds * 1000, false)])
    if (!inTime) {
      const claims = all.flatMap((worker) => worker.leave())
      const released = release(store, claims).catch((error) =>
        log.warn({ error: failureOf(error).message }, 'could not release the running jobs'),
      )
      await Promise.race([released, pause(500)])
      for (const worker of all) worker.abort()
    }
    await Promise.race([boss.stop({ timeout: 500 }), pause(500)])
  }

  async function enqueueAll(orders: readonly QueueOrder[]): Promise<void> {
    const insert = async ([name, ofName]: [string, QueueOrder[]]) => {
      const jobs = firstOfEachId(ofName).map(({ payload, id, startAfter }) => ({
        // The trace is next to the payload, where older replicas ignore it.
        ...{ data: { v: PAYLOAD_VERSION, ...payload, traceparent: traceparentToEnqueue() } },
        ...(id !== undefined && { id }),
        ...(startAfter && { startAfter }),
      }))
      await boss.insert(name, jobs, { db: ambientConnection(store) })
    }
    await Promise.all([...Map.groupBy(orders, (order) => order.name)].map(insert))
  }

  return {
    enqueue: (name, payload, options) => enqueueAll([{ name, payload, ...options }]),
    enqueueAll,
    start: (jobs) => store.outside(() => start(jobs)),
    stop: (timeoutSeconds) => store.outside(() => stop(timeoutSeconds)),
    counts: () => countJobs(store),
    state: () => readQueueState(store),
    dueAt: (name, requestIds) => dueAt(store, name, requestIds),
    lastDone: (name) => lastDone(store, name),
    isWorking: () => timers.length > 0 && performance.now() - polls.good < BLIND_MILLISECONDS,
    deadLetters: createDeadLetters(boss, store, log),
  }
}

/** Two jobs with the same id in one statement would fail the whole transaction, so only the first is inserted. */
function firstOfEachId(orders: readonly QueueOrder[]): QueueOrder[] {
  const seen = new Set<string>()
  return orders.filter(({ id }) => {
    const isFirst = id === undefined || !seen.has(id)
    if (id !== undefined) seen.add(id)
    return isFirst
  })
}

async function createQueues(boss: PgBoss, store: QueueStore, jobs: ReadonlyMap<string, Job>): Promise<void> {
  // Completed jobs are kept as long as idempotency keys: until then the same id is the same job. The backoff doubles, and
  // pg-boss adds jitter of up to the same time, so that jobs that failed together do not return together.
  const common = {
    notify: true,
    retryBackoff: true,
    retryDelayMax: LONGEST_BACKOFF_SECONDS,
    deleteAfterSeconds: 7 * DAY_SECONDS,
    // pg-boss's default of 14 days is too short: a service may be down for longer.
    retentionSeconds: 90 * DAY_SECONDS,
    ...(store.engine === 'server' ? { heartbeatSeconds: LAST_RESORT_SECONDS } : {}),
  }
  const stored = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  const deadLetters = { ...common, retryLimit: 8, retryDelay: 5, deleteAfterSeconds: 90 * DAY_SECONDS }
  await putQueue(boss, stored, DEAD_LETTER, { ...deadLetters, deadLetter: null })
  for (const { name, options } of jobs.values()) {
    const queue = {
      ...common,
      retryLimit: options.retries,
      retryDelay: options.retryDelaySeconds,
      expireInSeconds: options.expireInSeconds,
      ...(options.keptSeconds !== undefined && { deleteAfterSeconds: options.keptSeconds }),
    }
    await putQueue(boss, stored, name, { ...queue, deadLetter: options.hasDeadLetters ? DEAD_LETTER : null })
  }
}

/** Creates a queue, or updates the options of a stored one if they have changed. */
async function putQueue(
  boss: PgBoss,
  stored: ReadonlyMap<string, QueueResult>,
  name: string,
  { deadLetter, ...options }: QueueOptions & { deadLetter: string | null },
): Promise<void> {
  const before = stored.get(name)
  if (!before) return boss.createQueue(name, deadLetter === null ? options : { ...options, deadLetter })
  const known: Partial<Record<string, unknown>> = { ...before }
  const isSame = ([option, value]: [string, unknown]) => (known[option] ?? null) === value
  // Most starts find everything as it is, and save a call for each queue.
  if (!Object.entries({ ...options, deadLetter }).every(isSame))
    await boss.updateQueue(name, { ...options, deadLetter })
}

/** Wakes each worker when its jobs of the next interval are due. A worker that has stopped ignores it. */
async function wakeForDue(store: QueueStore, workers: ReadonlyMap<string, Worker>): Promise<void> {
  const due = await readDueJobs(store, [...workers.keys()], { within: POLL_MILLISECONDS, step: STEP_MILLISECONDS })
  for (const { name, milliseconds } of due) {
    const wake = () => workers.get(name)?.wake()
    if (milliseconds === 0) wake()
    else setTimeout(wake, milliseconds).unref()
  }
}

const pause = <T>(milliseconds: number, value?: T) => sleep(milliseconds, value, { ref: false })

/** Polls at an interval, one poll at a time. Logs the first failure of a series. */
function every(
  milliseconds: number,
  log: QueueLog,
  polls: { good: number; failed: number },
  poll: () => Promise<unknown>,
): NodeJS.Timeout {
  let isPolling = false
  return setInterval(() => {
    if (isPolling) return
    isPolling = true
    poll()
      .then(() => {
        polls.good = performance.now()
      })
      .catch((error: unknown) => {
        if (polls.failed < polls.good)
          log.warn({ error: failureOf(error).message }, 'the queue could not poll for jobs')
        polls.failed = performance.now()
      })
      .finally(() => {
        isPolling = false
      })
  }, milliseconds)
}

/** A job that runs at regular intervals. Times are in milliseconds. */
export interface Turns {
  readonly name: 'watchdog' | 'digest' | 'health-watch' | 'housekeeping'
  /** The length of a turn. The job runs once in each. */
  readonly length: number
  /** How often the present turn is ordered. Default: once in each turn. */
  readonly orderEvery?: number
  /** The delay of the first order from now. Default: at the start of the next turn. */
  readonly firstAfter?: number
}

/**
 * Orders a job for each turn until the returned function is called. Every replica orders it. The job's id depends only on
 * its name and turn, so that only one replica runs it. Orders come at the start of a turn by the clock, so turns are
 * equally far apart whichever replica orders them.
 */
export function startTurns(queue: Queue, log: QueueLog, now: () => Date, turns: Turns): () => void {
  const { name, length, orderEvery = length } = turns
  const untilNext = () => orderEvery - (now().getTime() % orderEvery)
  const order = () => {
    const turn = Math.floor(now().getTime() / length)
    queue
      .enqueue(name, { v: 1, turn }, { id: jobId(name, turn) })
      .catch((error: unknown) => log.warn({ job: name, error: failureOf(error).message }, 'a turn was not ordered'))
  }
  let timer: NodeJS.Timeout
  const orderAfter = (milliseconds: number) => {
    timer = setTimeout(() => {
      order()
      orderAfter(untilNext())
    }, milliseconds)
  }
  orderAfter(turns.firstAfter ?? untilNext())
  return () => clearTimeout(timer)
}

/** The tables of two queues that have the jobs, as SQL names. */
interface JobTables {
  readonly source: string
  readonly target: string
}

/** Creates in `to` all queues of `from`, so that jobs can be copied. No process may work on either queue meanwhile. */
export async function prepareQueues(from: QueueStore, to: QueueStore, log: QueueLog): Promise<JobTables> {
  const [old, fresh] = [createBoss(from, log), createBoss(to, log)]
  try {
    // Starting migrates both to the tables of this version.
    await from.outside(() => old.start())
    await to.outside(() => fresh.start())
    for (const { name } of await old.getQueues()) if (!name.startsWith('__pgboss')) await fresh.createQueue(name)
  } finally {
    for (const boss of [old, fresh]) await boss.stop({ graceful: false }).catch(() => undefined)
  }
  return { source: jobTable(from), target: jobTable(to) }
}
