/**
 * Durable work on pg-boss. `queue/` is all code that touches pg-boss; the other rooms define the jobs of their capability,
 * which only parse their payload and call the core.
 */
import type { Outbox, Provisioning } from '../core/index.ts'
import { runBatchJob } from './batches/index.ts'
import { realignApprovalsJob, tendApprovalJob } from './decisions/index.ts'
import {
  catchUpJob,
  digestJob,
  notifyAdminsJob,
  notifyJob,
  refreshCardsJob,
  tellAdminsJob,
  tellJob,
} from './notifications/index.ts'
import { erasePersonJob } from './privacy/index.ts'
import { followUpJob, provisionJob, watchdogJob } from './provisioning/index.ts'
import { jobRegistry } from './queue/index.ts'
import { deliverWebhookJob, type WebhookDeliveryScope } from './webhooks/index.ts'

export { startDigest, startHealthWatch } from './notifications/index.ts'
export { startHeartbeat } from './operations/heartbeat.ts'
export { startWatchdog } from './provisioning/index.ts'
export { adoptJobs, createQueue, prepareQueues, type Queue } from './queue/index.ts'
export { createSendWebhook, createWebhookPoster, resolveHost } from './webhooks/index.ts'

/** What the jobs work with. */
interface Parts extends WebhookDeliveryScope {
  readonly provisioning: Provisioning
  readonly outbox: Outbox
}

/** Every job, by its name. */
export const jobsOf = ({ provisioning, outbox, ...delivery }: Parts) =>
  jobRegistry(
    provisionJob(provisioning),
    followUpJob(provisioning),
    notifyJob(provisioning, outbox),
    notifyAdminsJob(provisioning),
    tellJob(provisioning, outbox),
    tellAdminsJob(provisioning),
    catchUpJob(provisioning),
    refreshCardsJob(provisioning, outbox),
    tendApprovalJob(provisioning),
    realignApprovalsJob(provisioning),
    runBatchJob(provisioning),
    watchdogJob(provisioning),
    erasePersonJob(provisioning),
    digestJob(provisioning),
    deliverWebhookJob(delivery),
  )
