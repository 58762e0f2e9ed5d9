import type { Clock, HealthWatcher, Jobs, Outbox, Provisioning, Telemetry } from './core/index.ts'
import { jobRegistry } from './jobs/define-job.ts'
import { deliverWebhookJob } from './jobs/deliver-webhook.ts'
import { digestJob } from './jobs/digest.ts'
import { erasePersonJob } from './jobs/erase-person.ts'
import { followUpJob } from './jobs/follow-up.ts'
import { healthWatchJob } from './jobs/health-watch.ts'
import { housekeepingJob } from './jobs/housekeeping.ts'
import { catchUpJob, notifyAdminsJob, notifyJob, refreshCardsJob, tellAdminsJob, tellJob } from './jobs/notify.ts'
import type { PostWebhook } from './jobs/post-webhook.ts'
import { provisionJob } from './jobs/provision.ts'
import { runBatchJob } from './jobs/run-batch.ts'
import { realignApprovalsJob, tendApprovalJob } from './jobs/tend-approval.ts'
import { watchdogJob } from './jobs/watchdog.ts'
import type { Logger } from './log.ts'
import { cleanUp, type Database, type Stores } from './store/index.ts'

/** What the jobs work with. */
interface Parts {
  readonly provisioning: Provisioning
  readonly outbox: Outbox
  readonly healthWatcher: HealthWatcher
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
  healthWatcher,
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
    healthWatchJob(healthWatcher),
    housekeepingJob((stopping) =>
      cleanUp(
        {
          ...{ database, stores, now: clock.now },
          reduce: provisioning.system.reduceOld,
          noteAddresses: provisioning.system.noteAddresses,
        },
        stopping,
      ),
    ),
    deliverWebhookJob({
      ...{ ...stores, clock, work: database, jobs, ownSecret: webhookSecret, telemetry, log, post },
    }),
  )
