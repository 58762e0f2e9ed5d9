import { jobPayloads, type Provisioning } from '../core/index.ts'
import { defineJob } from './define-job.ts'
import { failureOf } from './failure.ts'

/** How often requests past their deadlines are looked for, in milliseconds. */
export const WATCHDOG_TURN_MILLISECONDS = 60_000

/** Looks for requests that are stuck. The next turn makes up for a failed one, so it is given up soon and for good. */
export const watchdogJob = (provisioning: Provisioning) =>
  defineJob({
    name: 'watchdog',
    payload: jobPayloads.watchdog,
    retries: 1,
    retryDelaySeconds: 5,
    expireInSeconds: 50,
    hasDeadLetters: false,
    async handle(_, { log, requestsOf }) {
      const [underWay, lookedAfter] = [await requestsOf('provision'), await requestsOf('tend-approval')]
      for (const { requestId, error } of await provisioning.system.watch(underWay, lookedAfter))
        log.error({ requestId, error: failureOf(error).message }, 'a request that stands still could not be seen to')
    },
  })
