import type { Clock, Jobs, Outbox, Provisioning, Telemetry } from '../core/index.ts'
import { runBatchJob } from '../jobs/batches/index.ts'
import { realignApprovalsJob, tendApprovalJob } from '../jobs/decisions/index.ts'
import {
  catchUpJob,
  digestJob,
  notifyAdminsJob,
  notifyJob,
  refreshCardsJob,
  tellAdminsJob,
  tellJob,
} from '../jobs/notifications/index.ts'
import { erasePersonJob } from '../jobs/privacy/index.ts'
import { followUpJob, provisionJob, watchdogJob } from '../jobs/provisioning/index.ts'
import { jobRegistry } from '../jobs/queue/index.ts'
import { deliverWebhookJob, type PostWebhook } from '../jobs/webhooks/index.ts'
import type { Database, Stores } from '../store/index.ts'
import type { Logger } from './log.ts'

/** What the jobs work with. */
interface Parts {
  readonly provisioning: Provisioning
  readonly outbox: Outbox
  readonly stores: Stores
  readonly clock: Clock
  readonly jobs: Jobs
  readonly database: Database
  readonly telemetry: Telemetry
  readonly log: Logger
  /** What the bot's own subscription is signed with. */
  readonly webhookSecret: string
  /** How webhooks go out. */
  readonly post: PostWebhook
}

/** Every job that there is. */
export const jobsOf = ({
  provisioning,
  outbox,
  stores,
  clock,
  jobs,
  database,
  telemetry,
  log,
  webhookSecret,
  post,
}: Parts) =>
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
    deliverWebhookJob({
      ...{ ...stores, clock, work: database, jobs, ownSecret: webhookSecret, telemetry, log, post },
    }),
  )
