/** The composition root: wires all layers. Only `main.ts` and tests call it. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import './sentences.ts'
import { createBot, createChannel } from '../bot/index.ts'
import { apiTexts, warmUp } from '../cards/index.ts'
import {
  type Core,
  createCheckResults,
  createCore,
  createHealthWatcher,
  type Jobs,
  openStates,
  type Ports,
  seedTemplates,
  type WatchTimes,
  watchTimes,
} from '../core/index.ts'
import { createHttpServer, createOwnBuckets, createRateLimits, createSigningKeys } from '../http/index.ts'
import {
  createQueue,
  createSendWebhook,
  createWebhookPoster,
  jobsOf,
  type Queue,
  resolveHost,
  startHeartbeat,
  startTurns,
  turns,
} from '../jobs/index.ts'
import {
  cleanUp,
  compareAuditKey,
  createStores,
  type Database,
  databaseFacts,
  openDatabase,
  ownSetting,
  type Stores,
} from '../store/index.ts'
import { clouds } from './addresses.ts'
import { limitsOf } from './config.ts'
import {
  connectTenant,
  countedIn,
  credentialsOf,
  measuredBy,
  newSecret,
  openAudit,
  reportAccess,
  tokensOf,
} from './connections.ts'
import { type Endpoints, findEndpoints, settingsOf } from './endpoints.ts'
import { createInstallation, serviceIdOf } from './installation.ts'
import { createLog } from './log.ts'
import { createMetrics, createReadings } from './metrics.ts'
import { noTemplates, ownHealthOf, ownVersion, readiness, templatesIn } from './readiness.ts'
import { type Environment, secretsOf } from './settings.ts'
import { templatesInFile } from './templates-file.ts'

/** The running service. */
export interface App {
  readonly url: string
  readonly endpoints: Endpoints
  readonly core: Core
  readonly database: Database
  readonly queue: Queue
  /** Stops listening, lets work end (10 s at most), closes the store. */
  close(): Promise<void>
}

/** How long requests and jobs together may take to end when the service stops, in seconds. */
const STOP_SECONDS = 6

/**
 * When the service renders its first card and checks its permissions, in milliseconds after it is ready. The callers who
 * waited for the service come first, because this loads the template engine and MSAL.
 */
const afterStartMilliseconds = 250

/** Replacements for tests, where no setting may replace the real part. */
export interface Substitutes {
  /** An open store, which closes with the service. */
  readonly database?: Database
  /** The address of the Bot connector's keys. */
  readonly connectorKeysUrl?: string
  /** The Bot connector's address for chats in which the person has not written yet. */
  readonly connectorUrl?: string
  /** The pace of messages to chats, if the connector has no limits. */
  readonly chatPace?: Stores['chatPace']
  /** After how many minutes an approver without a chat counts as unreachable. */
  readonly reachMinutes?: number
  /** How many calls without a valid token one address may make in a minute; 0 means any number. */
  readonly refusalsPerMinute?: number
  /** When admins are notified about the health of the service. */
  readonly watchTimes?: WatchTimes
  /** Whether missing permissions are logged at start-up, by one call to each service. Default true. */
  readonly reportsAccess?: boolean
  /** The current time, for everything except the queue: jobs are due by the time of the store. */
  readonly clock?: Ports['clock']
  /** Receives the lines of the log. */
  readonly writeLog?: (line: string) => void
}

/** The composition root: opens what the environment names, wires all rooms, and listens. Tests call it too. */
export async function createApp(config: Environment, substitutes: Substitutes = {}): Promise<App> {
  const level = config.LOG_LEVEL ?? (config.MODE === 'local' ? 'warn' : 'info')
  const log = createLog(level, secretsOf(config), substitutes.writeLog)
  const endpoints = await findEndpoints(config, (message) => log.warn({}, message))
  const database =
    substitutes.database ??
    (await openDatabase({
      dataDir: endpoints.dataDir,
      ...(config.DATABASE_URL !== undefined && { databaseUrl: config.DATABASE_URL }),
      connections: config.DATABASE_CONNECTIONS,
      log: (message) => log.info(message),
    }))
  const auditKey = await openAudit(database, config, endpoints, log)
  const version = await ownVersion()
  const metrics = createMetrics(version)
  const { telemetry } = metrics
  const queue = await createQueue(database, log, telemetry)
  const stores = {
    ...createStores(database, auditKey),
    ...(substitutes.chatPace && { chatPace: substitutes.chatPace }),
  }
  const outgoing: typeof fetch = (input, init) => {
    database.assertOutside('an outgoing call')
    return fetch(input, init)
  }
  const callLogs = [countedIn(stores.serviceCalls), measuredBy(telemetry)]
  const credentials = credentialsOf(config, endpoints)
  // Without credentials the chat is the Playground, which knows only chats that a person starts in it.
  const teamsAppId = credentials || substitutes.connectorUrl ? endpoints.teamsAppId : undefined
  const microsoft365 = await connectTenant(config, { ...endpoints, teamsAppId }, database, outgoing, { log, callLogs })
  const { tenant, directory, connection } = microsoft365
  const clock = substitutes.clock ?? { now: () => new Date() }
  const jobs: Jobs = { enqueue: queue.enqueueAll, dueAt: queue.dueAt }
  const own = { processId: randomUUID(), version, startedAt: clock.now() }
  let writtenAt = () => own.startedAt
  const ownHealth = ownHealthOf(database, queue, { ...own, now: clock.now, writtenAt: () => writtenAt() })
  const { deadLetters } = queue
  // Callers and batches draw from the same buckets. Several processes share the buckets of the store.
  const tokenBuckets = stores.tokenBuckets ?? createOwnBuckets(Date.now)
  const limits = limitsOf(config, substitutes.refusalsPerMinute)
  const rateLimits = createRateLimits(limits, tokenBuckets)
  const settings = settingsOf(config, endpoints, auditKey, substitutes.reachMinutes)
  const webhookSecret = config.WEBHOOK_SECRET ?? (await ownSetting(database, 'webhook-secret', newSecret))
  const { assertOutside } = database
  const poster = { resolveHost, assertOutside, allowCidrs: settings.webhookAllowCidrs, texts: apiTexts }
  const post = createWebhookPoster(poster)
  const installation = createInstallation({
    ...{ config, settings, microsoft365, fetch: outgoing },
    endpoints: { ...endpoints, teamsAppId },
    database: () => databaseFacts(database, config.DATABASE_URL),
    auditKey: () => compareAuditKey((sql) => database.query(sql), auditKey),
  })
  const ports: Ports = {
    ...stores,
    clock,
    work: database,
    jobs,
    deadLetters,
    directory,
    tenant,
    connection,
    ownHealth,
    resolveHost,
    rateLimits,
    telemetry,
    installation,
    checkResults: createCheckResults(),
    sendWebhook: createSendWebhook({
      ownSecret: webhookSecret,
      clock,
      // A person waits for the answer to a click, and Teams waits for less time than a delivery may take.
      post: createWebhookPoster({ ...poster, timeoutMilliseconds: 8000 }),
    }),
  }
  const core = createCore(ports, settings)
  const { connector } = clouds[config.CLOUD]
  const { adapter, outbox } = createChannel({
    credentials,
    connector,
    assertOutside: database.assertOutside,
    lastReference: () => stores.conversations.lastReference(settings.tenantId),
    connectorUrl: substitutes.connectorUrl ?? connector.serviceUrl,
    chatPace: stores.chatPace,
    now: clock.now,
    siteRoot: tenant.siteRoot,
    otherSiteOrigins: tenant.otherSiteOrigins ?? [],
    outlookRoot: tenant.outlookRoot,
    telemetry,
    log,
  })
  const bot = createBot(
    {
      services: { ...stores, core, now: clock.now, telemetry, log },
      state: stores.botState,
      credentials,
      tenantId: settings.tenantId,
      keys: createSigningKeys({
        url: substitutes.connectorKeysUrl ?? connector.keysUrl,
        fetch: outgoing,
        now: Date.now,
      }),
    },
    adapter,
  )
  const readings = createReadings({ requests: stores.requests, queue, tenantId: settings.tenantId, states: openStates })
  const hasTemplates = templatesIn(stores, settings.tenantId)
  const http = await createHttpServer({
    port: endpoints.port,
    host: endpoints.host,
    baseUrl: endpoints.baseUrl,
    core,
    texts: apiTexts,
    tokens: tokensOf(endpoints),
    docsClientId: endpoints.docsClientId,
    idempotency: stores.idempotency,
    webhookSecret,
    messages: bot.messages,
    admitsActivity: bot.admit,
    health: {
      serviceId: serviceIdOf(config, endpoints),
      ready: () => readiness(database, queue, hasTemplates),
    },
    metrics: {
      text: async () =>
        metrics.text(await readings(), microsoft365.underWay(), {
          certificate: connection.certificate().endsAt,
          botSecret: settings.botSecret?.endsAt,
        }),
      token: config.METRICS_TOKEN,
      isOpen: credentials === undefined,
    },
    ownPages: { privacy: config.PRIVACY_URL, terms: config.TERMS_URL },
    telemetry,
    limits,
    loopbackOnly: credentials === undefined,
    trustedProxies: config.TRUSTED_PROXIES,
    tokenBuckets,
    log,
    starting: true,
  })
  await seedTemplates(ports, endpoints.tenantId, templatesInFile(endpoints.templatesFile, endpoints.webhookAllowCidrs))
  if (!(await hasTemplates())) log.warn({}, noTemplates)
  const times = substitutes.watchTimes ?? watchTimes
  const healthWatcher = createHealthWatcher({ ports, settings }, own.processId, times)
  const stopping = new AbortController()
  const leftJobs = await queue.start(
    jobsOf({
      ...stores,
      core,
      outbox,
      healthWatcher,
      clock,
      work: database,
      jobs,
      telemetry,
      log,
      post,
      ownSecret: webhookSecret,
      cleanUp: (expired) =>
        cleanUp(
          {
            database,
            stores,
            now: clock.now,
            reduce: core.system.reduceOld,
            noteAddresses: core.system.noteAddresses,
            noteGoneResources: core.system.noteGoneResources,
          },
          AbortSignal.any([stopping.signal, expired]),
        ),
    }),
  )
  // The embedded store has only one process: the other processes in the list have ended, and left no job.
  if (database.engine === 'embedded' && leftJobs === 0) await stores.processes.forgetOthers(own.processId)
  const { processes } = stores
  const heartbeat = await startHeartbeat({ processes, own, works: queue.isWorking, now: clock.now, log })
  writtenAt = () => heartbeat.lastAt
  const stopTurns = [
    turns.watchdog,
    turns.housekeeping,
    { name: 'health-watch', length: times.checkEvery * 1000 } as const,
    ...(settings.digest ? [turns.digest] : []),
  ].map((of) => startTurns(queue, log, clock.now, of))
  const stopCounting = stores.serviceCalls.start()
  const stopWatchingCertificate = microsoft365.watchCertificate()
  http.open()
  const afterStart = setTimeout(() => {
    warmUp()
    // Not awaited: Microsoft 365 may be unavailable, and the service accepts requests meanwhile.
    if (substitutes.reportsAccess !== false)
      reportAccess(tenant, installation, log).catch((err: unknown) =>
        log.warn({ err }, 'could not check the permissions in Microsoft 365'),
      )
  }, afterStartMilliseconds)
  return {
    url: http.url,
    endpoints,
    core,
    database,
    queue,
    async close() {
      for (const stop of stopTurns) stop()
      clearTimeout(afterStart)
      stopping.abort()
      stopWatchingCertificate()
      const start = performance.now()
      await http.drain()
      // Jobs get the time that the requests have left. Jobs that take longer are released.
      // The last report of this process may fail or hang while the store is down.
      const leaving = heartbeat
        .stop()
        .catch((error: unknown) => log.warn({ err: error }, 'could not record the end of this process'))
      await queue.stop(Math.max(1, STOP_SECONDS - (performance.now() - start) / 1000))
      await Promise.race([leaving, pause(1000, undefined, { ref: false })])
      await http.close()
      await Promise.race([stopCounting(), pause(500, undefined, { ref: false })])
      // Does not wait for a connection that hangs: its transaction is not committed any more.
      await Promise.race([database.close(), pause(1000, undefined, { ref: false })])
      await endpoints.simulator?.close()
    },
  }
}
