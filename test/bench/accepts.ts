import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { people } from '../support/teams-user.ts'
import { perSecond, quantile } from './figures.ts'
import { type Place, variablesOf } from './places.ts'
import { askForSite, startService, startTenant, tokenOf } from './service.ts'

/** How much is measured; the middle of the rounds counts. */
const usual = {
  rounds: 5,
  warmUp: 100,
  callers: [1, 32],
  calls: (callers: number): number => (callers === 1 ? 150 : 640),
}
/** Between a round and the next: what it left to do (cards for those who decide) is done, and measured with no other. */
const pauseMilliseconds = 2000

/** Answers (202) for each second with so many callers, each waiting for its answer. */
export interface AcceptFigures {
  readonly callers: number
  /** Requests for sites that need approval. */
  readonly accepts: number
  /** A restify server that stores one row in one transaction. */
  readonly bare: number
  /** The same, which first asks the tenant whether an address is free, as an accepted site has to. */
  readonly asking: number
}

/**
 * Accepted requests beside two floors with the same promise, that what is answered is on the disk. The service, the floor
 * and the simulated tenant are processes of their own; the callers are in this one. Floors and service take turns.
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
      accepts: () => askForSite(service.url, token),
      bare: () => post(`${bare.url}/rows`),
      asking: () => post(`${bare.url}/asked`),
    }
    for (const way of Object.values(ways)) await perSecond(scale.warmUp, 4, way)
    return await inTurns(ways, scale)
  } finally {
    await service.stop()
    await end(bare.child, tenant)
  }
}

async function inTurns(
  ways: Readonly<Record<'accepts' | 'bare' | 'asking', () => Promise<void>>>,
  { rounds, callers, calls }: typeof usual,
): Promise<AcceptFigures[]> {
  const figures: AcceptFigures[] = []
  for (const number of callers) {
    const rates = { accepts: [] as number[], bare: [] as number[], asking: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      for (const name of ['accepts', 'bare', 'asking'] as const) {
        globalThis.gc?.()
        rates[name].push(await perSecond(calls(number), number, ways[name]))
        if (name === 'accepts') await setTimeout(pauseMilliseconds)
      }
    }
    const middle = (name: keyof typeof rates): number => quantile(rates[name], 0.5)
    figures.push({ callers: number, accepts: middle('accepts'), bare: middle('bare'), asking: middle('asking') })
  }
  return figures
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
