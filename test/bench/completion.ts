import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { jobId, provisioningRequest, type Request, webhookOf } from '../../src/core/index.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { createStores, openDatabase } from '../../src/store/index.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { startServer } from '../support/http-server.ts'
import { startProduct } from '../support/process.ts'
import { until } from '../support/until.ts'
import { type Place, variablesOf } from './places.ts'
import { makeSamples, readSamples } from './samples.ts'
import { startService } from './service.ts'

/** Completions per second. */
const rate = 10
/** `startMilliseconds`: time until the service is certainly ready, because overdue polls all start at once. */
const usual = { count: 300, warmUp: 30, startMilliseconds: 12_000 }
const secret = `whsec_${randomBytes(32).toString('base64')}`
const silent = { debug() {}, info() {}, warn() {}, error() {} }
/** Settings that prevent other work during the measurement: the product's own polls and webhooks come later. */
const quiet = { WEBHOOK_SECRET: secret, FOLLOW_UP_FIRST_SECONDS: '86400' }

/** Milliseconds from each completion event until the connector has the follow-up card. */
export interface CompletionTimes {
  /** Starts just before the webhook is posted to the service. */
  readonly webhook: readonly number[]
  /** Starts at the directory's answer that contains the group. */
  readonly poll: readonly number[]
}

/**
 * Measures completions. The sites are created but not announced, each for a different person; then the events follow
 * one after another, by webhook or by a directory poll that finds the group. The connector and the directory are in
 * this process, so one clock measures both ends.
 */
export async function measureCompletion(place: Place, options: Partial<typeof usual> = {}): Promise<CompletionTimes> {
  const { count, warmUp, startMilliseconds } = { ...usual, ...options }
  const tenantDir = join(place.dataDir, 'tenant')
  mkdirSync(tenantDir, { recursive: true })
  const connector = await startConnector(() => performance.now())
  const directory = await startDirectory()
  const simulator = await startProduct('simulator/main.ts', {
    ...{ cwd: tenantDir, up: /^EXCHANGE_URL=/ },
    variables: { DATA_DIR: tenantDir, SIMULATOR_PORT: '0', SIMULATOR_DIRECTORY_SECONDS: '0' },
  })
  const tenant = Object.fromEntries(simulator.printed.map((line) => line.split('=') as [string, string]))
  try {
    const made = await madeSite(place, tenant)
    const variables = { ...variablesOf(place), ...tenant, DIRECTORY_URL: directory.url, ...quiet }
    const all = { place, variables, connector, directory, startMilliseconds }
    const webhook = await byWebhook(all, await seed(place, made, warmUp + count, connector.url))
    const poll = await byPoll(all, await seed(place, made, warmUp + count, connector.url))
    if (connector.unexpected.length + directory.unexpected.length > 0)
      throw new Error(`unexpected calls: ${[...connector.unexpected, ...directory.unexpected].join(', ')}`)
    return { webhook: webhook.slice(warmUp), poll: poll.slice(warmUp) }
  } finally {
    await simulator.kill()
    await connector.close()
    await directory.close()
  }
}

interface Parts {
  readonly place: Place
  readonly variables: Record<string, string>
  readonly connector: Connector
  readonly directory: Directory
  readonly startMilliseconds: number
}

/** Posts to the bot's own webhook route, as the delivery job does. */
async function byWebhook({ place, variables, connector }: Parts, requests: readonly Request[]): Promise<number[]> {
  const service = await startService(place.dataDir, variables)
  try {
    const events = new Map<string, number>()
    const answers: Promise<void>[] = []
    for (const request of requests) {
      const body = JSON.stringify(webhookOf(request))
      const [id, at] = [randomUUID(), new Date()]
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, at, body),
      }
      events.set(request.requestId, performance.now())
      answers.push(post(`${service.url}/webhooks/provisioning`, headers, body))
      await setTimeout(pause())
    }
    await Promise.all(answers)
    return await arrivals(connector, requests, events)
  } finally {
    await service.stop()
  }
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  if (answer.status !== 204) throw new Error(`the webhook was answered ${answer.status}`)
}

/** Enqueues one directory poll for each request at the same rate; the directory then has the group. */
async function byPoll(parts: Parts, requests: readonly Request[]): Promise<number[]> {
  const { place, variables, connector, directory, startMilliseconds } = parts
  const database = await openDatabase(place)
  const queue = await createQueue(database, silent)
  let due = Date.now() + startMilliseconds
  for (const { requestId } of requests) {
    due += pause()
    const options = { id: jobId('bench poll', requestId), startAfter: new Date(due) }
    await queue.enqueue('follow-up', { requestId, look: 0 }, options)
  }
  await queue.stop(1)
  await database.close()
  const service = await startService(place.dataDir, variables)
  try {
    return await arrivals(connector, requests, directory.answered)
  } finally {
    await service.stop()
  }
}

/**
 * Returns the time between two events in milliseconds. It varies around the rate, so that events do not synchronise.
 */
const pause = (): number => (1000 / rate) * (0.5 + Math.random())

/** Waits until each requester has exactly one card, and returns the time of each card after its event. */
async function arrivals(
  connector: Connector,
  requests: readonly Request[],
  events: ReadonlyMap<string, number>,
): Promise<number[]> {
  const chats = new Map(requests.map(({ requestId, requester }) => [chatOf(requester.id), requestId]))
  const cards = () =>
    connector.calls.filter(({ method, conversationId }) => method === 'POST' && chats.has(conversationId))
  await until(() => cards().length >= requests.length || undefined, 'a follow-up card for each', 30 + requests.length)
  const sent = cards()
  if (new Set(sent.map(({ conversationId }) => conversationId)).size !== sent.length)
    throw new Error('a card came twice')
  return sent.map(({ conversationId, at }) => at - (events.get(chats.get(conversationId) ?? '') ?? Number.NaN))
}

const chatOf = (personId: string): string => `bench-${personId}`

/** Creates a site with the product and announces it. */
async function madeSite(place: Place, tenant: Record<string, string>): Promise<Request> {
  const service = await startService(place.dataDir, { ...variablesOf(place), ...tenant })
  const simulatorUrl = tenant['LOGIN_URL'] ?? ''
  const ids = await makeSamples({ ...service, simulatorUrl }).finally(() => service.stop())
  return (await readSamples(place, ids)).workingGroup.request
}

/** Stores copies of the request that are not announced yet, and the chats of their requesters. */
async function seed(place: Place, made: Request, count: number, serviceUrl: string): Promise<Request[]> {
  const database = await openDatabase(place)
  const { requests, conversations } = createStores(database)
  const stored: Request[] = []
  for (let index = 0; index < count; index += 1) {
    const requester = { ...made.requester, id: randomUUID() }
    const own = { requestId: randomUUID(), requester, followUp: { state: 'waiting' } }
    const request = await requests.insert(provisioningRequest.parse({ ...made, ...own }))
    if (!request) throw new Error('a request of a new id was there already')
    const { tenantId } = request
    const reference = {
      ...{ channelId: 'msteams', serviceUrl, locale: 'en-GB', bot: { id: '28:bot', name: 'Quartermaster' } },
      user: { id: `29:${requester.id}`, name: requester.displayName, aadObjectId: requester.id },
      conversation: { id: chatOf(requester.id), conversationType: 'personal', tenantId },
    }
    const chat = { conversationId: chatOf(requester.id), reference, locale: 'en-GB', timeZone: 'Europe/Zurich' }
    await conversations.put({ tenantId, personId: requester.id, ...chat })
    stored.push(request)
  }
  await database.close()
  return stored
}

/** Calls that the service sends for itself: the health check of Graph, and the list of admins, which is empty here. */
const ownCall = /^\/v1\.0\/(organization|users\/[^/]+|groups\/[^/]+\/transitiveMembers)$/
const healthCheck = '/v1.0/users?$select=id,accountEnabled&$top=1'
/** Returns whether a call checks the schema extension. That check requests one group; polls request all. */
const isExtensionCheck = ({ pathname, searchParams }: URL): boolean =>
  pathname === '/v1.0/groups' && searchParams.get('$top') === '1'
const isOwnCall = (url: URL): boolean =>
  isExtensionCheck(url) ||
  ownCall.test(url.pathname) ||
  `${url.pathname}${decodeURIComponent(url.search)}` === healthCheck

/** Starts the directory for polls: it has a group for every request, and records the time of each answer. */
async function startDirectory() {
  const answered = new Map<string, number>()
  const unexpected: string[] = []
  const { url, close } = await startServer((request, response) => {
    const called = new URL(request.url ?? '', 'http://directory')
    const requestId = /^svc_group\/requestId eq '([0-9a-f-]{36})'$/.exec(called.searchParams.get('$filter') ?? '')?.[1]
    response.setHeader('content-type', 'application/json')
    if (called.pathname !== '/v1.0/groups' || requestId === undefined || isExtensionCheck(called)) {
      const isKnown = isOwnCall(called)
      if (!isKnown) unexpected.push(`${request.method} ${request.url}`)
      response.statusCode = isKnown && !called.pathname.includes('/users/') ? 200 : 404
      response.end('{"value":[]}')
      return
    }
    const group = { id: randomUUID(), displayName: 'SPO-bench', svc_group: { requestId } }
    answered.set(requestId, performance.now())
    response.end(JSON.stringify({ value: [group] }))
  })
  return { url, answered, unexpected, close }
}
type Directory = Awaited<ReturnType<typeof startDirectory>>
