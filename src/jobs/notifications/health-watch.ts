import { type HealthWatcher, jobPayloads } from '../../core/index.ts'
import { defineJob } from '../queue/index.ts'

/** Checks the health of the service and notifies admins when it changes. The next turn replaces a failed one. */
export const healthWatchJob = (watcher: HealthWatcher) =>
  defineJob({
    name: 'health-watch',
    payload: jobPayloads['health-watch'],
    retries: 0,
    retryDelaySeconds: 1,
    expireInSeconds: 60,
    hasDeadLetters: false,
    // There are 180 turns an hour, and nobody reads those that are done.
    keptSeconds: 3600,
    handle: () => watcher.check(),
  })
