/**
 * Durable work on pg-boss: every job with its retries and its handler, which only calls the core. `queue/` contains all
 * code that uses pg-boss; `webhooks/` delivers webhooks; `operations/` reports that this process runs.
 */
import { type Core, type HealthWatcher, jobPayloads, type Outbox } from '../core/index.ts'
import {
  defineJob,
  failureOf,
  interruption,
  type Job,
  type JobFailure,
  jobRegistry,
  retryInterrupted,
} from './queue/define-job.ts'
import type { Turns } from './queue/queue.ts'
import { deliverWebhookJob, sendWaitingJob, type WebhookDeliveryScope } from './webhooks/deliver.ts'

export { startHeartbeat } from './operations/heartbeat.ts'
export { createQueue, prepareQueues, type Queue, startTurns } from './queue/queue.ts'
export { adoptJobs } from './queue/tables.ts'
export { createSendWebhook, createWebhookPoster, resolveHost } from './webhooks/post.ts'

/** The dependencies of the jobs. */
export interface JobParts extends WebhookDeliveryScope {
  readonly core: Core
  readonly outbox: Outbox
  readonly healthWatcher: HealthWatcher
  /** Deletes old data, until its signal aborts. */
  readonly cleanUp: (stopping: AbortSignal) => Promise<void>
}

/** The schedules of periodic jobs, in milliseconds. A setting defines the interval of `health-watch`. */
export const turns = {
  watchdog: { name: 'watchdog', length: 60_000, firstAfter: 0 },
  // Some time zones differ by 15, 30 or 45 minutes. The frequent orders also reach a process that starts during a turn.
  digest: { name: 'digest', length: 15 * 60_000, orderEvery: 60_000, firstAfter: 0 },
  // The first turn is delayed, so that it does not slow down a restart.
  housekeeping: { name: 'housekeeping', length: 3_600_000, firstAfter: 60_000 },
} as const satisfies Record<string, Turns>

/** Every job, by its name. */
export const jobsOf = ({ core, outbox, healthWatcher, cleanUp, ...delivery }: JobParts): ReadonlyMap<string, Job> =>
  jobRegistry(
    ...requestJobs(core),
    ...cardJobs(core, outbox),
    ...watchJobs(core, healthWatcher),
    ...dataJobs(core, cleanUp),
    deliverWebhookJob(delivery),
    sendWaitingJob(delivery),
  )

/** Whether a job was given up because its process was killed in each attempt. */
const whyOf = ({ name }: JobFailure) => (name === interruption.name ? 'interrupted' : 'unexpected')

const requestJobs = (core: Core): Job[] => [
  // Creates the resource of a queued request. Safe to run twice: each step checks before it creates.
  defineJob({
    name: 'provision',
    payload: jobPayloads.provision,
    retries: 8,
    retryDelaySeconds: 2,
    expireInSeconds: 180,
    concurrency: 8,
    handle: ({ requestId }, run) => core.system.provision(requestId, run),
    // Its request fails and has its own retry.
    retriesInterrupted: false,
    onDeadLetter: ({ requestId }, failure) => core.system.giveUp(requestId, whyOf(failure)),
  }),
  // Retries a request or another job once whose process was killed in each attempt.
  defineJob({
    name: retryInterrupted,
    payload: jobPayloads['retry-interrupted'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    retriesInterrupted: false,
    handle: (about) =>
      'letterId' in about
        ? core.system.replayInterrupted(about.letterId)
        : core.system.retryInterrupted(about.requestId),
  }),
  // Polls once whether the resource is visible. Each poll orders the next one until it is.
  defineJob({
    name: 'follow-up',
    payload: jobPayloads['follow-up'],
    retries: 3,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 8,
    async handle({ requestId, look }, { lastAttempt, log }) {
      const refusal = await core.system.pollDirectory(requestId, look, lastAttempt)
      if (refusal) log.warn({ requestId, error: failureOf(refusal).message }, 'the directory refused a poll')
    },
  }),
  // Submits rows of a batch until it has to wait, and orders the next turn.
  defineJob({
    name: 'run-batch',
    payload: jobPayloads['run-batch'],
    retries: 8,
    retryDelaySeconds: 5,
    expireInSeconds: 180,
    concurrency: 3,
    handle: (order, { lastAttempt, signal, log }) =>
      core.system.runBatch(order, {
        lastAttempt,
        signal,
        report: (row, error) =>
          log.error(
            { batchId: order.batchId, row, error: failureOf(error).message },
            'a row of a batch could not be submitted',
          ),
      }),
    onDeadLetter: ({ batchId }, failure) => core.system.giveUpBatch(batchId, whyOf(failure)),
  }),
  // Decides the requests of a joint decision that its click did not decide.
  defineJob({
    name: 'decide-jointly',
    payload: jobPayloads['decide-jointly'],
    // The directory finds the approvers, and it may be unavailable for a while.
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 300,
    concurrency: 2,
    handle: ({ decisionId }, { signal }) => core.system.runJointDecision(decisionId, signal),
    onDeadLetter: ({ decisionId }) => core.system.giveUpJointDecision(decisionId),
  }),
  // Runs the timers of an open stage. Each run orders the next one until the stage is over.
  defineJob({
    name: 'tend-approval',
    payload: jobPayloads['tend-approval'],
    // The directory finds the delegates, and it may be unavailable for a while.
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    concurrency: 4,
    handle: (order) => core.system.runApprovalTimers(order),
  }),
  // Adapts open stages when a delegation begins or ends.
  defineJob({
    name: 'realign-approvals',
    payload: jobPayloads['realign-approvals'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 120,
    handle: ({ tenantId, personId }) => core.system.realignApprovals({ tenantId, personId }),
  }),
]

const cardJobs = (core: Core, outbox: Outbox): Job[] => [
  // Sends one card about a request to one person, once.
  defineJob({
    name: 'notify',
    payload: jobPayloads.notify,
    // If half of all calls to a chat fail, one card in 100,000 fails all of these attempts.
    retries: 16,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 4,
    handle: (order, { attempt, id }) => core.system.deliverCard(outbox, order, attempt, id),
  }),
  // Sends one notice to one person, once.
  defineJob({
    name: 'tell',
    payload: jobPayloads.tell,
    retries: 10,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 4,
    handle: ({ v: _, ...order }, { attempt, id }) => core.system.deliverCard(outbox, order, attempt, id),
    onDeadLetter: ({ v: _, ...order }) => core.system.giveUpBundle(order),
  }),
  // Orders a `notify` for each admin.
  defineJob({
    name: 'notify-admins',
    payload: jobPayloads['notify-admins'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    handle: ({ requestId, card }) => core.system.notifyAdmins({ requestId, card }),
  }),
  // Orders a `tell` for each admin.
  defineJob({
    name: 'tell-admins',
    payload: jobPayloads['tell-admins'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    handle: ({ notice }) => core.system.notifyAdmins({ notice }),
  }),
  // Sends the cards that a person missed before their chat was known.
  defineJob({
    name: 'catch-up',
    payload: jobPayloads['catch-up'],
    retries: 10,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    handle: ({ tenantId, personId }) => core.system.catchUp({ tenantId, id: personId }),
  }),
  // Updates the sent cards of a request.
  defineJob({
    name: 'refresh-cards',
    payload: jobPayloads['refresh-cards'],
    retries: 16,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 4,
    handle: (order) => core.system.refreshCards(outbox, order),
  }),
  // Sends and updates the cards of a batch.
  defineJob({
    name: 'refresh-batch',
    payload: jobPayloads['refresh-batch'],
    retries: 16,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 2,
    handle: (order) => core.system.refreshBatch(outbox, order),
  }),
]

/**
 * Jobs that run every few seconds or minutes. The next turn replaces a failed turn, so a failure leaves no dead letter.
 */
const watchJobs = (core: Core, healthWatcher: HealthWatcher): Job[] => [
  // Repairs requests that are stuck.
  defineJob({
    name: 'watchdog',
    payload: jobPayloads.watchdog,
    retries: 1,
    retryDelaySeconds: 5,
    expireInSeconds: 50,
    hasDeadLetters: false,
    async handle(_, { log, requestsOf }) {
      const [inProvisioning, withTimers] = [await requestsOf('provision'), await requestsOf('tend-approval')]
      for (const { requestId, error } of await core.system.watch(inProvisioning, withTimers))
        log.error({ requestId, error: failureOf(error).message }, 'a stuck request could not be repaired')
    },
  }),
  // Orders the digests that are due.
  defineJob({
    name: 'digest',
    payload: jobPayloads.digest,
    retries: 3,
    retryDelaySeconds: 20,
    expireInSeconds: 120,
    hasDeadLetters: false,
    handle: () => core.system.orderDigests(),
  }),
  // Checks the health of the service and notifies admins when it changes.
  defineJob({
    name: 'health-watch',
    payload: jobPayloads['health-watch'],
    retries: 0,
    retryDelaySeconds: 1,
    expireInSeconds: 60,
    hasDeadLetters: false,
    // This job runs 180 times an hour, and nobody reads its completed runs.
    keptSeconds: 3600,
    handle: () => healthWatcher.check(),
  }),
]

/** Jobs that delete data. */
const dataJobs = (core: Core, cleanUp: JobParts['cleanUp']): Job[] => [
  // Removes a person from the store.
  defineJob({
    name: 'erase-person',
    payload: jobPayloads['erase-person'],
    retries: 10,
    retryDelaySeconds: 5,
    // Many requests may name the person.
    expireInSeconds: 1800,
    handle: (order) => core.system.erasePerson(order),
  }),
  // Deletes old data. The next turn replaces a failed turn.
  defineJob({
    name: 'housekeeping',
    payload: jobPayloads.housekeeping,
    retries: 0,
    retryDelaySeconds: 1,
    expireInSeconds: 3000,
    hasDeadLetters: false,
    handle: (_, { signal }) => cleanUp(signal),
  }),
]
