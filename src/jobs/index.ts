/**
 * Durable work on pg-boss. `queue/` is all code that touches pg-boss; the other rooms define the jobs of their capability,
 * which only parse their payload and call the core.
 */
import type { Core, HealthWatcher, Outbox } from '../core/index.ts'
import { runBatchJob } from './batches/index.ts'
import { realignApprovalsJob, tendApprovalJob } from './decisions/index.ts'
import {
  catchUpJob,
  digestJob,
  healthWatchJob,
  notifyAdminsJob,
  notifyJob,
  refreshCardsJob,
  tellAdminsJob,
  tellJob,
} from './notifications/index.ts'
import { housekeepingJob } from './operations/housekeeping.ts'
import { erasePersonJob } from './privacy/index.ts'
import { followUpJob, provisionJob, watchdogJob } from './provisioning/index.ts'
import { jobRegistry } from './queue/index.ts'
import { deliverWebhookJob, type WebhookDeliveryScope } from './webhooks/index.ts'

export { DIGEST_ORDER_MILLISECONDS, DIGEST_TURN_MILLISECONDS } from './notifications/index.ts'
export { startHeartbeat } from './operations/heartbeat.ts'
export { FIRST_HOUSEKEEPING_MILLISECONDS, HOUSEKEEPING_TURN_MILLISECONDS } from './operations/housekeeping.ts'
export { WATCHDOG_TURN_MILLISECONDS } from './provisioning/index.ts'
export { adoptJobs, createQueue, prepareQueues, type Queue, startTurns } from './queue/index.ts'
export { createSendWebhook, createWebhookPoster, resolveHost } from './webhooks/index.ts'

/** What the jobs work with. */
interface Parts extends WebhookDeliveryScope {
  readonly core: Core
  readonly outbox: Outbox
  readonly healthWatcher: HealthWatcher
  /** Deletes old data, until its signal aborts. */
  readonly cleanUp: (stopping: AbortSignal) => Promise<void>
}

/** Every job, by its name. */
export const jobsOf = ({ core, outbox, healthWatcher, cleanUp, ...delivery }: Parts) =>
  jobRegistry(
    provisionJob(core),
    followUpJob(core),
    notifyJob(core, outbox),
    notifyAdminsJob(core),
    tellJob(core, outbox),
    tellAdminsJob(core),
    catchUpJob(core),
    refreshCardsJob(core, outbox),
    tendApprovalJob(core),
    realignApprovalsJob(core),
    runBatchJob(core),
    watchdogJob(core),
    erasePersonJob(core),
    digestJob(core),
    healthWatchJob(healthWatcher),
    housekeepingJob(cleanUp),
    deliverWebhookJob(delivery),
  )
