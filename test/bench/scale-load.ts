import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { startRoundRobin } from '../support/round-robin.ts'
import { people } from '../support/teams-user.ts'
import { startBareConnector, turn } from './chat.ts'
import { perSecond, timed } from './figures.ts'
import { type Places, variablesOf } from './places.ts'
import { employees, type RunningService, requestSite, startService, startTenant, tokenOf } from './service.ts'

/** Contoso's template of meeting rooms. Its requests need no approval. */
const meetingRoom = 'e1f2a3b4-2d3c-4e5f-9a8b-7c6d5e4f3a55'

/** Batches of `rows` requests from `senders` people at once; `quiet`: the number of turns before them. */
export interface BatchLoad {
  readonly senders: number
  readonly rows: number
  readonly quiet: number
}
export interface BatchFigures {
  readonly alone: Sent
  readonly together: Sent
  /** Milliseconds of turns of another person, while the rows of all batches are submitted and before. */
  readonly turns: { readonly meanwhile: readonly number[]; readonly quiet: readonly number[] }
}
/** Milliseconds until each batch is accepted, and until the rows of all batches are submitted. */
interface Sent {
  readonly accepted: readonly number[]
  readonly submitted: number
}

/**
 * Sends one batch, then batches of several people at once to a service with a PostgreSQL server, while another person
 * types.
 */
export async function measureBatches(places: Places, { senders, rows, quiet }: BatchLoad): Promise<BatchFigures> {
  return withService(places, async ({ service: { url }, tenantUrl, serviceUrl }) => {
    const help = () => timed(() => turn(url, { serviceUrl, text: 'help', who: 'dana' }))
    const turns = { meanwhile: [] as number[], quiet: [] as number[] }
    for (let round = 0; round < warmUp; round += 1) await help()
    for (let round = 0; round < quiet; round += 1) turns.quiet.push(await help())
    const tokens: string[] = []
    for (const id of employees(senders)) tokens.push(await tokenOf({ simulatorUrl: tenantUrl }, id, 'mail'))
    const alone = await sendAll(url, tokens.slice(0, 1), rows)
    const state = { isOver: false }
    const sent = sendAll(url, tokens, rows).finally(() => {
      state.isOver = true
    })
    do turns.meanwhile.push(await help())
    while (!state.isOver)
    return { alone, together: await sent, turns }
  })
}
const warmUp = 30

/** Sends one batch with each token at once, and waits until all rows are submitted. */
async function sendAll(url: string, tokens: readonly string[], rows: number): Promise<Sent> {
  const begin = performance.now()
  const accepted = await Promise.all(
    tokens.map(async (token) => {
      const batchId = await sendBatch(url, token, rows)
      return { token, batchId, milliseconds: performance.now() - begin }
    }),
  )
  for (const { token, batchId } of accepted) await submittedAll(url, token, batchId)
  return { accepted: accepted.map(({ milliseconds }) => milliseconds), submitted: performance.now() - begin }
}

async function sendBatch(url: string, token: string, count: number): Promise<string> {
  const rows = Array.from({ length: count }, (_, place) => {
    const name = `room-${randomUUID().slice(0, 13)}`
    return {
      key: `row ${place + 1}`,
      body: { name, displayName: name, templateId: meetingRoom, metadata: { seats: 8 } },
    }
  })
  const { batchId } = await json(`${url}/requests/v1/batch`, token, { resource: 'mailbox', rows })
  return String(batchId)
}

/** Waits until the batch is finished. Throws if a row was refused. */
async function submittedAll(url: string, token: string, batchId: string): Promise<void> {
  for (;;) {
    const { status, rows } = await json(`${url}/batches/v1/${batchId}`, token)
    const { refused, waiting } = Object(rows)
    if (refused > 0) throw new Error(`${refused} rows of a batch were refused`)
    if (status !== 'running' && waiting === 0) return
    await setTimeout(250)
  }
}

/** Calls the API, and returns its answer. Throws for a refusal. */
export async function json(url: string, token: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Calls of a measurement of replicas, and the concurrent callers. The medians of the rounds count. */
export interface ReplicaLoad {
  readonly replicas: number
  readonly rounds: number
  readonly calls: number
  readonly callers: number
}
export interface ReplicaFigures {
  /** Per second, in each round. */
  readonly accepts: { readonly one: readonly number[]; readonly all: readonly number[] }
  readonly turns: { readonly one: readonly number[]; readonly all: readonly number[] }
}

/**
 * Measures calls per second of several replicas over one server, and of one of them. Both have a load balancer in
 * front, and take turns. The other replicas run while one is measured, but receive no calls.
 */
export async function measureReplicas(
  places: Places,
  { replicas, rounds, calls, callers }: ReplicaLoad,
): Promise<ReplicaFigures> {
  return withService(places, async ({ service, tenantUrl, serviceUrl, another }) => {
    const others: RunningService[] = []
    for (let count = 1; count < replicas; count += 1) others.push(await another())
    const all = await startRoundRobin([service, ...others].map(({ url }) => url))
    const one = await startRoundRobin([service.url])
    while (all.ready().length < replicas || one.ready().length < 1) await setTimeout(50)
    const token = await tokenOf({ simulatorUrl: tenantUrl }, people.kim.id)
    const figures = {
      accepts: { one: [] as number[], all: [] as number[] },
      turns: { one: [] as number[], all: [] as number[] },
    }
    const proxies = { one, all }
    for (let round = -1; round < rounds; round += 1) {
      for (const name of ['one', 'all'] as const) {
        const { url } = proxies[name]
        const accepts = await perSecond(calls, callers, () => requestSite(url, token))
        // The jobs of the requests end before the turns.
        await setTimeout(2000)
        const turns = await perSecond(calls, callers, () => turn(url, { serviceUrl, text: 'help' }))
        if (round < 0) continue
        figures.accepts[name].push(accepts)
        figures.turns[name].push(turns)
      }
    }
    await Promise.all([one.close(), all.close()])
    return figures
  })
}

interface Setting {
  readonly service: RunningService
  readonly tenantUrl: string
  readonly serviceUrl: string
  /** Starts another process over the same store. */
  another(): Promise<RunningService>
}

async function withService<T>(places: Places, measure: (setting: Setting) => Promise<T>): Promise<T> {
  const place = await places.place('server')
  const tenant = await startTenant(place.dataDir)
  const connector = await startBareConnector()
  const running: RunningService[] = []
  const another = async () => {
    const service = await startService(place.dataDir, { ...variablesOf(place), ...tenant.urls })
    running.push(service)
    return service
  }
  try {
    return await measure({ service: await another(), tenantUrl: tenant.url, serviceUrl: connector.url, another })
  } finally {
    for (const service of running) await service.stop()
    await connector.close()
    await tenant.kill()
  }
}
