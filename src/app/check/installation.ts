import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AuditKeyFacts,
  asWritten,
  type CheckContext,
  compareKey,
  type DatabaseFacts,
  type InstallationPorts,
  type Template,
} from '../../core/index.ts'
import { connectMicrosoft365, localCertificate, type Microsoft365 } from '../../microsoft365/index.ts'
import {
  compareAuditKey,
  createStores,
  type Database,
  databaseFacts,
  keyFile,
  openDatabase,
  readKey,
  StoreInUse,
} from '../../store/index.ts'
import { tenantAddresses } from '../config.ts'
import { certificateOf } from '../connections.ts'
import { type Endpoints, findEndpoints, settingsOf } from '../endpoints.ts'
import { createInstallation } from '../installation.ts'
import type { Environment } from '../settings.ts'
import { templatesInFile } from '../templates-file.ts'

/** An installation that was opened to check it, without starting the service. */
export interface OpenInstallation {
  readonly context: CheckContext<InstallationPorts>
  readonly endpoints: Endpoints
  readonly microsoft365: Microsoft365
  close(): Promise<void>
}

/** How an installation is opened. `fetch` sends all calls. */
interface OpenOptions {
  readonly fetch: typeof fetch
  readonly warn: (message: string) => void
}

/**
 * Opens the installation as the service does at its start, but changes nothing: it does not migrate the database, and creates no
 * embedded store. It closes the store at once, so the service may start meanwhile.
 */
export async function openInstallation(
  environment: Environment,
  { fetch, warn }: OpenOptions,
): Promise<OpenInstallation> {
  const config = await withRunningSimulator(environment, fetch)
  const endpoints = await findEndpoints(config, warn)
  try {
    const settings = settingsOf(config, endpoints, new Uint8Array(32))
    const store = await readStore(config, endpoints)
    const microsoft365 = connectMicrosoft365({
      ...endpoints,
      certificate: await certificateOf(config, async () => JSON.stringify(localCertificate())),
      certificatePath: config.CLIENT_CERTIFICATE_PATH,
      certificatePassword: config.CLIENT_CERTIFICATE_PASSWORD,
      fetch,
    })
    const installation = createInstallation({
      ...{ config, endpoints, settings, microsoft365, fetch },
      database: async () => store.facts,
      auditKey: async () => store.auditKey ?? unreadable(),
    })
    const ports: InstallationPorts = {
      clock: { now: () => new Date() },
      connection: microsoft365.connection,
      directory: microsoft365.directory,
      tenant: microsoft365.tenant,
      serviceCalls: { lately: async () => [] },
      templates: { list: async () => store.templates ?? storedLater(store.facts, endpoints) },
      installation,
    }
    return { context: { ports, settings }, endpoints, microsoft365, close: async () => endpoints.simulator?.close() }
  } catch (error) {
    await endpoints.simulator?.close()
    throw error
  }
}

/** Returns the templates that the first start will store. A running service may have other templates, which are unreadable here. */
function storedLater(facts: DatabaseFacts, { templatesFile, webhookAllowCidrs }: Endpoints): Template[] {
  const isElsewhere = facts.engine === 'embedded' && facts.use === 'elsewhere'
  if (isElsewhere || 'problem' in facts) unreadable()
  return templatesInFile(templatesFile, webhookAllowCidrs)
}

function unreadable(): never {
  throw new Error('Cannot read the store now.')
}

/** In local mode, uses the simulator of a running service as the tenant. */
async function withRunningSimulator(config: Environment, fetch: typeof globalThis.fetch): Promise<Environment> {
  if (config.MODE !== 'local' || tenantAddresses.some((name) => config[name] !== undefined)) return config
  const url = `http://127.0.0.1:${config.SIMULATOR_PORT}`
  const answers = await fetch(`${url}/control/tenant`, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!answers) return config
  const addresses = { LOGIN_URL: url, DIRECTORY_URL: url, EXCHANGE_URL: url, SHAREPOINT_ADMIN_URL: url }
  return { ...config, ...addresses, SHAREPOINT_URL: [url] }
}

/** Facts from the store, as far as it can be read. `templates`: absent before the first start. */
interface StoreFacts {
  readonly facts: DatabaseFacts
  readonly templates?: readonly Template[] & Template[]
  /** Absent while the store cannot be read. */
  readonly auditKey?: AuditKeyFacts
}

async function readStore(config: Environment, { dataDir, tenantId }: Endpoints): Promise<StoreFacts> {
  const databaseUrl = config.DATABASE_URL
  const isNew = databaseUrl === undefined && !existsSync(join(dataDir, 'postgres', 'PG_VERSION'))
  const key = config.AUDIT_SECRET ? Buffer.from(config.AUDIT_SECRET, 'base64') : readKey(keyFile(dataDir))
  if (isNew)
    return { facts: { engine: 'embedded', use: 'new' }, auditKey: compareKey(key, { recorded: undefined, heads: [] }) }
  try {
    const database = await openDatabase({ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) })
    try {
      const facts = await databaseFacts(database, databaseUrl)
      const templates = await storedTemplates(database, tenantId)
      const auditKey = await compareAuditKey((sql) => database.query(sql), key)
      return { facts, auditKey, ...(templates && { templates }) }
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof StoreInUse) return { facts: { engine: 'embedded', use: 'elsewhere' } }
    const problem = asWritten(error instanceof Error ? error.message : String(error))
    if (databaseUrl === undefined) throw error
    return { facts: { engine: 'server', problem } }
  }
}

async function storedTemplates(database: Database, tenantId: string): Promise<Template[] | undefined> {
  const { rows } = await database.query<{ there: boolean }>(`select to_regclass('templates') is not null as there`)
  return rows[0]?.there ? createStores(database).templates.list(tenantId) : undefined
}
