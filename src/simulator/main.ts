import '../private-umask.ts'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSimulator } from './index.ts'

const env = process.env

/** `npm run simulator`: runs the simulated tenant alone until SIGINT or SIGTERM. */
async function main(): Promise<void> {
  const tenant = env['SIMULATOR_TENANT'] || 'contoso'
  if (tenant !== 'contoso' && tenant !== 'empty')
    throw new Error(`SIMULATOR_TENANT must be contoso or empty, not '${tenant}'.`)
  const dataDir = env['DATA_DIR'] || 'data'
  const simulator = await startSimulator({
    tenant,
    dataDir,
    port: numberOf('SIMULATOR_PORT', 3979),
    employees: numberOf('SIMULATOR_EMPLOYEES', 0),
    directorySeconds: numberOf('SIMULATOR_DIRECTORY_SECONDS', 15),
    directoryExtension: env['DIRECTORY_EXTENSION'] ?? 'svc_group',
    baseUrl: serviceUrl(),
  })
  console.log(`LOGIN_URL=${simulator.loginUrl}`)
  console.log(`DIRECTORY_URL=${simulator.directoryUrl}`)
  console.log(`SHAREPOINT_URL=${simulator.sharePointUrl}`)
  console.log(`EXCHANGE_URL=${simulator.exchangeUrl}`)
  // `npm run token` reads the address from this file.
  const file = join(dataDir, 'running.json')
  writeFileSync(file, `${JSON.stringify({ simulator: simulator.url })}\n`)
  const end = () => {
    rmSync(file, { force: true })
    simulator.close().catch(fail)
  }
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
}

/**
 * Returns the address of the service that `npm start` runs with the same environment. The service itself reports an
 * invalid value.
 */
const serviceUrl = (): string =>
  /^https?:\/\//.exec(env['BASE_URL'] ?? '')?.input.replace(/\/+$/, '') ?? `http://127.0.0.1:${env['PORT'] || 3978}`

function numberOf(name: string, otherwise: number): number {
  const value = Number(env[name] || otherwise)
  if (Number.isFinite(value) && value >= 0) return value
  throw new Error(`${name} must be a number, not '${env[name]}'.`)
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

main().catch(fail)
