import { hostname } from 'node:os'
import type { ProcessStore, ServiceProcess } from '../../core/index.ts'
import type { QueueLog } from '../queue/boss.ts'
import { failureOf } from '../queue/define-job.ts'

/** How often a process reports that it runs, and how soon it retries after a failure, in milliseconds. */
const BEAT_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 2000

/** The regular reports that this process runs. */
interface Heartbeat {
  /** When this process last wrote to its store. */
  readonly lastAt: Date
  /** Stops, and removes this process from the list, so that it does not count as dead. */
  stop(): Promise<void>
}

interface Options {
  readonly processes: ProcessStore
  readonly own: Pick<ServiceProcess, 'processId' | 'version' | 'startedAt'>
  /** Whether this process works on the queue now. */
  readonly works: () => boolean
  readonly now: () => Date
  readonly log: QueueLog
}

/** Reports that this process runs, now and every 10 seconds. Throws when the first report fails. */
export async function startHeartbeat({ processes, own, works, now, log }: Options): Promise<Heartbeat> {
  const name = `${hostname().split('.')[0]} / ${process.pid}`
  let lastAt = now()
  let hasFailed = false
  let hasStopped = false
  let timer: NodeJS.Timeout | undefined
  const beat = async (): Promise<void> => {
    const at = now()
    await processes.beat({ ...own, name, works: works() })
    lastAt = at
    hasFailed = false
  }
  const turn = () =>
    beat().then(
      () => beatAfter(BEAT_MILLISECONDS),
      (error: unknown) => {
        if (!hasFailed) log.warn({ error: failureOf(error).message }, 'this process could not report that it runs')
        hasFailed = true
        beatAfter(RETRY_MILLISECONDS)
      },
    )
  let running: Promise<void> = Promise.resolve()
  const beatAfter = (milliseconds: number): void => {
    if (hasStopped) return
    timer = setTimeout(() => {
      running = turn()
    }, milliseconds)
    timer.unref()
  }
  await beat()
  beatAfter(BEAT_MILLISECONDS)
  return {
    get lastAt() {
      return lastAt
    },
    async stop() {
      hasStopped = true
      clearTimeout(timer)
      await running
      await processes.leave(own.processId)
    },
  }
}
