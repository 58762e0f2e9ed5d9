import type { HealthWatcher, WatchTimes } from '../../core/index.ts'
import { failureOf, type QueueLog, type Repeated, repeat } from '../queue/index.ts'

/** Has the service looked after in this process, until it is ended; then another process may look. */
export function startHealthWatch(watcher: HealthWatcher, times: WatchTimes, log: QueueLog): Repeated {
  const repeated = repeat(async () => ((await watcher.look()) === 'away' ? times.againEvery : times.lookEvery) * 1000, {
    first: times.lookEvery * 1000,
    afterFailure: times.lookEvery * 1000,
    complain: (error) => log.error({ error: failureOf(error).message }, 'how the service does could not be looked at'),
  })
  return {
    async stop() {
      await repeated.stop()
      await watcher.leave()
    },
  }
}
