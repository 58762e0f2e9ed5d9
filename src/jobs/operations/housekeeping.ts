import { jobPayloads } from '../../core/index.ts'
import { defineJob } from '../queue/index.ts'

/** When the first turn is ordered after the start: a minute later, in milliseconds, so that a restart is not disturbed. */
export const FIRST_HOUSEKEEPING_MILLISECONDS = 60_000
export const HOUSEKEEPING_TURN_MILLISECONDS = 3_600_000

/** Deletes old data. `clean` stops early when its signal aborts. The next turn replaces a failed one. */
export const housekeepingJob = (clean: (stopping: AbortSignal) => Promise<void>) =>
  defineJob({
    name: 'housekeeping',
    payload: jobPayloads.housekeeping,
    retries: 0,
    retryDelaySeconds: 1,
    expireInSeconds: 3000,
    hasDeadLetters: false,
    handle: (_, { signal }) => clean(signal),
  })
