import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startBareConnector } from '../bench/chat.ts'
import { variablesOf } from '../bench/places.ts'
import { type RunningService, startFlags, startService, startTenant } from '../bench/service.ts'
import { sendLoad } from '../bench/soak.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { countData, snapshotFlags } from '../support/heap-snapshot.ts'
import { until } from '../support/until.ts'

const leak = fileURLToPath(new URL('../support/leak.ts', import.meta.url))
/**
 * Objects that may stay for each turn. The number of objects that work in progress holds varies by some thousands, so a
 * leak has to be larger than that after a thousand turns. One HTTP request consists of some hundred objects.
 */
const most = 16

describe.each(['embedded', 'server'] as const)('memory of the service with the store %s', (engine) => {
  const folder = mkdtempSync(join(inject('runFolder'), 'memory-'))
  const [dataDir, snapshots, tenantDir] = ['data', 'snapshots', 'tenant'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  let connector: Awaited<ReturnType<typeof startBareConnector>>
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let service: RunningService

  beforeAll(async () => {
    for (const each of [dataDir, snapshots, tenantDir]) mkdirSync(each)
    connector = await startBareConnector()
    tenant = await startTenant(tenantDir)
    const place = { dataDir, ...(engine === 'server' ? { databaseUrl: await newDatabaseUrl() } : {}) }
    const flags = [...startFlags(), ...snapshotFlags(snapshots), `--import=${leak}`]
    service = await startService(dataDir, { ...variablesOf(place), ...tenant.urls }, 'main.ts', flags)
    await load(400, 40)
  })
  afterAll(async () => {
    await service?.stop()
    await tenant?.kill()
    await connector?.close()
  })

  const load = (turns: number, requests: number) =>
    sendLoad({ service, tenantUrl: tenant.url, serviceUrl: connector.url }, { turns, requests })
  const isReady = async () => (await fetch(`${service.url}/readyz`).catch(() => undefined))?.ok
  /** The service closes connections that were idle while it wrote the snapshot. */
  const settled = async () => {
    await until(isReady, 'the service', 60)
    await setTimeout(500)
  }
  const data = () => countData(service.process.pid ?? 0, snapshots, settled)
  /**
   * The number of objects that each of `count` turns leaves. Code that runs for the first time grows once; a leak grows
   * again with as many further turns.
   */
  const keptBy = async (count: number, call: () => Promise<void>): Promise<number> => {
    const counts = [await data()]
    let kept = 0
    for (let round = 0; round < 2; round += 1) {
      await call()
      counts.push(await data())
      kept = ((counts.at(-1) ?? 0) - (counts.at(-2) ?? 0)) / count
      if (kept < most) return kept
    }
    return kept
  }

  it('does not grow with turns and requests', async () => {
    expect(await keptBy(1000, () => load(1000, 100))).toBeLessThan(most)
  })

  it('grows when the process keeps each HTTP request', async () => {
    process.kill(service.process.pid ?? 0, 'SIGPWR')
    await until(() => service.process.printed.includes('this process leaks now'), 'the leak', 10)
    expect(await keptBy(500, () => load(500, 0))).toBeGreaterThan(most)
  })
})
