import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../src/app/free-port.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { startConnector } from '../support/connector.ts'
import { emptyStore, newDatabaseUrl } from '../support/database.ts'
import { startProduct } from '../support/process.ts'
import { people } from '../support/teams-user.ts'
import { control } from '../support/tenant-control.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'
import { createClients } from './clients.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import { openHistory } from './history.ts'
import { noteTenant, watchOutside } from './observer.ts'
import {
  absence,
  participants,
  planRequests,
  type RunSettings,
  requestNumberIn,
  standIns,
  templatesFor,
} from './plan.ts'

/** Opens everything of a run: the service, and each external system as a separate part. */
export async function openLaboratory(settings: RunSettings, folder: string) {
  const history = openHistory(settings.historyFile ?? join(folder, 'history.jsonl'))
  const tenantDir = join(folder, 'tenant')
  mkdirSync(tenantDir, { recursive: true })
  const connector = await startConnector()
  const subscriber = await startSubscriber()
  const simulator = await startProduct('simulator/main.ts', {
    cwd: tenantDir,
    variables: { DATA_DIR: tenantDir, SIMULATOR_PORT: String(await freePort()), SIMULATOR_DIRECTORY_SECONDS: '0' },
    up: /^EXCHANGE_URL=/,
  })
  const tenantUrls = Object.fromEntries(simulator.printed.map((line) => line.split('=') as [string, string]))
  const simulatorUrl = tenantUrls['LOGIN_URL'] ?? ''
  const templatesFile = join(folder, 'templates.json')
  writeFileSync(templatesFile, JSON.stringify(templatesFor(subscriber.url)))
  const store = settings.store === 'server' ? { DATABASE_URL: await newDatabaseUrl() } : {}
  if (settings.store === 'embedded')
    cpSync(await emptyStore(), join(folder, 'service-0', 'postgres'), { recursive: true })
  const noLimits = ['WRITES_PER_MINUTE', 'READS_PER_MINUTE', 'TENANT_WRITES_PER_MINUTE'].map((name) => [
    `RATE_LIMIT_${name}`,
    '0',
  ])
  const cluster = await prepareCluster({ folder, size: settings.replicas, history }, (url) => ({
    ...{ ...tenantUrls, ...store, ...Object.fromEntries(noLimits), OPEN_REQUESTS_PER_PERSON: '0' },
    ...{ BASE_URL: url, TEMPLATES_FILE: templatesFile, PLAYGROUND: 'off' },
    ...{ FOLLOW_UP_FIRST_SECONDS: '3', FOLLOW_UP_EVERY_SECONDS: '3', FOLLOW_UP_STOP_SECONDS: '60' },
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
  }))
  const outside = watchOutside(history, connector, subscriber)
  const world = { url: cluster.url, simulatorUrl, connector, outside, history, seed: settings.seed }
  const random = mulberry32(settings.seed + 1)
  return {
    history,
    cluster,
    outside,
    connector,
    clients: createClients({ ...world, random }),
    /** From now on the tenant executes this share of creations and then drops the connection. */
    async resets(share: number): Promise<void> {
      for (const [index, operation] of creations.entries()) {
        const fault = { operation, kind: 'resetAfterCommit', share, seed: settings.seed + index }
        await control(simulatorUrl, 'POST', 'faults', fault)
      }
    },
    noteTenant: () => noteTenant(history, join(tenantDir, 'simulator.sqlite')),
    async close() {
      await cluster.close()
      await simulator.kill()
      await connector.close()
      await subscriber.close()
    },
  }
}
export type Laboratory = Awaited<ReturnType<typeof openLaboratory>>

const creations = ['graph.groups.upsert', 'sharepoint.site.create', 'exchange.new-mailbox']

/** Maximum time between a start and the next kill, in seconds; each time is random. */
const longestLife = 4
/** One in this many kills hits the service during its start. */
const startsKilled = 8
/** Maximum number of concurrent requests; the others wait until some have ended. Kills make each request slow. */
const maxAtOnce = { undisturbed: 64, killed: 200 }

/** Runs every planned request to its end, with kills in between, and then records the state of everything. */
export async function live(lab: Laboratory, settings: RunSettings): Promise<void> {
  const { cluster, clients, outside, history } = lab
  const random = mulberry32(settings.seed + 2)
  const plan = planRequests(settings)
  const replicas = Array.from({ length: cluster.size }, (_, replica) => replica)
  await Promise.all(replicas.map((replica) => cluster.start(replica)))
  await clients.meet([...participants, ...standIns])
  if (settings.resets > 0) await lab.resets(settings.resets)

  let [started, ended] = [0, 0]
  const refused = (n: number) => (error: unknown) =>
    history.note({ event: 'refused', n, why: error instanceof Error ? error.message : String(error) })
  // Some requests are submitted before the delegation, and must change when it starts.
  const under = [clients.delegate(absence.away, absence.delegate).catch(refused(0))]
  const drive = async (planned: (typeof plan)[number], wait: number) => {
    await setTimeout(wait)
    try {
      const requestId = await clients.submit(planned)
      await Promise.all(planned.deciders.map((person) => clients.decide(planned, requestId, person)))
      await clients.waitFor(planned, requestId)
    } catch (error) {
      refused(planned.n)(error)
    }
    ended += 1
  }
  const most = settings.kills > 0 ? maxAtOnce.killed : maxAtOnce.undisturbed
  /** Starts requests at random times within a period, up to the maximum of concurrent requests. */
  const begin = (until: number, within: number) => {
    for (; started < until && started - ended < most; started += 1) {
      const planned = plan[started]
      if (planned) under.push(drive(planned, random() * within))
    }
  }
  for (let kill = 0; kill < settings.kills; kill += 1) {
    const lives = random() * longestLife
    begin(Math.ceil(((kill + 1) * plan.length) / (settings.kills + 1)), lives * 1000)
    await setTimeout(lives * 1000)
    await killOne(cluster, Math.floor(random() * cluster.size), random)
    outside.observe()
  }
  while (started < plan.length) {
    begin(plan.length, 500)
    await setTimeout(200)
  }
  await Promise.all(under)
  await allNotified(
    lab,
    plan.map(({ n }) => n),
  )
  await noteEnds(lab)
  lab.noteTenant()
}

/** Kills one replica and starts it again; sometimes kills it once more during the start. */
async function killOne(cluster: Cluster, replica: number, random: () => number): Promise<void> {
  await cluster.kill(replica)
  if (random() < 1 / startsKilled) {
    const starting = cluster.start(replica)
    await Promise.race([starting, setTimeout(200 + random() * 1800)])
    await cluster.kill(replica)
    await starting
  }
  await cluster.start(replica)
}

/** Waits for cards and webhooks that are still on their way. The checker decides whether they arrived. */
async function allNotified({ outside, history }: Laboratory, all: readonly number[]): Promise<void> {
  const end = Date.now() + 60_000
  const rejected = () =>
    new Set(history.events.flatMap((one) => (one.event === 'decided' && one.verdict === 'rejected' ? [one.n] : [])))
  while (Date.now() < end) {
    outside.observe()
    const without = rejected()
    if (all.every((n) => outside.isNotified(n) || without.has(n))) break
    await setTimeout(500)
  }
  // A duplicate arrives soon after the first one.
  await setTimeout(3000)
  outside.observe()
}

interface Ended {
  readonly requestId: string
  readonly status: string
  readonly problem: { readonly code: string } | null
  readonly details: { readonly displayName: string }
  readonly approvals: readonly { readonly decisions: readonly Decided[] }[]
}
interface Decided {
  readonly by: { readonly id: string }
  readonly decision: 'approved' | 'rejected'
  readonly insteadOf?: readonly { readonly id: string }[]
}
interface Line {
  readonly at: string
  readonly action: string
  readonly actor: { readonly id?: string }
}

/** Records every request that the service knows, as an admin reads it. */
export async function noteEnds({ clients, history }: Pick<Laboratory, 'clients' | 'history'>): Promise<void> {
  for (let cursor = ''; ; ) {
    const page = await clients.get(
      people.sam,
      `/requests/v1/?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    for (const { requestId, status, problem, details, approvals } of page['value'] as Ended[]) {
      const { value } = (await clients.get(people.sam, `/requests/v1/${requestId}/timeline`)) as { value: Line[] }
      const timeline = value.map(({ at, action, actor }) => ({ at: Date.parse(at), action, by: actor.id ?? 'system' }))
      const decisions = approvals.flatMap((stage) =>
        stage.decisions.map(({ by, decision, insteadOf }) => ({
          ...{ by: by.id, verdict: decision },
          ...(insteadOf && { insteadOf: insteadOf.map(({ id }) => id) }),
        })),
      )
      history.note({
        event: 'end',
        n: requestNumberIn(details.displayName) ?? 0,
        requestId,
        status,
        ...(problem && { problem: problem.code }),
        timeline,
        decisions,
      })
    }
    if (typeof page['nextCursor'] !== 'string') return
    cursor = page['nextCursor']
  }
}
