import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'
import { startBareConnector, turn } from './chat.ts'
import { perSecond } from './figures.ts'
import { removeLimit } from './memory-limit.ts'
import type { Memory } from './memory-probe.ts'
import { type Place, variablesOf } from './places.ts'
import {
  buildBundle,
  deployedEnvironment,
  type RunningService,
  requestSite,
  startService,
  startTenant,
  tokenOf,
} from './service.ts'

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
/** Settings of a service whose memory {@link memoryOf} can read, and whose memory has a limit in bytes. */
export const withProbe = (limit?: number): Record<string, string> => ({
  NODE_OPTIONS: `--import ${probe}`,
  ...(limit !== undefined && { PROBE_MEMORY_LIMIT: String(limit) }),
})
const texts = ['help', 'my requests', 'new site', 'approvals', 'status REQ-1', 'new room', 'what?'] as const
const speakers = ['kim', 'dana', 'omar', 'sam'] as const
/** Concurrent turns, and concurrent requests. */
const callers = 4

/** The memory of the service over time, and whether the kernel enforced the limit. */
interface Soaked {
  readonly samples: readonly Sample[]
  readonly isLimited: boolean
}

/**
 * Sends turns of four people and requests of sites to the bundle of the service, with the simulated tenant in another
 * process. The service has at most `limit` bytes of memory. The first sample is the memory before the first turn. Throws
 * when the service ends.
 */
export async function measureSoak(place: Place, { turns, requests, samples }: Soak, limit: number): Promise<Soaked> {
  const bundle = buildBundle(`${place.dataDir}-bundle`)
  const tenantFolder = join(place.dataDir, 'soak-tenant')
  mkdirSync(tenantFolder, { recursive: true })
  const tenant = await startTenant(tenantFolder)
  const connector = await startBareConnector()
  const variables = { ...variablesOf(place), ...tenant.urls, ...deployedEnvironment }
  try {
    // The first start creates the embedded store, which needs more memory than the service.
    await (await startService(place.dataDir, variables, bundle)).stop()
    const service = await startService(place.dataDir, { ...variables, ...withProbe(limit) }, bundle)
    try {
      // The service loads some of its code shortly after it is ready.
      await setTimeout(2000)
      const found = [{ turns: 0, ...(await memoryOf(service)) }]
      for (let sample = 1; sample <= samples; sample += 1) {
        const share = { turns: Math.round(turns / samples), requests: Math.round(requests / samples) }
        await sendLoad({ service, tenantUrl: tenant.url, serviceUrl: connector.url }, share)
        found.push({ turns: Math.round((turns * sample) / samples), ...(await memoryOf(service)) })
      }
      const unlimited = service.process.printed.find((line) => line.startsWith('not limited: '))
      return { samples: found, isLimited: unlimited === undefined }
    } finally {
      await service.stop()
      removeLimit(service.process.pid ?? 0)
    }
  } finally {
    await connector.close()
    await tenant.kill()
  }
}

/** Where the load goes: the service, and the addresses of the tenant and of the connector. */
export interface Target {
  readonly service: RunningService
  readonly tenantUrl: string
  readonly serviceUrl: string
}

/** Sends turns of four people, every tenth from a new chat, and then requests of sites. */
export async function sendLoad(
  { service, tenantUrl, serviceUrl }: Target,
  { turns, requests }: Pick<Soak, 'turns' | 'requests'>,
): Promise<void> {
  // A token lives for an hour.
  const token = await tokenOf({ simulatorUrl: tenantUrl }, people.kim.id)
  let count = 0
  const one = () => {
    count += 1
    const [text, who] = [texts[count % texts.length] ?? 'help', speakers[count % speakers.length] ?? 'kim']
    const chat = count % 10 === 0 ? { chat: randomUUID() } : {}
    return turn(service.url, { serviceUrl, text, who, ...chat })
  }
  await perSecond(turns, callers, one)
  await perSecond(requests, callers, () => requestSite(service.url, token))
}

/** Asks the probe in the service for its memory. */
export async function memoryOf({ process: { pid, printed } }: RunningService): Promise<Memory> {
  const lines = () => printed.filter((line) => line.startsWith('memory '))
  const before = lines().length
  process.kill(pid ?? 0, 'SIGUSR2')
  const line = await until(() => lines()[before], 'the memory of the service', 60)
  return JSON.parse(line.slice('memory '.length)) as Memory
}
