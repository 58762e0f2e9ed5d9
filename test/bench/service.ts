import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../src/app/free-port.ts'
import { contoso } from '../../src/simulator/tenant/contoso.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { people, scopes } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'

/** The service as in production, but without chat windows and rate limits. */
export interface RunningService {
  readonly url: string
  readonly simulatorUrl: string
  /** Time from the start of the process until `/readyz` answers 200. */
  readonly milliseconds: number
  readonly process: ProductProcess
  /** Stops the service like Ctrl-C, and waits until it has stopped. */
  stop(): Promise<void>
}

/**
 * Starts `node src/main.ts` or another program with this folder; `more` contains further settings, such as the address
 * of a server. It gets the flags of Node in `npm start`, unless others are named.
 */
export async function startService(
  dataDir: string,
  more: Record<string, string> = {},
  program = 'main.ts',
  flags: readonly string[] = startFlags(),
): Promise<RunningService> {
  const [port, simulatorPort] = [await freePort(), await freePort()]
  const variables = {
    ...{ DATA_DIR: dataDir, PORT: String(port), SIMULATOR_PORT: String(simulatorPort), PLAYGROUND: 'off' },
    ...{ RATE_LIMIT_WRITES_PER_MINUTE: '0', RATE_LIMIT_READS_PER_MINUTE: '0', OPEN_REQUESTS_PER_PERSON: '0' },
    ...{ RATE_LIMIT_TENANT_WRITES_PER_MINUTE: '0', LOG_LEVEL: 'error' },
    // Code is compiled at the first start with a folder, as after an installation. The service checks all files in its
    // own folder at each start, so this one is next to it.
    NODE_COMPILE_CACHE: `${dataDir}-compiled`,
    ...more,
  }
  const url = `http://127.0.0.1:${port}`
  const begin = performance.now()
  const service = await startProduct(program, { cwd: dataDir, variables, flags, up: /answers at/ })
  while ((await fetch(`${url}/readyz`)).status !== 200) await setTimeout(5)
  return {
    url,
    simulatorUrl: `http://127.0.0.1:${simulatorPort}`,
    milliseconds: performance.now() - begin,
    process: service,
    stop: () => stop(service),
  }
}

/** This version of the project. */
export const thisVersion = join(import.meta.dirname, '../..')

/** Builds the bundle in a folder, as for a deployment. Returns its program, for {@link startService}. */
export function buildBundle(folder: string, version: string = thisVersion): string {
  const bundle = join(folder, 'dist')
  execFileSync(process.execPath, [join(version, 'deploy/build.ts'), bundle], { stdio: 'pipe' })
  return join(bundle, 'main.js')
}

/** The environment of the process in the deploy files, besides the settings of the service. */
export const deployedEnvironment = { MALLOC_ARENA_MAX: '2' }

/** Returns the flags of Node in `npm start`. */
export function startFlags(version: string = thisVersion): string[] {
  const { scripts } = JSON.parse(readFileSync(join(version, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  return [...(scripts['start'] ?? '').matchAll(/--\S+/g)].map(([flag]) => flag)
}

/** Returns the resident memory of the service, in bytes, from its metrics. Throws if they do not contain it. */
export async function residentBytes(url: string, metricsToken?: string): Promise<number> {
  const headers = { ...(metricsToken !== undefined && { authorization: `Bearer ${metricsToken}` }) }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const bytes = Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
  if (!Number.isFinite(bytes)) throw new Error(`${url}/metrics names no resident memory: ${text.slice(0, 200)}`)
  return bytes
}

/**
 * Starts a simulated tenant in its own process, with further employees. `urls` are the settings by which a service
 * finds it.
 */
export async function startTenant(dataDir: string, employees = 0) {
  const tenantDir = join(dataDir, 'tenant')
  mkdirSync(tenantDir, { recursive: true })
  const tenant = await startProduct('simulator/main.ts', {
    ...{ cwd: tenantDir, up: /^EXCHANGE_URL=/ },
    variables: { DATA_DIR: tenantDir, SIMULATOR_PORT: '0', SIMULATOR_EMPLOYEES: String(employees) },
  })
  const urls = Object.fromEntries(tenant.printed.map((line) => line.split('=') as [string, string]))
  return { urls, url: urls['LOGIN_URL'] ?? '', kill: () => tenant.kill() }
}

async function stop(service: ProductProcess): Promise<void> {
  const { pid } = service
  if (pid === undefined) return
  process.kill(pid, 'SIGTERM')
  while (isAlive(pid)) await setTimeout(20)
  await service.kill()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Returns the ids of employees of Contoso who do not take part otherwise: the limits of the API are those of each person. */
export function employees(count: number): string[] {
  const busy = new Set<string>(Object.values(people).map(({ id }) => id))
  return contoso.people
    .filter(({ id, accountEnabled, userType }) => accountEnabled && userType === 'Member' && !busy.has(id))
    .slice(0, count)
    .map(({ id }) => id)
}

/** Returns a person's token from the simulated tenant, for the sites API by default, or for mailboxes. */
export async function tokenOf(
  { simulatorUrl }: Pick<RunningService, 'simulatorUrl'>,
  userId: string,
  api: 'collab' | 'mail' = 'collab',
): Promise<string> {
  return tokenFor(simulatorUrl, userId, scopes[api])
}

/** Requests a site that needs approval, so that only the request itself is created during the measurement. */
export async function requestSite(url: string, token: string): Promise<void> {
  const answer = await fetch(`${url}/collab/v1/spo/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      displayName: `Bench ${randomUUID().slice(0, 13)}`,
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      metadata: { costCentre: '4711', audience: 'internal' },
    }),
  })
  const text = await answer.text()
  if (answer.status !== 202) throw new Error(`the service answered ${answer.status}: ${text}`)
}
