import { setTimeout as pause } from 'node:timers/promises'
import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import type { ClaimedJob } from './attempt.ts'
import { ambientConnection, type QueueStore } from './boss.ts'
import { failureOf } from './define-job.ts'
import { dropRetries, giveBack, HEARTBEAT_SECONDS, keepAlive } from './tables.ts'

type Claim = { readonly id: string; readonly retryCount: number }

/** The pauses before the store is told again what it did not take, in milliseconds. */
const PAUSES = [250, 500, 1000, 2000, 4000] as const

/**
 * Tells the store what became of jobs of one name, several times if need be: work of which it never hears is done again.
 * What is done while it is being told is told together afterwards, in one statement. A claim that was put off, given back
 * or taken over meanwhile is left as it is.
 */
function createSettler(boss: PgBoss, store: QueueStore, name: string) {
  let last: Promise<unknown> = Promise.resolve()
  let next: { readonly claims: Claim[]; readonly told: Promise<unknown> } | undefined

  /** Each claim shares the fate of the statement that it is told in. */
  function complete(claim: Claim): Promise<unknown> {
    next ??= nextStatement()
    next.claims.push(claim)
    return next.told
  }

  function nextStatement() {
    const claims: Claim[] = []
    const told = last.then(() => {
      next = undefined
      return boss.complete(name, claims)
    })
    last = told.catch(() => undefined)
    return { claims, told }
  }

  /** Without its retries a failure is the end, and pg-boss makes the dead letter of it. */
  const giveUp = ({ id, retryCount }: Claim, output: object | undefined): Promise<unknown> =>
    store.transaction(async () => {
      await dropRetries(store, { name, id, retryCount })
      await boss.fail(name, { id, retryCount }, output, { db: ambientConnection(store) })
    })

  async function tell({ id, retryCount }: Claim, { status, output }: JobResult): Promise<void> {
    const claim = { id, retryCount }
    if (status === 'completed') await complete(claim)
    else if (status === 'deadletter') await giveUp(claim, output)
    else await boss.fail(name, claim, output)
  }

  return async (claim: Claim, result: JobResult): Promise<void> => {
    for (const milliseconds of PAUSES) {
      const isTold = await tell(claim, result).then(
        () => true,
        () => false,
      )
      if (isTold) return
      await pause(milliseconds, undefined, { ref: false })
    }
    await tell(claim, result)
  }
}

/** Works on the jobs of one name, so many at a time. */
export interface Worker {
  /** There may be work: it looks, unless its hands are full. */
  wake(): void
  /** Begins nothing any more, and gives back itself what it is handed from now on; returns what it is at. */
  leave(): ClaimedJob[]
  /** Takes no more jobs; settles when those at work are done, and the store knows. */
  stop(): Promise<void>
  /** Tells those at work that nobody waits for them any longer. */
  abort(): void
}

interface Work {
  readonly name: string
  readonly concurrency: number
  /** Runs one job once, and says what became of it. */
  run(claimed: ClaimedJob): Promise<JobResult>
  /** Told of what went wrong between the worker and the store. The work goes on. */
  complain(error: unknown): void
}

/**
 * A worker over pg-boss's own fetch and settle. One look takes as many jobs as there are hands free, and one statement
 * settles all that are done. pg-boss's `work` has a poller for each hand, and each of them looks at every NOTIFY: over the
 * embedded store that took longer than the jobs themselves (docs/performance.md).
 */
export function createWorker(boss: PgBoss, store: QueueStore, work: Work): Worker {
  const { name, complain } = work
  const busy = new Map<ClaimedJob, { readonly controller: AbortController; readonly ended: Promise<void> }>()
  const settle = createSettler(boss, store, name)
  let looking: Promise<void> = Promise.resolve()
  let isLooking = false
  let wanted = false
  let stopped = false
  let hasLeft = false
  let heartbeat: NodeJS.Timeout | undefined

  function wake(): void {
    wanted = true
    if (!isLooking && !stopped) looking = store.outside(look)
  }

  /** Looks until a look finds less than it could take: from then on somebody has to wake it. */
  async function look(): Promise<void> {
    isLooking = true
    try {
      // With no hand free, whoever is done next looks again.
      while (wanted && !stopped && busy.size < work.concurrency) {
        wanted = false
        const free = work.concurrency - busy.size
        const fetched = await boss.fetch<object>(name, { batchSize: free, includeMetadata: true })
        if (hasLeft) return await giveBack(store, fetched)
        for (const job of fetched) begin(job)
        wanted ||= fetched.length === free
      }
    } catch (error) {
      complain(error)
    } finally {
      isLooking = false
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
      if (wanted) wake()
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

  /** What is not this worker's any more is somebody else's: its work here is for nothing. */
  async function beat(): Promise<void> {
    const held = [...busy]
    const claims = held.map(([claimed]) => claimed)
    const ours = await keepAlive(store, name, claims)
    for (const [{ id }, { controller }] of held)
      if (!ours.has(id)) controller.abort(new Error('another process has taken the job over'))
  }

  return {
    wake,
    leave() {
      hasLeft = true
      return [...busy.keys()]
    },
    async stop() {
      stopped = true
      // A look that is under way may still bring jobs: they are ours, so they are done.
      await looking
      await Promise.all([...busy.values()].map(({ ended }) => ended))
    },
    abort() {
      for (const { controller } of busy.values()) controller.abort(new Error('the service stops'))
    },
  }
}

/** What became of a job; when its time is up it has failed, whatever it goes on with. */
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
