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

/**
 * The service with requests for sites that need approval; a restify server that stores one row in one transaction; the
 * same server, which first checks whether an address is free in the tenant, as the service does for a site.
 */
const wayNames = ['accepts', 'bare', 'checking'] as const
type ForEachWay<T> = Readonly<Record<(typeof wayNames)[number], T>>
type Ways = ForEachWay<() => Promise<void>>

/** The answers (202) of each way to this number of callers, each of which waits for its answer. */
export interface AcceptFigures {
  readonly callers: number
  /** Answers each second. */
  readonly rate: ForEachWay<number>
  /** The 99th percentile of the time until the answer, in milliseconds. */
  readonly p99: ForEachWay<number>
  /** The median time until the answer after a time without calls, in milliseconds. */
  readonly cold: Omit<ForEachWay<number>, 'checking'>
}

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
    const rates: ForEachWay<number[]> = { accepts: [], bare: [], checking: [] }
    const times: ForEachWay<number[]> = { accepts: [], bare: [], checking: [] }
    for (let round = 0; round < rounds; round += 1) {
      for (const name of wayNames) {
        globalThis.gc?.()
        const call = async () => void times[name].push(await timed(ways[name]))
        rates[name].push(await perSecond(calls(number), number, call))
        if (name === 'accepts') await setTimeout(pauseMilliseconds)
      }
    }
    figures.push({ callers: number, rate: quantiles(rates, 0.5), p99: quantiles(times, 0.99), cold: afterIdle })
  }
  return figures
}

const quantiles = ({ accepts, bare, checking }: ForEachWay<number[]>, part: number): ForEachWay<number> => ({
  accepts: quantile(accepts, part),
  bare: quantile(bare, part),
  checking: quantile(checking, part),
})

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
