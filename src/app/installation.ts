import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import {
  type AuditKeyFacts,
  adminsOf,
  type BotTokenFacts,
  because,
  type DatabaseFacts,
  type Directory,
  type EndpointFacts,
  type Installation,
  parsedJson,
  type Settings,
  TenantError,
} from '../core/index.ts'
import { type Microsoft365, tryBotSecret } from '../microsoft365/index.ts'
import { clouds } from './addresses.ts'
import { keyProbe, keySource } from './audit-key.ts'
import { credentialsOf } from './connections.ts'
import type { Endpoints } from './endpoints.ts'
import { ownVersion } from './readiness.ts'
import type { Environment } from './settings.ts'

interface InstallationParts {
  readonly config: Environment
  readonly endpoints: Endpoints
  readonly settings: Pick<Settings, 'admins'>
  readonly microsoft365: Pick<Microsoft365, 'probes' | 'directory'>
  readonly fetch: typeof fetch
  database(): Promise<DatabaseFacts>
  auditKey(): Promise<AuditKeyFacts>
}

/** Creates the core's port of checks of the installation. */
export function createInstallation(parts: InstallationParts): Installation {
  const { config, endpoints, microsoft365, settings, database, auditKey, fetch } = parts
  const { probes, directory } = microsoft365
  return {
    ...{ permissions: probes.permissions, siteHosts: probes.siteHosts, adminHosts: probes.adminHosts },
    ...{ extension: probes.extension, cmdlets: probes.cmdlets, database },
    auditKey: async () => keyProbe(await auditKey(), keySource(endpoints.dataDir, config.AUDIT_SECRET)),
    botToken: () => tryBotToken(config, endpoints, fetch),
    endpoint: (signal) => askEndpoint(endpoints, serviceIdOf(config, endpoints), { fetch, signal }),
    async catalogueApp(signal) {
      if (endpoints.teamsAppId === undefined) return 'notSet'
      const found = await probes.catalogueApp(await someAdmins(directory, settings), signal)
      return typeof found === 'string' ? found : { ...found, ownVersion: await ownAppVersion() }
    },
  }
}

/** Returns admins who may have the app; an empty list if the directory does not answer, so that the catalogue is still read. */
const maxAdmins = 5
const someAdmins = (directory: Directory, settings: Pick<Settings, 'admins'>): Promise<string[]> =>
  adminsOf({ directory }, settings).then(
    (all) => all.slice(0, maxAdmins).map(({ id }) => id),
    () => [],
  )

/** Gets a token for the Bot connector with the bot's own secret, as its adapter does. */
async function tryBotToken(
  config: Environment,
  endpoints: Endpoints,
  fetch: typeof globalThis.fetch,
): Promise<BotTokenFacts> {
  const credentials = credentialsOf(config, endpoints)
  if (!credentials) return 'notNeeded'
  const { appId: clientId, password: secret, tenantId, type } = credentials
  if (type === 'UserAssignedMSI' || secret === undefined) return 'managed'
  const { audience: resource } = clouds[config.CLOUD].connector
  try {
    await tryBotSecret({ loginUrl: endpoints.loginUrl, tenantId, clientId, secret, resource, fetch })
    return { name: 'MICROSOFT_APP_PASSWORD' }
  } catch (error) {
    if (!(error instanceof TenantError)) throw error
    const code = /AADSTS\d+/.exec(error.message)?.[0] ?? error.code
    const problem = error.retryable ? error.reason : because('secretRefused', { error: code })
    return { name: 'MICROSOFT_APP_PASSWORD', problem, trouble: error.retryable ? 'unreachable' : 'refused' }
  }
}

/**
 * Returns the id of this installation at /healthz: a digest of its registrations, the same for all replicas and for the check
 * command. It shows whether BASE_URL leads to this installation.
 */
export function serviceIdOf(config: Pick<Environment, 'MICROSOFT_APP_ID'>, { tenantId, clientId }: Endpoints): string {
  const parts = ['quartermaster', tenantId, clientId, config.MICROSOFT_APP_ID ?? 'local']
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 22)
}

const health = z.object({ status: z.string(), service: z.string() })

/** Reads the health at BASE_URL over the network, as Microsoft's bot service would. */
async function askEndpoint(
  { baseUrl }: Pick<Endpoints, 'baseUrl'>,
  serviceId: string,
  { fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal },
): Promise<EndpointFacts> {
  const url = `${baseUrl}/healthz`
  const limit = AbortSignal.any([signal, AbortSignal.timeout(8000)])
  try {
    const response = await fetch(url, { redirect: 'manual', signal: limit, headers: { accept: 'application/json' } })
    const { status } = response
    // A proxy answers with these statuses while no service runs behind it.
    if ([502, 503, 504].includes(status))
      return { answer: 'none', problem: because('addressAnswered', { url, status }) }
    const body = await response.text().catch(() => '')
    const { data } = health.safeParse(parsedJson(body.slice(0, 10_000)))
    if (data?.service === serviceId) return { answer: 'own' }
    const problem = data ? because('addressOfOther', { url }) : because('addressNotOurs', { url, status })
    return { answer: 'other', problem }
  } catch (error) {
    const { code } = Object(Object(error).cause)
    const why = typeof code === 'string' ? code : limit.aborted ? 'late' : 'none'
    const isUntrusted = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(why)
    return { answer: isUntrusted ? 'other' : 'none', problem: because('addressUnreachable', { url, error: why }) }
  }
}

/** Returns the version of the app package by the part of its content that all organisations share. */
async function ownAppVersion(): Promise<string> {
  const version = await ownVersion()
  const file = new URL('../../manifest/content.json', import.meta.url)
  const { data } = z.object({ number: z.int() }).safeParse(parsedJson(await readFile(file, 'utf8').catch(() => '')))
  return data ? `${version.split('.')[0]}.${data.number}` : version
}
