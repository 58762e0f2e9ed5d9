import { setTimeout as pause } from 'node:timers/promises'
import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { JobLeft } from '../../core/index.ts'
import type { ClaimedJob } from './attempt.ts'
import { ambientConnection, type QueueStore } from './boss.ts'
import { failureOf } from './define-job.ts'
import { dropRetries, HEARTBEAT_SECONDS, keepAlive, release } from './tables.ts'

type Claim = { readonly id: string; readonly retryCount: number }

/** The pauses before a result is reported to the store again, in milliseconds. */
const PAUSES = [250, 500, 1000, 2000, 4000] as const

/**
 * Reports the results of jobs of one name to the store, with retries: a job whose result is lost runs again. Jobs that
 * complete during a report are reported together in the next statement. A claim that was put off, released or taken over
 * meanwhile stays unchanged.
 */
function createSettler(boss: PgBoss, store: QueueStore, name: string) {
  let last: Promise<unknown> = Promise.resolve()
  let next: { readonly claims: Claim[]; readonly reported: Promise<unknown> } | undefined

  /** All claims of one statement succeed or fail together. */
  function complete(claim: Claim): Promise<unknown> {
    next ??= nextStatement()
    next.claims.push(claim)
    return next.reported
  }

  function nextStatement() {
    const claims: Claim[] = []
    const reported = last.then(() => {
      next = undefined
      return completeAll(claims)
    })
    last = reported.catch(() => undefined)
    return { claims, reported }
  }

  /**
   * In the embedded store each flush stops the whole process, so completions do not wait for one. If a power cut or a kill
   * loses them, the jobs run again. Claims are flushed, because they count the attempts of jobs that kill their process.
   */
  const completeAll = (claims: Claim[]): Promise<unknown> =>
    store.engine === 'server'
      ? boss.complete(name, claims)
      : store.transaction(async () => {
          await store.query(`SELECT set_config('synchronous_commit', 'off', true)`)
          await boss.complete(name, claims, { db: ambientConnection(store) })
        })

  /** pg-boss creates a dead letter from a failure that has no retries left. */
  const bury = ({ id, retryCount }: Claim, output: object | undefined): Promise<unknown> =>
    store.transaction(async () => {
      await dropRetries(store, { name, id, retryCount })
      await boss.fail(name, { id, retryCount }, output, { db: ambientConnection(store) })
    })

  async function report({ id, retryCount }: Claim, { status, output }: JobResult): Promise<void> {
    const claim = { id, retryCount }
    if (status === 'completed') await complete(claim)
    else if (status === 'deadletter') await bury(claim, output)
    else await boss.fail(name, claim, output)
  }

  return async (claim: Claim, result: JobResult): Promise<void> => {
    for (const milliseconds of PAUSES) {
      const isReported = await report(claim, result).then(
        () => true,
        () => false,
      )
      if (isReported) return
      await pause(milliseconds, undefined, { ref: false })
    }
    await report(claim, result)
  }
}

/** After this time a worker runs all jobs that it can, even if its first ones still run. Milliseconds. */
const SLOW_START_MILLISECONDS = 2000

/** Works on the jobs of one name, up to `concurrency` at a time. */
export interface Worker {
  /** Polls for jobs, unless the worker is full. */
  wake(): void
  /** Releases every job that it fetches from now on; returns the running jobs. */
  leave(): ClaimedJob[]
  /** Takes no more jobs. Resolves when the running jobs are done and reported to the store. */
  stop(): Promise<void>
  /** Aborts the running jobs. */
  abort(): void
}

interface Work {
  readonly name: string
  readonly concurrency: number
  /** Runs one job once and returns its result. */
  run(claimed: ClaimedJob): Promise<JobResult>
  /** Gets errors between the worker and the store. The work continues. */
  complain(error: unknown): void
}

/**
 * Creates a worker on pg-boss's fetch, complete and fail. One poll takes as many jobs as can run, and one statement
 * completes all jobs that are done. pg-boss's `work` has a poller for each concurrent job, and each one polls at every
 * NOTIFY: in the embedded store that took longer than the jobs themselves (docs/decisions/13-workers.md).
 *
 * A new worker begins with one job, and each end of a job allows one more. If a process is killed soon after each start,
 * its first jobs end before the next kill. Many jobs at once would all still run then, and each kill would interrupt all.
 */
export function createWorker(boss: PgBoss, store: QueueStore, work: Work): Worker {
  const { name, complain } = work
  const busy = new Map<ClaimedJob, { readonly controller: AbortController; readonly ended: Promise<void> }>()
  const settle = createSettler(boss, store, name)
  let polling: Promise<void> = Promise.resolve()
  let isPolling = false
  let wanted = false
  let stopped = false
  let hasLeft = false
  /** How many jobs may run at present. */
  let slots = 1
  let heartbeat: NodeJS.Timeout | undefined

  const allow = (more: number): void => {
    slots = Math.min(work.concurrency, slots + more)
    if (wanted) wake()
  }
  setTimeout(allow, SLOW_START_MILLISECONDS, work.concurrency).unref()

  function wake(): void {
    wanted = true
    if (!isPolling && !stopped) polling = store.outside(poll)
  }

  /** Polls until a poll returns fewer jobs than it could take. From then on, `wake` starts the next poll. */
  async function poll(): Promise<void> {
    isPolling = true
    try {
      // When the worker is full, the next job that ends polls again.
      while (wanted && !stopped && busy.size < slots) {
        await store.giveWay()
        if (stopped) return
        wanted = false
        const free = slots - busy.size
        const fetched = await boss.fetch<object>(name, { batchSize: free, includeMetadata: true })
        if (hasLeft) return await release(store, fetched)
        for (const job of fetched) begin(job)
        wanted ||= fetched.length === free
      }
    } catch (error) {
      complain(error)
    } finally {
      isPolling = false
    }
  }

  function begin(fetched: JobWithMetadata<object>): void {
    const controller = new AbortController()
    const claimed: ClaimedJob = { ...fetched, signal: controller.signal }
    if (busy.size === 0 && store.engine === 'server')
      heartbeat = setInterval(() => void beat().catch(complain), HEARTBEAT_SECONDS * 1000)
    const ended = serve(claimed, controller).finally(() => {
      busy.delete(claimed)
      if (busy.size === 0) clearInterval(heartbeat)
      allow(1)
    })
    busy.set(claimed, { controller, ended })
  }

  async function serve(claimed: ClaimedJob, controller: AbortController): Promise<void> {
    try {
      await settle(claimed, await withinItsTime(claimed, controller, work.run(claimed)))
    } catch (error) {
      complain(error)
    }
  }

  /** Reports that this worker's jobs are alive. Aborts the jobs that another process has taken over. */
  async function beat(): Promise<void> {
    const held = [...busy]
    const claims = held.map(([claimed]) => claimed)
    const ours = await keepAlive(store, name, claims)
    for (const [{ id }, { controller }] of held)
      if (!ours.has(id)) controller.abort(new JobLeft('another process has taken the job over'))
  }

  return {
    wake,
    leave() {
      hasLeft = true
      return [...busy.keys()]
    },
    async stop() {
      stopped = true
      // A running poll may still fetch jobs. This worker has claimed them, so it runs them.
      await polling
      await Promise.all([...busy.values()].map(({ ended }) => ended))
    },
    abort() {
      for (const { controller } of busy.values()) controller.abort(new JobLeft('the service stops'))
    },
  }
}

/** Returns the result of a job. A job that exceeds its time limit has failed, although its handler may still run. */
async function withinItsTime(
  { id, expireInSeconds }: ClaimedJob,
  controller: AbortController,
  running: Promise<JobResult>,
): Promise<JobResult> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<JobResult>((resolve) => {
    timer = setTimeout(() => {
      const error = new Error(`it took longer than ${expireInSeconds} s`)
      controller.abort(error)
      resolve({ id, status: 'failed', output: failureOf(error) })
    }, expireInSeconds * 1000)
  })
  return Promise.race([running, expired]).finally(() => clearTimeout(timer))
}
