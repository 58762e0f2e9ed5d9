import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { type DeadLetters, jobId, type Telemetry, traceparentToEnqueue } from '../../core/index.ts'
import { attempt, type ClaimedJob, createDeadLetters, tellGivenUp } from './attempt.ts'
import { ambientConnection, createBoss, type QueueLog, type QueueStore } from './boss.ts'
import { failureOf, type Job } from './define-job.ts'
import {
  countJobs,
  DEAD_LETTER,
  dueAt,
  giveBack,
  HEARTBEAT_SECONDS,
  type JobCounts,
  jobTable,
  LAST_RESORT_SECONDS,
  lastDone,
  namesWithDueJobs,
  type QueueState,
  readQueueState,
  reclaim,
} from './tables.ts'
import { createWorker, type Worker } from './worker.ts'

/** A job to be: see {@link Queue.enqueue}. */
export interface QueueOrder {
  readonly name: string
  readonly payload: object
  readonly id?: string
  readonly startAfter?: Date
}

export interface Queue {
  /**
   * Enqueues a job, inside the transaction around it if there is one: then it comes to be with it.
   * A second job with the same `id` (a UUID) is not enqueued. Not before `startAfter`, and within a second of it.
   */
  enqueue(name: string, payload: object, options?: { id?: string; startAfter?: Date }): Promise<void>
  /** Enqueues many: those of one name in one statement. */
  enqueueAll(orders: readonly QueueOrder[]): Promise<void>
  /** Creates the queues and begins to work on them. Returns how many jobs were due anew that a dead process had left. */
  start(jobs: ReadonlyMap<string, Job>): Promise<number>
  /**
   * Takes no more jobs and waits for those at work. Those that are not done after the time-out are given back: they are
   * due at once, for whoever works on the queue next, and their signals abort. Ends within a second of the time-out.
   */
  stop(timeoutSeconds: number): Promise<void>
  counts(): Promise<JobCounts[]>
  /** How the queue does as a whole. */
  state(): Promise<QueueState>
  /** When a job of this name was last done; null = not within the last seven days. */
  lastDone(name: string): Promise<Date | null>
  /** When the next job of this name is due, of each of these requests that has one which is not at work. */
  dueAt(name: string, requestIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
  /** Whether this process works on the queue: it has begun, has not been stopped, and found the store at its last looks. */
  isWorking(): boolean
  readonly deadLetters: DeadLetters
}

const DAY_SECONDS = 86_400
/** The longest distance between two attempts, in seconds, however often a job has failed. */
const LONGEST_BACKOFF_SECONDS = 900
/** After its silence a killed worker's jobs are due again within this: 12 s at most. */
const RECLAIM_MILLISECONDS = 3000
/** NOTIFY tells of new jobs; jobs whose time has come are found by looking, this often. */
const LOOK_MILLISECONDS = 500
/** How long the looks may fail before this process says that it does not work on the queue. */
const BLIND_MILLISECONDS = 5000
const PAYLOAD_VERSION = 1

/** Opens the queue in the store. Jobs can be enqueued once `start` has made their queues. */
export async function createQueue(store: QueueStore, log: QueueLog, telemetry?: Telemetry): Promise<Queue> {
  const workers = new Map<string, Worker>()
  const heard = (name?: string) => {
    for (const worker of name === undefined ? workers.values() : [workers.get(name)]) worker?.wake()
  }
  const boss = createBoss(store, log, heard)
  await store.outside(() => boss.start())
  const timers: NodeJS.Timeout[] = []
  const looks = { good: Number.NEGATIVE_INFINITY, failed: Number.NEGATIVE_INFINITY }
  const complain = (error: unknown) => boss.emit('error', error instanceof Error ? error : new Error(String(error)))

  async function start(jobs: ReadonlyMap<string, Job>): Promise<number> {
    await createQueues(boss, store, jobs)
    const left = await reclaim(store, boss)
    if (left.length > 0) log.info({ interrupted: left.length }, 'jobs that a dead process left are taken up again')
    const told = tellGivenUp(store, jobs, log)
    workers.set(DEAD_LETTER, createWorker(boss, store, { name: DEAD_LETTER, concurrency: 1, run: told, complain }))
    for (const job of jobs.values()) {
      const { name, options } = job
      const run = (claimed: ClaimedJob) => attempt(boss, store, job, claimed, { log, telemetry })
      workers.set(name, createWorker(boss, store, { name, concurrency: options.concurrency, run, complain }))
    }
    heard()
    looks.good = performance.now()
    timers.push(every(LOOK_MILLISECONDS, log, looks, () => wakeForDue(store, workers)))
    if (store.engine === 'server') timers.push(every(RECLAIM_MILLISECONDS, log, looks, reclaimDead))
    // A job that runs again in the next turn anyway leaves nothing undone.
    return left.filter((name) => jobs.get(name)?.options.hasDeadLetters !== false).length
  }

  /** While the store was away nobody could say that they were alive: whoever is has to be let say so first. */
  async function reclaimDead(): Promise<number> {
    if (store.engine === 'embedded' || performance.now() - looks.failed < 2 * HEARTBEAT_SECONDS * 1000) return 0
    const interrupted = (await reclaim(store, boss)).length
    if (interrupted > 0) log.warn({ interrupted }, 'jobs that a dead process left are taken up again')
    return interrupted
  }

  async function stop(timeoutSeconds: number): Promise<void> {
    for (const timer of timers.splice(0)) clearInterval(timer)
    const all = [...workers.values()]
    const rested = Promise.all(all.map((worker) => worker.stop())).then(() => true)
    const inTime = await Promise.race([rested, pause(timeoutSeconds * 1000, false)])
    if (!inTime) {
      const claims = all.flatMap((worker) => worker.leave())
      const given = giveBack(store, claims).catch((error) =>
        log.warn({ error: failureOf(error).message }, 'not given back'),
      )
      await Promise.race([given, pause(500)])
      for (const worker of all) worker.abort()
    }
    await Promise.race([boss.stop({ timeout: 500 }), pause(500)])
  }

  async function enqueueAll(orders: readonly QueueOrder[]): Promise<void> {
    for (const [name, ofName] of Map.groupBy(orders, (order) => order.name)) {
      const jobs = ofName.filter(isFirstOfItsId).map(({ payload, id, startAfter }) => ({
        // Beside the payload: a replica that does not know of traces leaves it where it is.
        ...{ data: { v: PAYLOAD_VERSION, ...payload, traceparent: traceparentToEnqueue() } },
        ...(id !== undefined && { id }),
        ...(startAfter && { startAfter }),
      }))
      await boss.insert(name, jobs, { db: ambientConnection(store) })
    }
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
    isWorking: () => timers.length > 0 && performance.now() - looks.good < BLIND_MILLISECONDS,
    deadLetters: createDeadLetters(boss, store, log),
  }
}

/** What the store does with a known id, pg-boss refuses within one statement, and the transaction around it with it. */
const isFirstOfItsId = ({ id }: QueueOrder, index: number, all: readonly QueueOrder[]): boolean =>
  id === undefined || all.findIndex((order) => order.id === id) === index

async function createQueues(boss: PgBoss, store: QueueStore, jobs: ReadonlyMap<string, Job>): Promise<void> {
  // Done jobs are kept as long as idempotency keys are: until then the same id is the same job. The backoff doubles, and
  // pg-boss adds up to as much again at random, so that what failed together does not come back together.
  const common = {
    notify: true,
    retryBackoff: true,
    retryDelayMax: LONGEST_BACKOFF_SECONDS,
    deleteAfterSeconds: 7 * DAY_SECONDS,
    // What is not done by then nobody will do; pg-boss's own 14 days are no longer than a service may be down.
    retentionSeconds: 90 * DAY_SECONDS,
    ...(store.engine === 'server' ? { heartbeatSeconds: LAST_RESORT_SECONDS } : {}),
  }
  const deadLetters = { ...common, retryLimit: 8, retryDelay: 5, deleteAfterSeconds: 90 * DAY_SECONDS }
  await boss.createQueue(DEAD_LETTER, deadLetters)
  // A queue that exists already keeps the options it was made with; those of the code hold.
  await boss.updateQueue(DEAD_LETTER, deadLetters)
  for (const { name, options } of jobs.values()) {
    const queue = {
      ...common,
      retryLimit: options.retries,
      retryDelay: options.retryDelaySeconds,
      expireInSeconds: options.expireInSeconds,
      ...(options.keptSeconds !== undefined && { deleteAfterSeconds: options.keptSeconds }),
    }
    const deadLetter = options.hasDeadLetters ? DEAD_LETTER : null
    await boss.createQueue(name, deadLetter === null ? queue : { ...queue, deadLetter })
    await boss.updateQueue(name, { ...queue, deadLetter })
  }
}

async function wakeForDue(store: QueueStore, workers: ReadonlyMap<string, Worker>): Promise<void> {
  for (const name of await namesWithDueJobs(store, [...workers.keys()])) workers.get(name)?.wake()
}

const pause = <T>(milliseconds: number, value?: T) => sleep(milliseconds, value, { ref: false })

/** Runs a look again and again, one at a time; the first that fails is logged and the next may do better. */
function every(
  milliseconds: number,
  log: QueueLog,
  looks: { good: number; failed: number },
  look: () => Promise<unknown>,
): NodeJS.Timeout {
  let looking = false
  return setInterval(() => {
    if (looking) return
    looking = true
    look()
      .then(() => {
        looks.good = performance.now()
      })
      .catch((error: unknown) => {
        if (looks.failed < looks.good)
          log.warn({ error: failureOf(error).message }, 'the queue could not look for work')
        looks.failed = performance.now()
      })
      .finally(() => {
        looking = false
      })
  }, milliseconds)
}

/** A job that runs again and again. Times are in milliseconds. */
export interface Turns {
  readonly name: 'watchdog' | 'digest' | 'health-watch' | 'housekeeping'
  /** The length of a turn. The job runs once in each. */
  readonly length: number
  /** How often the present turn is ordered. Default: once in each turn. */
  readonly orderEvery?: number
  /** When the first order comes, counted from now. Default: at the start of the next turn. */
  readonly firstAfter?: number
}

/**
 * Orders a job for each turn until the returned function is called. Every replica orders it. The job's id is made of its name and its
 * turn, so that only one replica runs it. Orders come at the start of a turn by the clock, so turns are equally far apart whichever
 * replica orders them.
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

/** Tables of the queue that jobs are kept in, by their names as SQL. */
export interface JobTables {
  readonly source: string
  readonly target: string
}

/** Makes in `to` all queues that `from` has, so that jobs can be copied. Nobody may work on either meanwhile. */
export async function prepareQueues(from: QueueStore, to: QueueStore, log: QueueLog): Promise<JobTables> {
  const [old, fresh] = [createBoss(from, log), createBoss(to, log)]
  try {
    // Both have the tables of this version then.
    await from.outside(() => old.start())
    await to.outside(() => fresh.start())
    for (const { name } of await old.getQueues()) if (!name.startsWith('__pgboss')) await fresh.createQueue(name)
  } finally {
    for (const boss of [old, fresh]) await boss.stop({ graceful: false }).catch(() => undefined)
  }
  return { source: jobTable(from), target: jobTable(to) }
}
