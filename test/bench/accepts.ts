import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { people } from '../support/teams-user.ts'
import { perSecond, quantile, timed } from './figures.ts'
import { type Place, variablesOf } from './places.ts'
import { requestSite, startService, startTenant, tokenOf } from './service.ts'

/** The scale of a measurement. The median of the rounds counts. */
const usual = {
  rounds: 5,
  warmUp: 100,
  callers: [1, 32],
  calls: (callers: number): number => (callers === 1 ? 150 : 640),
  /** Calls after a time without calls: their number, and the time before each in milliseconds. */
  cold: { calls: 3, idle: 10_000 },
}
/**
 * Pause between rounds, so that the remaining work of a round (cards for approvers) is done before the next
 * measurement.
 */
const pauseMilliseconds = 2000

/** Answers (202) per second for this number of callers, each of which waits for its answer. */
export interface AcceptFigures {
  readonly callers: number
  /** The service, with requests for sites that need approval. */
  readonly accepts: number
  /** A restify server that stores one row in one transaction. */
  readonly bare: number
  /** The same server, which first checks whether an address is free in the tenant, as the service does for a site. */
  readonly checking: number
  /** The 99th percentile of the time until the answer, in milliseconds: of the service and of the first floor. */
  readonly p99: { readonly accepts: number; readonly bare: number }
  /** The median time until the answer after a time without calls, in milliseconds. */
  readonly cold: { readonly accepts: number; readonly bare: number }
}
type Ways = Readonly<Record<'accepts' | 'bare' | 'checking', () => Promise<void>>>

/**
 * Compares accepted requests with two floors that make the same promise: an answered request is on the disk. The
 * service, the floor and the simulated tenant are separate processes; the callers are in this process. Floors and
 * service take turns.
 */
export async function measureAccepts(
  { ours, floor }: { ours: Place; floor: Place },
  options: Partial<typeof usual> = {},
): Promise<AcceptFigures[]> {
  const scale = { ...usual, ...options }
  const tenant = await startTenant(ours.dataDir)
  const bare = await startFloor(floor, tenant.urls)
  const service = await startService(ours.dataDir, { ...variablesOf(ours), ...tenant.urls })
  try {
    const token = await tokenOf({ simulatorUrl: tenant.url }, people.kim.id)
    const ways = {
      accepts: () => requestSite(service.url, token),
      bare: () => post(`${bare.url}/rows`),
      checking: () => post(`${bare.url}/checked`),
    }
    for (const way of Object.values(ways)) await perSecond(scale.warmUp, 4, way)
    return await inTurns(ways, scale)
  } finally {
    await service.stop()
    await end(bare.child, tenant)
  }
}

async function inTurns(ways: Ways, { rounds, callers, calls, cold }: typeof usual): Promise<AcceptFigures[]> {
  const figures: AcceptFigures[] = []
  const afterIdle = { accepts: await coldTime(ways.accepts, cold), bare: await coldTime(ways.bare, cold) }
  for (const number of callers) {
    const rates = { accepts: [] as number[], bare: [] as number[], checking: [] as number[] }
    const times = { accepts: [] as number[], bare: [] as number[], checking: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      for (const name of ['accepts', 'bare', 'checking'] as const) {
        globalThis.gc?.()
        const call = async () => void times[name].push(await timed(ways[name]))
        rates[name].push(await perSecond(calls(number), number, call))
        if (name === 'accepts') await setTimeout(pauseMilliseconds)
      }
    }
    const middle = (name: keyof typeof rates): number => quantile(rates[name], 0.5)
    const p99 = { accepts: quantile(times.accepts, 0.99), bare: quantile(times.bare, 0.99) }
    const perSecondOf = { accepts: middle('accepts'), bare: middle('bare'), checking: middle('checking') }
    figures.push({ callers: number, ...perSecondOf, p99, cold: afterIdle })
  }
  return figures
}

async function coldTime(call: () => Promise<void>, { calls, idle }: (typeof usual)['cold']): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < calls; round += 1) {
    await setTimeout(idle)
    times.push(await timed(call))
  }
  return quantile(times, 0.5)
}

async function startFloor(place: Place, tenant: Readonly<Record<string, string>>) {
  const entry = fileURLToPath(new URL('./floor-server.ts', import.meta.url))
  const env = {
    ...{ PATH: process.env['PATH'], DATA_DIR: place.dataDir, TENANT_URL: tenant['LOGIN_URL'] },
    ...variablesOf(place),
  }
  const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, url: `http://127.0.0.1:${port}` }
}

async function end(floor: ChildProcess, tenant: { kill(): Promise<void> }): Promise<void> {
  const ended = once(floor, 'close')
  floor.kill('SIGKILL')
  await ended
  await tenant.kill()
}

async function post(url: string): Promise<void> {
  const body = JSON.stringify({ displayName: `Bench ${randomUUID().slice(0, 13)}`, metadata: { costCentre: '4711' } })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const text = await answer.text()
  if (answer.status !== 202) throw new Error(`the floor answered ${answer.status}: ${text}`)
}
