/** Jobs that create resources and look after them until they are there. */
import { type Core, jobPayloads } from '../../core/index.ts'
import { defineJob, failureOf } from '../queue/index.ts'

/** Makes what a queued request asks for. Safe to run twice: each step looks before it creates. */
export const provisionJob = (provisioning: Core) =>
  defineJob({
    name: 'provision',
    payload: jobPayloads.provision,
    retries: 8,
    retryDelaySeconds: 2,
    expireInSeconds: 180,
    concurrency: 8,
    handle: ({ requestId }, run) => provisioning.system.provision(requestId, run),
    onDeadLetter: ({ requestId }) => provisioning.system.giveUp(requestId),
  })

/** One look whether what a request asked for is there; each look orders the next until it is found. */
export const followUpJob = (provisioning: Core) =>
  defineJob({
    name: 'follow-up',
    payload: jobPayloads['follow-up'],
    retries: 3,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 8,
    handle: ({ requestId, look }) => provisioning.system.pollDirectory(requestId, look),
  })

/** How often requests past their deadlines are looked for, in milliseconds. */
export const WATCHDOG_TURN_MILLISECONDS = 60_000

/** Looks for requests that are stuck. The next turn makes up for a failed one, so it is given up soon and for good. */
export const watchdogJob = (provisioning: Core) =>
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
