import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { SiteProgress, SiteStep, SiteStepInput, Tenant } from '../../src/core/index.ts'
import type { Microsoft365Options } from '../../src/microsoft365/index.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/index.ts'
import { connectTo, kim } from './microsoft365.ts'
import { prepareTenant } from './prepared-tenant.ts'
import { exchangeOf } from './simulator.ts'
import { control } from './tenant-control.ts'

type Cmdlets = Awaited<ReturnType<typeof exchangeOf>>

export interface ObservedCall {
  operation: string
  method: string
  path: string
  status: number
  fault?: string | null
  body?: unknown
}

/** Starts a simulator with its state in its own folder, and provides its control API. */
export async function startTenant(
  options: Partial<Omit<SimulatorOptions, 'dataDir' | 'port'>> = {},
  connection: Partial<Pick<Microsoft365Options, 'settleSeconds' | 'workSeconds' | 'teamsAppId' | 'warn'>> = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'quartermaster-'))
  await prepareTenant(dataDir)
  const simulator: Simulator = await startSimulator({
    dataDir,
    port: 0,
    directorySeconds: 0,
    siteReadySeconds: 0.05,
    exchangeSettleSeconds: 0,
    ...options,
  })
  let cmdlets: Promise<Cmdlets> | undefined
  const cmdlet: Cmdlets = async (...call) => {
    cmdlets ??= exchangeOf(simulator)
    return (await cmdlets)(...call)
  }
  const tell = (method: string, path: string, body?: object) => control(simulator.url, method, path, body)
  return {
    simulator,
    ...connectTo(simulator.url, connection),
    /** Runs a cmdlet of Exchange outside the product. */
    cmdlet,
    /** Runs such a cmdlet and returns what it finds. */
    found: async (...call: Parameters<Cmdlets>): Promise<Record<string, unknown>[]> =>
      (await cmdlet(...call)).body.value ?? [],
    /** Adds a fault: by default once; `count: undefined` is permanent. */
    fault: (fault: {
      operation: string
      kind: string
      count?: number | undefined
      share?: number
      seed?: number
      retryAfter?: number
      status?: number
      skip?: number
      inner?: string
      ran?: boolean
    }) => tell('POST', 'faults', { count: 1, ...fault }),
    /** Changes the modes of the tenant. */
    modes: (changes: object) => tell('POST', 'tenant', changes),
    forgetCalls: () => tell('DELETE', 'calls'),
    healthy: () => tell('DELETE', 'faults'),
    async calls(): Promise<ObservedCall[]> {
      const answer = await tell('GET', 'calls')
      const list = Array.isArray(answer) ? answer : Reflect.get(Object(answer), 'value')
      return Array.isArray(list) ? list : []
    },
    async close() {
      await simulator.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
export type TestTenant = Awaited<ReturnType<typeof startTenant>>

/** Runs a tenant from `beforeAll` to `afterAll` of the block. The object is empty until then. */
export function withTenant(...options: Parameters<typeof startTenant>): TestTenant {
  const tenant: TestTenant = Object.create(null)
  beforeAll(async () => void Object.assign(tenant, await startTenant(...options)))
  afterAll(() => tenant.close())
  return tenant
}

let requests = 0
/** Creates Kim's site request with its own id and address. */
export function siteInput(change: Partial<SiteStepInput> = {}): SiteStepInput {
  requests += 1
  return {
    requestId: `55555555-eeee-4eee-8eee-${String(requests).padStart(12, '0')}`,
    kind: 'teamSite',
    displayName: `Project Aurora ${requests}`,
    description: 'Everything about Aurora.',
    alias: `project-aurora-${requests}`,
    owners: [],
    requester: kim,
    labelId: '',
    progress: {},
    signal: AbortSignal.timeout(30_000),
    ...change,
  }
}

/** Runs a step until it is done, and returns the request's progress. */
export async function runStep(tenant: Tenant, step: SiteStep, input: SiteStepInput): Promise<SiteProgress> {
  let { progress } = input
  for (;;) {
    const result = await tenant.siteSteps[step]({ ...input, progress })
    progress = { ...progress, ...result.made }
    if (result.done) return progress
    await new Promise((resolve) => setTimeout(resolve, 20))
    input.signal.throwIfAborted()
  }
}

/** Runs steps in order, each with the results of the earlier ones. */
export async function runSteps(tenant: Tenant, steps: readonly SiteStep[], input: SiteStepInput) {
  let progress = input.progress
  for (const step of steps) progress = await runStep(tenant, step, { ...input, progress })
  return { ...input, progress }
}
