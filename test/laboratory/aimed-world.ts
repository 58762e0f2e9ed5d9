import { cpSync, mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { startSimulator } from '../../src/simulator/index.ts'
import samples from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { startConnector } from '../support/connector.ts'
import { emptyStore } from '../support/database.ts'
import { inputsOf, type JourneyKind, journeyKinds } from '../support/journey.ts'
import { people, scopes } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { startWebhookRelay } from '../support/webhook-relay.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'
import { createAim } from './aim.ts'
import { createClients } from './clients.ts'
import { prepareCluster } from './cluster.ts'
import { openHistory } from './history.ts'
import { noteTenant, watchOutside } from './observer.ts'
import { type PlannedRequest, participants } from './plan.ts'

/**
 * Opens everything that the aimed kills need. Only the service is killed; all other parts are in this process and
 * observe it.
 */
export async function openAimedWorld(folder: string, seed: number) {
  mkdirSync(folder, { recursive: true })
  const history = openHistory(join(folder, 'history.jsonl'))
  const random = mulberry32(seed)
  const tenantDir = join(folder, 'tenant')
  mkdirSync(tenantDir, { recursive: true })
  const service = { webhook: true, url: '', simulatorUrl: '', token: '' }
  const names = tenantNames(join(tenantDir, 'simulator.sqlite'))

  async function stepOf(requestId: string): Promise<string | undefined> {
    const headers = { authorization: `Bearer ${service.token}` }
    const signal = AbortSignal.timeout(2000)
    const answer = await fetch(`${service.url}/requests/v1/${requestId}`, { headers, signal }).catch(() => undefined)
    if (!answer?.ok) return undefined
    const { steps } = (await answer.json().catch(() => ({ steps: [] }))) as {
      steps: { name: string; status: string }[]
    }
    return steps.find(({ status }) => status === 'running')?.name
  }

  const aim = createAim({ stepOf, nameOf: names.nameOf, random })
  const connector = await startConnector()
  for (const method of ['POST', 'PUT'] as const)
    for (const how of ['hold', 'lose'] as const)
      connector.fail({ method, how, count: Infinity, when: (activity) => aim.meetsCard({ method, how }, activity) })
  const subscriber = await startSubscriber()
  const relay = await startWebhookRelay(() => service.url)
  relay.set(aim.meetsWebhook)
  const simulator = await startSimulator({ dataDir: tenantDir, port: 0, directorySeconds: 0, faults: aim.faults })
  const tenantUrls = {
    LOGIN_URL: simulator.url,
    DIRECTORY_URL: simulator.url,
    SHAREPOINT_URL: simulator.url,
    EXCHANGE_URL: simulator.url,
  }
  const templatesFile = join(folder, 'templates.json')
  await writeFile(templatesFile, JSON.stringify(templatesFor(subscriber.url)))
  cpSync(await emptyStore(), join(folder, 'service-0', 'postgres'), { recursive: true })
  const limits = ['WRITES_PER_MINUTE', 'READS_PER_MINUTE', 'TENANT_WRITES_PER_MINUTE']
  const noLimits = Object.fromEntries(limits.map((name) => [`RATE_LIMIT_${name}`, '0']))
  const cluster = await prepareCluster({ folder, size: 1, history }, () => ({
    ...{ ...tenantUrls, ...noLimits, OPEN_REQUESTS_PER_PERSON: '0' },
    ...{ BASE_URL: relay.url, TEMPLATES_FILE: templatesFile, PLAYGROUND: 'off' },
    ...{ FOLLOW_UP_FIRST_SECONDS: '3', FOLLOW_UP_EVERY_SECONDS: '2', FOLLOW_UP_STOP_SECONDS: '60' },
    FOLLOW_UP_WEBHOOK: service.webhook ? 'on' : 'off',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
  }))
  service.url = cluster.url
  service.token = await tokenFor(simulator.url, people.sam.id, scopes.collab)
  const outside = watchOutside(history, connector, subscriber)
  const own = { url: cluster.url, simulatorUrl: simulator.url }
  return {
    ...{ history, aim, cluster, connector, outside, random, seed },
    clients: createClients({ ...own, connector, outside, history, seed, random }),
    /** Sets whether the service receives its own webhooks after the next start. */
    listens(webhook: boolean): void {
      service.webhook = webhook
    },
    noteTenant: () => noteTenant(history, join(tenantDir, 'simulator.sqlite')),
    async close() {
      await cluster.close()
      names.close()
      await simulator.close()
      await connector.close()
      await relay.close()
      await subscriber.close()
    },
  }
}
export type AimedWorld = Awaited<ReturnType<typeof openAimedWorld>>

const sampleOf: { readonly [K in JourneyKind]: string } = {
  team: 'Project site',
  communication: 'News site',
  room: 'Meeting room',
}
const kindOf = { team: 'teamSite', communication: 'communicationSite', room: 'roomMailbox' } as const
const approvers = participants.slice(0, 6)
const requesters = participants.slice(6)
const templateId = (kind: JourneyKind, approver: number): string =>
  `bbbbbbbb-0000-4000-8000-0000000000${journeyKinds.indexOf(kind)}${approver}`

/** Creates Contoso's templates of these names, once for each approver, so that no chat exceeds the limits of Teams. */
function templatesFor(webhookUrl: string): object[] {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const webhook = { url: webhookUrl, secret, events: ['site.provisioned', 'mailbox.provisioned', 'request.failed'] }
  return journeyKinds.flatMap((kind, order) => {
    const sample = samples.find(({ name }) => name === sampleOf[kind])
    if (!sample) throw new Error(`no sample template is called ${sampleOf[kind]}`)
    return approvers.map(({ id }, index) => ({
      ...{
        ...sample,
        id: templateId(kind, index),
        name: `${sample.name} ${index}`,
        order: 10 * order + index,
        webhook,
      },
      approval: { stages: [{ approvers: [{ user: id }], rule: 'any' }] },
    }))
  })
}

/** Creates the n-th planned request: by chat and with approval, so that it has every kill point. */
export function aimedRequest(kind: JourneyKind, n: number): PlannedRequest {
  const approver = n % approvers.length
  return {
    ...{ n, name: `Lab ${String(n).padStart(4, '0')}`, kind: kindOf[kind], channel: 'chat', approval: true },
    templateId: templateId(kind, approver),
    requester: requesters[n % requesters.length] ?? people.kim,
    deciders: approvers.slice(approver, approver + 1),
    ...{ decidesBy: 'chat', verdict: 'approved', inputs: inputsOf[kind] },
  }
}
/** Reads the name of the object with an id from the simulator's own file. */
function tenantNames(file: string) {
  const known = new Map<string, string>()
  let tenant: DatabaseSync | undefined
  const sql = `select mail_nickname as name from groups where id = ?1 union all select path from sites where id = ?1
    union all select name from mailboxes where id = ?1 or guid = ?1`
  return {
    nameOf(id: string): string | undefined {
      tenant ??= new DatabaseSync(file, { readOnly: true })
      const name = known.get(id) ?? tenant.prepare(sql).get(id)?.['name']
      if (typeof name !== 'string') return undefined
      known.set(id, name)
      return name
    },
    close: () => tenant?.close(),
  }
}
