import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, inject } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type App, createApp, type Substitutes } from '../../src/app/index.ts'
import { asWritten, ProvisioningError } from '../../src/core/index.ts'
import { auditKeyOf, type Database, ownSetting } from '../../src/store/index.ts'
import { type Connector, startConnector } from './connector.ts'
import { type LentStore, lendStore } from './database.ts'
import { certificate } from './microsoft365.ts'
import { prepareTenant } from './prepared-tenant.ts'
import { people, scopes, TeamsUser } from './teams-user.ts'
import { control, tokenFor } from './tenant-control.ts'

export const templates = {
  projectSite: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  workingGroup: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
  partnerSite: '2b9d4c6e-7a1f-4c3b-8e5d-9f0a1b2c3d99',
  newsSite: '8b0a0c7e-52a3-4c86-8f0f-3a1d5f1a2b22',
  openCommunity: 'd9e8f7a6-1c2b-4d3e-a4f5-6b7c8d9e0f44',
  sharedMailbox: '5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55',
  customerMailbox: '7d2f4b6a-8c0e-4f1a-9b3d-5e7f9a1b3c66',
  serviceDesk: 'a1b2c3d4-5e6f-4a7b-8c9d-0e1f2a3b4c88',
  meetingRoom: 'e1f2a3b4-2d3c-4e5f-9a8b-7c6d5e4f3a55',
  equipment: 'f3a4b5c6-4e5f-4a6b-8c7d-9e8f7a6b5c77',
} as const
export const labels = {
  public: '33333333-cccc-4ccc-8ccc-000000000001',
  internal: '33333333-cccc-4ccc-8ccc-000000000002',
  confidential: '33333333-cccc-4ccc-8ccc-000000000003',
}

export interface Service {
  readonly app: App
  readonly connector: Connector
  readonly kim: TeamsUser
  readonly dana: TeamsUser
  readonly omar: TeamsUser
  readonly sam: TeamsUser
  /** Calls the REST API as a person. */
  rest(
    who: keyof typeof people,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: Record<string, never> }>
  /** Adds a fault to the simulated tenant. */
  fault(fault: Record<string, unknown>): Promise<void>
  /**
   * Changes a person's account in the simulated directory: blocked, deleted, a guest, without a user type, or restored.
   */
  account(who: keyof typeof people, state: 'active' | 'blocked' | 'guest' | 'deleted' | 'unclassified'): Promise<void>
  /** Sets the roles that an admin has granted to the service's registration. */
  consent(resource: 'graph' | 'sharepoint' | 'exchange', roles: readonly string[]): Promise<void>
  /** Installs the app for a person by a setup policy of the simulated tenant. The bot is not notified. */
  installedByPolicy(userId: string, teamsAppId: string): Promise<void>
  /** Sets modes of the simulated tenant, such as the time until a site is ready. `null` sets the default. */
  modes(modes: Record<string, unknown>): Promise<void>
  /** Removes all faults of the simulated tenant. */
  heal(): Promise<void>
  /** Returns the calls to the simulated tenant: of one operation, or all. */
  calls(
    operation?: string,
  ): Promise<{ operation: string; status: number; at: string; body?: unknown; path: string; traceparent?: string }[]>
  /** Stops the service and starts it again with the same data. */
  restart(change?: Record<string, string>): Promise<void>
}

/** The tests' connector has no limits, so no call has to wait for it. Other tests check the pace. */
export const anyPace: NonNullable<Substitutes['chatPace']> = {
  change: async (_, decide) => decide({ sent: [], waiting: [], heldUntil: 0 }, Date.now()).result,
  count: async () => undefined,
  forgetOld: async () => undefined,
}

/**
 * Starts the whole service for the tests of a block: embedded PostgreSQL, simulated Microsoft 365, and its own
 * connector. By default the directory shows groups at once, and sites are ready at once.
 */
export function withService(
  variables: Record<string, string> = {},
  substitutes: () => Substitutes = () => ({}),
): Service {
  let app: App | undefined
  let connector: Connector | undefined
  let store: LentStore | undefined
  let dataDir = ''
  const known = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the service runs only while the tests of its block run')
    return value
  }
  const base = {
    PORT: '0',
    SIMULATOR_PORT: '0',
    SIMULATOR_DIRECTORY_SECONDS: '0',
    PLAYGROUND: 'off',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    RATE_LIMIT_WRITES_PER_MINUTE: '0',
    RATE_LIMIT_READS_PER_MINUTE: '0',
    RATE_LIMIT_TENANT_WRITES_PER_MINUTE: '0',
    OPEN_REQUESTS_PER_PERSON: '0',
    // Digests depend on the time of day. Other tests check them.
    DIGEST_HOUR: 'off',
  }
  const start = async (database: Database, change: Record<string, string> = {}) => {
    app = await createApp(readConfig({ ...base, DATA_DIR: dataDir, ...variables, ...change }), {
      chatPace: anyPace,
      connectorUrl: known(connector).url,
      refusalsPerMinute: 0,
      database: untilClosed(database),
      // The tests count the calls to Microsoft 365.
      reportsAccess: false,
      ...substitutes(),
    })
  }
  const user = (name: keyof typeof people) => new TeamsUser(() => known(app).url, known(connector), people[name])
  const users = new Map<string, TeamsUser>()
  const userOnce = (name: keyof typeof people) => {
    const made = users.get(name) ?? user(name)
    users.set(name, made)
    return made
  }
  beforeAll(async () => {
    dataDir = mkdtempSync(join(inject('runFolder'), 'service-'))
    await prepareTenant(dataDir)
    store = await lendStore()
    await ownSetting(store.database, 'local-certificate', () => JSON.stringify(certificate))
    if (!('AUDIT_SECRET' in variables)) auditKeyOf(dataDir, undefined)
    connector = await startConnector()
    await start(store.database)
  })
  afterAll(async () => {
    await app?.close()
    await store?.giveBack()
    await connector?.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const simulatorUrl = () => known(known(app).endpoints.simulator).url
  return {
    get app() {
      return known(app)
    },
    get connector() {
      return known(connector)
    },
    get kim() {
      return userOnce('kim')
    },
    get dana() {
      return userOnce('dana')
    },
    get omar() {
      return userOnce('omar')
    },
    get sam() {
      return userOnce('sam')
    },
    async rest(who, method, path, body, headers = {}) {
      const token = await tokenFor(simulatorUrl(), people[who].id, scopes.collab)
      const response = await fetch(`${known(app).url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
    },
    async fault(fault) {
      await control(simulatorUrl(), 'POST', 'faults', { count: 1, ...fault })
    },
    async account(who, state) {
      await control(simulatorUrl(), 'POST', 'accounts', { userId: people[who].id, state })
    },
    async consent(resource, roles) {
      await control(simulatorUrl(), 'POST', 'consents', { resource, roles })
    },
    async installedByPolicy(userId, teamsAppId) {
      await control(simulatorUrl(), 'POST', 'installed-apps', { userId, teamsAppId })
    },
    async modes(modes) {
      await control(simulatorUrl(), 'POST', 'tenant', modes)
    },
    async heal() {
      await control(simulatorUrl(), 'DELETE', 'faults')
    },
    async calls(operation) {
      const query = operation === undefined ? '' : `?operation=${operation}`
      const answer = (await control(simulatorUrl(), 'GET', `calls${query}`)) as { value: [] }
      return Array.isArray(answer) ? answer : answer.value
    },
    async restart(change = {}) {
      await known(app).close()
      await start(await known(store).reopen(), change)
    },
  }
}

/** Returns a store that its service can close like its own: pending work can no longer use it after that. */
function untilClosed(database: Database): Database {
  let isClosed = false
  const open = (): Database => {
    const away = 'The database does not answer.'
    if (isClosed) throw new ProvisioningError('unavailable', asWritten(away), { cause: new Error('closed') })
    return database
  }
  return {
    ...database,
    query: async (...statement) => open().query(...statement),
    read: async (...statement) => open().read(...statement),
    transaction: async (work) => open().transaction(work),
    endingWith: async (work) => open().endingWith(work),
    ping: async () => open().ping(),
    close: async () => {
      isClosed = true
    },
  }
}
