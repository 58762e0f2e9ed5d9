import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { openTokens } from '../../src/simulator/login/index.ts'
import { openTenant } from '../../src/simulator/tenant/index.ts'

const file = 'simulator.sqlite'
let prepared: Promise<string> | undefined

/**
 * Adds tables and a signing key to a new data folder of the simulator. The tests of a worker share the key, because
 * creating one takes longer than most tests. A folder with a tenant keeps it.
 */
export async function prepareTenant(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, file))) return
  prepared ??= prepare()
  const source = await prepared
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  copyFileSync(source, join(dataDir, file))
}

async function prepare(): Promise<string> {
  const folder = mkdtempSync(join(inject('runFolder'), 'tenant-'))
  const tenant = openTenant(folder)
  await openTokens(tenant)
  tenant.close()
  return join(folder, file)
}
