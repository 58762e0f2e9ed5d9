import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, inject } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import samples from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { startConnector } from './connector.ts'
import { emptyStore } from './database.ts'
import { type ProductProcess, startProduct } from './process.ts'
import { people, scopes, TeamsUser } from './teams-user.ts'
import { control, tokenFor } from './tenant-control.ts'

/** The objects in the simulated tenant for one request, read from its own file. */
export interface Made {
  readonly unifiedGroups: number
  readonly securityGroups: number
  readonly sites: number
  readonly mailboxes: number
}

/**
 * Starts the product as in production, each part in its own process: `node src/main.ts` and `node
 * src/simulator/main.ts`. Only the chats (connector) are in the test's process.
 */
export function withProcesses() {
  let world: Awaited<ReturnType<typeof open>> | undefined
  beforeAll(async () => {
    world = await open()
    await world.start()
  })
  afterAll(() => world?.close())
  return () => {
    if (!world) throw new Error('the processes run only while the tests of their block run')
    return world
  }
}

async function open() {
  const folder = mkdtempSync(join(inject('runFolder'), 'processes-'))
  const dataDir = join(folder, 'service')
  const tenantDir = join(folder, 'tenant')
  mkdirSync(tenantDir)
  cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const connector = await startConnector()
  const simulator = await startProduct('simulator/main.ts', {
    cwd: tenantDir,
    variables: { DATA_DIR: tenantDir, SIMULATOR_PORT: String(await freePort()), SIMULATOR_DIRECTORY_SECONDS: '0' },
    up: /^EXCHANGE_URL=/,
  })
  const tenantUrls = Object.fromEntries(simulator.printed.map((line) => line.split('=') as [string, string]))
  const tenantUrl = tenantUrls['LOGIN_URL'] ?? ''
  const templatesFile = join(folder, 'templates.json')
  writeFileSync(templatesFile, JSON.stringify(samples))
  let service: ProductProcess | undefined
  let posting: Promise<string> | undefined

  return {
    connector,
    dana: new TeamsUser(() => url, connector, people.dana),
    /** Starts the service, also again with the same data and address. */
    async start() {
      const own = { PORT: String(port), BASE_URL: url, DATA_DIR: dataDir, PLAYGROUND: 'off', LOG_LEVEL: logLevel }
      const limits = { RATE_LIMIT_WRITES_PER_MINUTE: '0', OPEN_REQUESTS_PER_PERSON: '0' }
      const all = { ...own, ...limits, TEMPLATES_FILE: templatesFile, ...tenantUrls }
      service = await startProduct('main.ts', { cwd: dataDir, variables: all, up: /^Quartermaster answers/ })
    },
    /** Stops the service (SIGTERM), and returns its exit code. */
    async stop() {
      const code = (await service?.stop()) ?? null
      service = undefined
      return code
    },
    /** Sends a `POST` of the REST API as Kim, and returns any answer. */
    async post(path: string, body: object) {
      posting ??= tokenFor(tenantUrl, people.kim.id, scopes.collab)
      const headers = { authorization: `Bearer ${await posting}`, 'content-type': 'application/json' }
      return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    },
    /** Sends a `GET` of the REST API as Kim. */
    async get(path: string) {
      const token = await tokenFor(tenantUrl, people.kim.id, scopes.collab)
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as Record<string, unknown>
    },
    fault: (fault: Record<string, unknown>) => control(tenantUrl, 'POST', 'faults', { count: 1, ...fault }),
    async healthy() {
      connector.healthy()
      await control(tenantUrl, 'DELETE', 'faults')
    },
    made: (requestId: string, displayName: string, alias: string) =>
      madeIn(join(tenantDir, 'simulator.sqlite'), requestId, displayName, alias),
    async close() {
      await service?.kill()
      await simulator.kill()
      await connector.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const logLevel = process.env['TEST_LOG_LEVEL'] ?? 'fatal'

/** Counts objects by every mark that a duplicate could have: key, name, address, request id. */
export function madeIn(file: string, requestId: string, displayName: string, alias: string): Made {
  const tenant = new DatabaseSync(file, { readOnly: true })
  const count = (sql: string, ...values: string[]): number => Number(tenant.prepare(sql).get(...values)?.['n'])
  try {
    return {
      unifiedGroups: count(
        `select count(*) as n from groups where unified = 1
         and (unique_name = ? or doc ->> 'displayName' = ? or mail_nickname = ?)`,
        requestId,
        displayName,
        alias,
      ),
      securityGroups: count(
        `select count(*) as n from groups where unified = 0
         and (unique_name like ? || '%' or doc ->> 'displayName' = ? or extension ->> 'requestId' = ?)`,
        requestId,
        `SPO-${alias}`,
        requestId,
      ),
      mailboxes: count(
        `select count(*) as n from mailboxes where doc ->> 'displayName' = ? or name = ?
         or doc ->> '$.mailbox.CustomAttribute15' = ?
         or id in (select mailbox_id from mailbox_addresses where address = ?)`,
        displayName,
        alias,
        requestId,
        `${alias}@contoso.example`,
      ),
      sites: count(`select count(*) as n from sites where doc ->> 'title' = ? or path = ?`, displayName, alias),
    }
  } finally {
    tenant.close()
  }
}
