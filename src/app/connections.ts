import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { apiTexts } from '../cards/index.ts'
import {
  type Ports,
  reasonOfIssue,
  type Settings,
  seedTemplates,
  type Telemetry,
  type Template,
  type Tenant,
  templateWithin,
} from '../core/index.ts'
import {
  type CallLog,
  type ClientCertificate,
  connectMicrosoft365,
  localCertificate,
  readCertificateFile,
  serviceNames,
} from '../microsoft365/index.ts'
import { auditKeyOf, chainExisting, type Database, migrate, ownSetting, type Stores } from '../store/index.ts'
import { type Endpoints, readJsonFile } from './endpoints.ts'
import type { Logger } from './log.ts'
import type { Environment } from './settings.ts'

/** Migrates the store to this version, and returns the key of the audit's seals. */
export async function openAudit(database: Database, config: Environment, { dataDir }: Endpoints, log: Logger) {
  const { key, isNew } = auditKeyOf(dataDir, config.AUDIT_SECRET)
  const ran = await migrate(database, undefined, { 7: () => chainExisting(database, key) })
  if (isNew && !ran.includes(7))
    log.warn({}, 'a key for the audit was made: what was sealed with another is not proved')
  return key
}

/** The certificate that the service signs in with: of its file, or in local mode one that `local` keeps, as JSON. */
export const certificateOf = async (config: Environment, local: () => Promise<string>): Promise<ClientCertificate> =>
  config.CLIENT_CERTIFICATE_PATH
    ? readCertificateFile(config.CLIENT_CERTIFICATE_PATH, config.CLIENT_CERTIFICATE_PASSWORD)
    : z.object({ privateKey: z.string(), thumbprintSha256: z.string() }).parse(JSON.parse(await local()))

/** Connects to Microsoft 365. Each function of `callLogs` gets each call. */
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

/** Logs what keeps the service from working in the tenant, with the text of `admin health`, before the first request. */
export async function reportAccess(tenant: Tenant, log: Logger): Promise<void> {
  for (const { name, problem } of await tenant.health()) if (problem !== undefined) log.warn({ service: name }, problem)
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

/** Undefined in local mode without an app id: then the bot listens on loopback only, and requires no tokens. */
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

/** Stores the templates of the file that the store does not have yet. The error of a faulty file names the place. */
export async function seed(ports: Ports, settings: Settings, endpoints: Endpoints): Promise<void> {
  await seedTemplates(ports, endpoints.tenantId, await templatesOf(settings, endpoints))
}

/** The templates of the file, none without one. Throws an error that names the place of a fault. */
export async function templatesOf(
  settings: Pick<Settings, 'webhookAllowCidrs'>,
  { templatesFile }: Pick<Endpoints, 'templatesFile'>,
): Promise<Template[]> {
  if (templatesFile === undefined) return []
  const parsed = z.array(templateWithin(settings.webhookAllowCidrs)).safeParse(await readJsonFile(templatesFile))
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) =>
      issue.code === 'custom' ? { ...issue, message: apiTexts.reason(reasonOfIssue(issue)) } : issue,
    )
    throw new Error(`TEMPLATES_FILE ${templatesFile} is not right:\n${z.prettifyError({ issues })}`)
  }
  return parsed.data
}

/** A secret that signs webhooks: 256 bits. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
