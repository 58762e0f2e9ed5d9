import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'
import { startBareConnector, turn } from './chat.ts'
import { perSecond } from './figures.ts'
import type { Memory } from './memory-probe.ts'
import { type Place, variablesOf } from './places.ts'
import { type RunningService, requestSite, startFlags, startService, startTenant, tokenOf } from './service.ts'

/** The load of a soak. Memory is measured `samples` times, at equal distances. */
export interface Soak {
  readonly turns: number
  readonly requests: number
  readonly samples: number
}
export const longSoak: Soak = { turns: 50_000, requests: 5_000, samples: 50 }

/** The memory after a number of turns. */
export interface Sample extends Memory {
  readonly turns: number
}

const probe = fileURLToPath(new URL('./memory-probe.ts', import.meta.url))
/** Settings of a service with the flags of `npm start` whose memory {@link memoryOf} can read. */
export const withProbe = () => ({ NODE_OPTIONS: `${startFlags()} --import ${probe}` })
const texts = ['help', 'my requests', 'new site', 'approvals', 'status REQ-1', 'new room', 'what?'] as const
const speakers = ['kim', 'dana', 'omar', 'sam'] as const
/** Concurrent turns, and concurrent requests. */
const callers = 4

/**
 * Sends turns of four people and requests of sites to a service, with the simulated tenant in another process, and
 * returns the memory of the service over time. The first sample is the memory before the first turn.
 */
export async function measureSoak(place: Place, { turns, requests, samples }: Soak): Promise<Sample[]> {
  const tenantFolder = join(place.dataDir, 'soak-tenant')
  mkdirSync(tenantFolder, { recursive: true })
  const tenant = await startTenant(tenantFolder)
  const connector = await startBareConnector()
  const variables = { ...variablesOf(place), ...tenant.urls, ...withProbe() }
  try {
    const service = await startService(place.dataDir, variables)
    try {
      const found = [{ turns: 0, ...(await memoryOf(service)) }]
      for (let sample = 1; sample <= samples; sample += 1) {
        await load({ service, tenantUrl: tenant.url, serviceUrl: connector.url }, { turns, requests, samples })
        found.push({ turns: Math.round((turns * sample) / samples), ...(await memoryOf(service)) })
      }
      return found
    } finally {
      await service.stop()
    }
  } finally {
    connector.close()
    await tenant.kill()
  }
}

interface Load {
  readonly service: RunningService
  readonly tenantUrl: string
  readonly serviceUrl: string
}

/** Sends the share of one sample. */
async function load({ service, tenantUrl, serviceUrl }: Load, { turns, requests, samples }: Soak): Promise<void> {
  // A token lives for an hour.
  const token = await tokenOf({ simulatorUrl: tenantUrl }, people.kim.id)
  let count = 0
  const one = () => {
    count += 1
    const [text, who] = [texts[count % texts.length] ?? 'help', speakers[count % speakers.length] ?? 'kim']
    return turn(service.url, { serviceUrl, text, who })
  }
  await perSecond(Math.round(turns / samples), callers, one)
  await perSecond(Math.round(requests / samples), callers, () => requestSite(service.url, token))
}

/** Asks the probe in the service for its memory. */
export async function memoryOf({ process: { pid, printed } }: RunningService): Promise<Memory> {
  const lines = () => printed.filter((line) => line.startsWith('memory '))
  const before = lines().length
  process.kill(pid ?? 0, 'SIGUSR2')
  const line = await until(() => lines()[before], 'the memory of the service', 60)
  return JSON.parse(line.slice('memory '.length)) as Memory
}

/**
 * Returns the bytes that survive a collection for each turn: the slope of the line through the second half of the
 * samples. Caches fill in the first half.
 */
export function growth(samples: readonly Sample[]): number {
  const late = samples.slice(Math.floor(samples.length / 2))
  const mean = (of: (sample: Sample) => number): number => late.reduce((sum, one) => sum + of(one), 0) / late.length
  const kept = ({ heap, arrays }: Sample): number => heap + arrays
  const [turns, bytes] = [mean((sample) => sample.turns), mean(kept)]
  const covariance = mean((sample) => (sample.turns - turns) * (kept(sample) - bytes))
  return covariance / mean((sample) => (sample.turns - turns) ** 2)
}
