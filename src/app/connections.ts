import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { apiTexts } from '../cards/index.ts'
import { type Installation, judgeExtension, sentenceOf, type Telemetry, type Tenant } from '../core/index.ts'
import {
  type CallLog,
  type ClientCertificate,
  connectMicrosoft365,
  localCertificate,
  readCertificateFile,
  serviceNames,
} from '../microsoft365/index.ts'
import {
  auditKeyOf,
  chainExisting,
  compareAuditKey,
  type Database,
  migrate,
  ownSetting,
  recordAuditKey,
  type Stores,
} from '../store/index.ts'
import { keyProblem, keyRemedy, keySource } from './audit-key.ts'
import type { Endpoints } from './endpoints.ts'
import type { Logger } from './log.ts'
import type { Environment } from './settings.ts'

/**
 * Migrates the store to this version and returns the audit key. If the key is not the key of the store, production throws
 * and changes nothing, and local mode logs a warning.
 */
export async function openAudit(database: Database, config: Environment, { dataDir }: Endpoints, log: Logger) {
  const { AUDIT_SECRET: secret, MODE: mode } = config
  const key = auditKeyOf(dataDir, secret)
  const problemNow = async () =>
    keyProblem(await compareAuditKey((sql) => database.query(sql), key), keySource(dataDir, secret))
  const refuse = (problem: string | undefined) => {
    if (problem !== undefined && mode === 'production') throw new Error(`${problem} ${keyRemedy}`)
  }
  let problem = await problemNow()
  refuse(problem)
  await migrate(database, undefined, { 7: () => chainExisting(database, key) })
  // Another process may have recorded its key in the meantime.
  if (problem === undefined && !(await recordAuditKey(database, key))) problem = await problemNow()
  refuse(problem)
  if (problem !== undefined) log.warn({}, `${problem} ${keyRemedy}`)
  return key
}

/** Returns the certificate for the service's sign-in: from its file, or in local mode from `local`, as JSON. */
export const certificateOf = async (config: Environment, local: () => Promise<string>): Promise<ClientCertificate> =>
  config.CLIENT_CERTIFICATE_PATH
    ? readCertificateFile(config.CLIENT_CERTIFICATE_PATH, config.CLIENT_CERTIFICATE_PASSWORD)
    : z.object({ privateKey: z.string(), thumbprintSha256: z.string() }).parse(JSON.parse(await local()))

/** Connects to Microsoft 365. All `callLogs` get each call. */
export async function connectTenant(
  config: Environment,
  endpoints: Endpoints,
  database: Database,
  outgoing: typeof fetch,
  { log, callLogs }: { log: Logger; callLogs: readonly CallLog[] },
) {
  const certificate = await certificateOf(config, () =>
    ownSetting(database, 'local-certificate', () => JSON.stringify(localCertificate())),
  )
  const warn = (message: string, fields: object) => log.warn(fields, message)
  return connectMicrosoft365({
    ...endpoints,
    certificate,
    certificatePath: config.CLIENT_CERTIFICATE_PATH,
    certificatePassword: config.CLIENT_CERTIFICATE_PASSWORD,
    fetch: outgoing,
    warn,
    log: (entry) => {
      for (const callLog of callLogs) callLog(entry)
    },
  })
}

/** Logs missing permissions and other obstacles in the tenant at start-up, with the texts of `admin health`. */
export async function reportAccess(
  tenant: Tenant,
  { extension }: Pick<Installation, 'extension'>,
  log: Logger,
): Promise<void> {
  for (const { name, problem } of await tenant.health()) if (problem) log.warn({ service: name }, sentenceOf(problem))
  for (const part of judgeExtension(await extension(AbortSignal.timeout(15_000))))
    if (part.state === 'red') log.warn({ setting: 'DIRECTORY_EXTENSION' }, apiTexts.healthPart(part))
}

/** Counts the calls to Microsoft 365 in the store, for the health of all processes. */
export const countedIn =
  (counts: Stores['serviceCalls']): CallLog =>
  ({ service, outcome }) => {
    const name = serviceNames[service]
    if (name) counts.count({ service: name, outcome })
  }

/** Counts the calls to Microsoft 365 in the metrics. */
export const measuredBy =
  (telemetry: Telemetry): CallLog =>
  ({ service, purpose, status, milliseconds }) =>
    telemetry.serviceCalled({ service, purpose, status, seconds: milliseconds / 1000 })

/** Returns the bot's credentials; undefined in local mode without an app id: the bot then requires no tokens. */
export function credentialsOf(config: Environment, { tenantId }: Endpoints) {
  const appId = config.MICROSOFT_APP_ID
  if (appId === undefined) return undefined
  return {
    appId,
    password: config.MICROSOFT_APP_PASSWORD,
    tenantId: config.MICROSOFT_APP_TENANT_ID ?? tenantId,
    type: config.MICROSOFT_APP_TYPE,
  }
}

export function tokensOf({ loginUrl, tenantId, collab, mail, mailAppClients }: Endpoints) {
  const authority = `${loginUrl}/${tenantId}`
  return {
    authority,
    ...{ tenantId, issuers: [`${authority}/v2.0`, `https://sts.windows.net/${tenantId}/`] },
    jwksUrl: `${authority}/discovery/v2.0/keys`,
    collab,
    mail,
    mailAppClients: [...mailAppClients],
  }
}

/** A secret that signs webhooks: 256 bits. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
