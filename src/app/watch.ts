import { hostname } from 'node:os'
import {
  type ByHandNotes,
  createHealthWatcher,
  type Outbox,
  type Ports,
  type ServiceProcess,
  type Settings,
  type WatchTimes,
  watchTimes,
} from '../core/index.ts'
import { type Queue, startHealthWatch, startHeartbeat } from '../jobs/index.ts'
import type { Logger } from './log.ts'

interface Watched {
  readonly ports: Ports
  readonly settings: Settings
  readonly queue: Queue
  readonly byHand: Outbox
  readonly notes: ByHandNotes
  readonly log: Logger
  readonly own: Pick<ServiceProcess, 'processId' | 'version' | 'startedAt'>
  /** Whether no other process can be at work: who else is in the list has ended, and left nothing. */
  readonly alone: boolean
  readonly times: WatchTimes | undefined
}

/** Says that this process is there, and looks after the health of the service, until the end. */
export async function startWatch({
  ports,
  settings,
  queue,
  byHand,
  notes,
  log,
  own,
  alone,
  times = watchTimes,
}: Watched) {
  const name = `${hostname().split('.')[0]} / ${process.pid}`
  const { processes, clock } = ports
  if (alone) await processes.forgetOthers(own.processId)
  const beat = () => processes.beat({ ...own, name, works: queue.isWorking() })
  const heartbeat = await startHeartbeat(beat, log, clock.now)
  const watcher = createHealthWatcher(ports, settings, { holder: own.processId, byHand, notes, times })
  const watch = startHealthWatch(watcher, times, log)
  return {
    /** When this process last wrote into its store. */
    writtenAt: () => heartbeat.lastAt,
    /** Says goodbye: others look after the health at once, and nobody misses this process. */
    async stop(): Promise<void> {
      await Promise.all([heartbeat.stop(), watch.stop()])
      await processes.leave(own.processId)
    },
  }
}
