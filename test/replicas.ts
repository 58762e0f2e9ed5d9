import '../src/private-umask.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type ReplicaSet, startDatabase, startReplicas, startTenant } from './support/replica-set.ts'

/** `npm run replicas -- 3`: several processes of the service over one PostgreSQL server, behind one address. */
async function main(): Promise<void> {
  const count = Number(process.argv[2] ?? 3)
  if (!Number.isInteger(count) || count < 1 || count > 20) throw new Error('npm run replicas -- <number from 1 to 20>')
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-replicas-'))
  const databaseUrl = process.env['DATABASE_URL']
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  // Stops the parts in the reverse order of their start.
  const end = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    const database = databaseUrl ? { url: databaseUrl, stop: async () => undefined } : await startDatabase(folder)
    stops.push(database.stop)
    // An existing database needs the existing tenant.
    const dataDir = databaseUrl ? (process.env['DATA_DIR'] ?? 'data') : folder
    const tenant = await startTenant(process.cwd(), { ...process.env, DATA_DIR: dataDir })
    stops.push(tenant.stop)
    const env = { ...process.env, ...tenant.variables, DATA_DIR: dataDir, DATABASE_URL: database.url }
    const port = Number(process.env['PORT'] ?? 3978)
    const replicas = await startReplicas({ count, port, cwd: process.cwd(), env, log: console.log })
    stops.push(replicas.stop)
    announce(replicas, tenant.variables['LOGIN_URL'], databaseUrl ? 'yours (DATABASE_URL)' : database.url)
    handleSignals(replicas, end)
  } catch (error) {
    await end()
    throw error
  }
}

function announce(replicas: ReplicaSet, tenantUrl: string | undefined, databaseUrl: string): void {
  console.log(`Quartermaster answers at ${replicas.proxy.url}, with these replicas in turn:`)
  for (const [replica, url] of replicas.urls.entries())
    console.log(`  replica ${replica + 1}: ${url}, process ${replicas.pid(replica)}`)
  console.log(`PostgreSQL: ${databaseUrl}`)
  console.log(`Microsoft 365, simulated: ${tenantUrl}`)
  console.log('\nr and Enter, or SIGHUP, restarts one after another; a killed replica starts again. Ctrl-C stops all.')
}

/** The first signal stops all parts in order, a second one at once. */
function handleSignals(replicas: ReplicaSet, end: () => Promise<void>): void {
  let state: 'running' | 'restarting' | 'ending' = 'running'
  const fail = (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
  const restart = async () => {
    if (state !== 'running') return
    state = 'restarting'
    console.log('Restarting one after another.')
    await replicas.restartAll()
    if (state === 'restarting') state = 'running'
    console.log('All replicas have restarted.')
  }
  const stop = async () => {
    if (state === 'ending') process.exit(1)
    state = 'ending'
    console.log('Stopping.')
    await end()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop().catch(fail))
  process.on('SIGHUP', () => void restart().catch(fail))
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line.trim() === 'r') restart().catch(fail)
  })
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
