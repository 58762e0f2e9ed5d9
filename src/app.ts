import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { connectorKeysUrl, createBot, createChannel } from './bot/index.ts'
import { warmUp } from './cards/index.ts'
import { type Environment, limitsOf, secretsOf } from './config.ts'
import {
  createProvisioning,
  type Jobs,
  type Ports,
  type Provisioning,
  type Settings,
  seedTemplates,
  templateWithin,
} from './core/index.ts'
import { createHttpServer, createLimitsOfUse, createOwnBuckets, createSigningKeys } from './http/index.ts'
import { jobRegistry } from './jobs/define-job.ts'
import { deliverWebhookJob } from './jobs/deliver-webhook.ts'
import { followUpJob } from './jobs/follow-up.ts'
import { catchUpJob, notifyAdminsJob, notifyJob, refreshCardsJob } from './jobs/notify.ts'
import { createWebhookPoster } from './jobs/post-webhook.ts'
import { provisionJob } from './jobs/provision.ts'
import { createQueue, type Queue } from './jobs/queue.ts'
import { resolveHost } from './jobs/resolve-host.ts'
import { runBatchJob } from './jobs/run-batch.ts'
import { realignApprovalsJob, tendApprovalJob } from './jobs/tend-approval.ts'
import { startWatchdog, watchdogJob } from './jobs/watchdog.ts'
import { createLog, type Logger } from './log.ts'
import { certificateFromPem, connectMicrosoft365, localCertificate } from './microsoft365/index.ts'
import {
  auditKeyOf,
  chainExisting,
  createStores,
  type Database,
  migrate,
  openDatabase,
  ownSetting,
  type Stores,
  startHousekeeping,
} from './store/index.ts'
import { findSurroundings, readJsonFile, type Surroundings, settingsOf } from './surroundings.ts'
import { readiness, vitalsOf } from './vitals.ts'

/** The running service. */
export interface App {
  readonly url: string
  readonly surroundings: Surroundings
  readonly provisioning: Provisioning
  readonly database: Database
  readonly queue: Queue
  /** Stops listening, lets work end (10 s at most), closes the store. */
  close(): Promise<void>
}

/** How long requests and jobs together may take to end when the service stops, in seconds. */
const STOP_SECONDS = 6

/** What tests put in the place of what is Microsoft's, where no setting may lead elsewhere. */
export interface Substitutes {
  /** Where the Bot connector's keys are. */
  readonly connectorKeysUrl?: string
  /** How fast chats may be written to, where the connector has no limits. */
  readonly chatPace?: Stores['chatPace']
}

/** The composition root: opens what the environment names, wires all rooms, and listens. Tests call it too. */
export async function createApp(config: Environment, substitutes: Substitutes = {}): Promise<App> {
  const surroundings = await findSurroundings(config)
  const log = createLog(config.LOG_LEVEL ?? (surroundings.local ? 'warn' : 'info'), secretsOf(config))
  const database = await openDatabase({
    dataDir: surroundings.dataDir,
    ...(config.DATABASE_URL !== undefined && { databaseUrl: config.DATABASE_URL }),
    log: (message) => log.info(message),
  })
  const auditKey = await openAudit(database, config, surroundings, log)
  const queue = await createQueue(database, log)
  const stores = {
    ...createStores(database, auditKey),
    ...(substitutes.chatPace && { chatPace: substitutes.chatPace }),
  }
  const outgoing: typeof fetch = (input, init) => {
    database.assertOutside('an outgoing call')
    return fetch(input, init)
  }
  const { tenant, directory } = await connectTenant(config, surroundings, database, outgoing, log)
  const clock = { now: () => new Date() }
  const jobs: Jobs = { enqueue: queue.enqueueAll }
  const vitals = await vitalsOf(database, queue, clock.now())
  const { deadLetters } = queue
  // Callers and batches draw from the same buckets: one process has its own, several have the store's.
  const tokenBuckets = stores.tokenBuckets ?? createOwnBuckets(Date.now)
  const limitsOfUse = createLimitsOfUse(limitsOf(config), tokenBuckets)
  const ports: Ports = {
    ...{ ...stores, clock, work: database, jobs, deadLetters, directory, tenant, vitals, resolveHost, limitsOfUse },
  }
  const settings = settingsOf(config, surroundings)
  const provisioning = createProvisioning(ports, settings)
  const credentials = credentialsOf(config, surroundings)
  const { adapter, outbox } = createChannel({
    credentials,
    assertOutside: database.assertOutside,
    chatPace: stores.chatPace,
    now: clock.now,
    siteRoot: tenant.siteRoot,
    outlookRoot: tenant.outlookRoot,
    log,
  })
  const bot = createBot(
    {
      services: { ...stores, provisioning, now: clock.now, log },
      state: stores.botState,
      credentials,
      tenantId: settings.tenantId,
      keys: createSigningKeys({
        url: substitutes.connectorKeysUrl ?? connectorKeysUrl,
        fetch: outgoing,
        now: Date.now,
      }),
    },
    adapter,
  )
  const webhookSecret = config.WEBHOOK_SECRET ?? (await ownSetting(database, 'webhook-secret', newSecret))
  const http = await createHttpServer({
    port: surroundings.port,
    host: surroundings.host,
    baseUrl: surroundings.baseUrl,
    provisioning,
    tokens: tokensOf(surroundings),
    idempotency: stores.idempotency,
    webhookSecret,
    messages: bot.messages,
    admitsActivity: bot.admit,
    health: { ready: () => readiness(database, queue) },
    limits: limitsOf(config),
    loopbackOnly: credentials === undefined,
    trustedProxies: config.TRUSTED_PROXIES,
    tokenBuckets,
    log,
    starting: true,
  })
  await seed(ports, settings, surroundings)
  warmUp()
  await queue.start(
    jobRegistry(
      provisionJob(provisioning),
      followUpJob(provisioning),
      notifyJob(provisioning, outbox),
      notifyAdminsJob(provisioning),
      catchUpJob(provisioning),
      refreshCardsJob(provisioning, outbox),
      tendApprovalJob(provisioning),
      realignApprovalsJob(provisioning),
      runBatchJob(provisioning),
      watchdogJob(provisioning),
      deliverWebhookJob({
        ...{ ...stores, clock, work: database, jobs, ownSecret: webhookSecret, log },
        post: createWebhookPoster({
          ...{ resolveHost, assertOutside: database.assertOutside, allowCidrs: settings.webhookAllowCidrs },
        }),
      }),
    ),
  )
  const stopWatchdog = startWatchdog(queue, log, clock.now)
  http.open()
  const stopHousekeeping = startHousekeeping({ database, stores, now: clock.now, warn: log.warn.bind(log) })
  return {
    url: http.url,
    surroundings,
    provisioning,
    database,
    queue,
    async close() {
      stopHousekeeping()
      stopWatchdog()
      const began = performance.now()
      await http.drain()
      // Jobs get what the requests have left of their time; those that take longer are given back.
      await queue.stop(Math.max(1, STOP_SECONDS - (performance.now() - began) / 1000))
      await http.close()
      // A connection that hangs is not waited for: what was not committed by now never is.
      await Promise.race([database.close(), setTimeout(1000, undefined, { ref: false })])
      await surroundings.simulator?.close()
    },
  }
}

/** The key of the audit's seals, over a store that is as this version expects it. */
async function openAudit(database: Database, config: Environment, { dataDir }: Surroundings, log: Logger) {
  const { key, isNew } = auditKeyOf(dataDir, config.AUDIT_SECRET)
  const ran = await migrate(database, undefined, { 7: () => chainExisting(database, key) })
  if (isNew && !ran.includes(7))
    log.warn({}, 'a key for the audit was made: what was sealed with another is not proved')
  return key
}

async function connectTenant(
  config: Environment,
  surroundings: Surroundings,
  database: Database,
  outgoing: typeof fetch,
  log: Logger,
) {
  const certificate = config.CLIENT_CERTIFICATE_PATH
    ? certificateFromPem(await readFile(config.CLIENT_CERTIFICATE_PATH, 'utf8'))
    : z
        .object({ privateKey: z.string(), thumbprintSha256: z.string() })
        .parse(JSON.parse(await ownSetting(database, 'local-certificate', () => JSON.stringify(localCertificate()))))
  const warn = (message: string, fields: object) => log.warn(fields, message)
  return connectMicrosoft365({ ...surroundings, certificate, fetch: outgoing, warn })
}

/** None in local mode without an app id: then the bot listens on loopback only, and takes no tokens. */
function credentialsOf(config: Environment, { tenantId }: Surroundings) {
  const appId = config.MICROSOFT_APP_ID
  if (appId === undefined) return undefined
  return {
    appId,
    password: config.MICROSOFT_APP_PASSWORD,
    tenantId: config.MICROSOFT_APP_TENANT_ID ?? tenantId,
    type: config.MICROSOFT_APP_TYPE,
  }
}

function tokensOf({ loginUrl, tenantId, collabAudiences, mailAudiences, mailAppClients }: Surroundings) {
  const authority = `${loginUrl}/${tenantId}`
  return {
    authority,
    ...{ tenantId, issuers: [`${authority}/v2.0`, `https://sts.windows.net/${tenantId}/`] },
    jwksUrl: `${authority}/discovery/v2.0/keys`,
    ...{ collabAudiences: [...collabAudiences], mailAudiences: [...mailAudiences] },
    mailAppClients: [...mailAppClients],
  }
}

/** Stores the templates of the file that the store does not have yet. A fault in the file is told by its place. */
async function seed(ports: Ports, settings: Settings, { templatesFile, tenantId }: Surroundings): Promise<void> {
  if (templatesFile === undefined) return
  const parsed = z.array(templateWithin(settings.webhookAllowCidrs)).safeParse(await readJsonFile(templatesFile))
  if (!parsed.success)
    throw new Error(`TEMPLATES_FILE ${templatesFile} is not right:\n${z.prettifyError(parsed.error)}`)
  await seedTemplates(ports, tenantId, parsed.data)
}

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
