import { fileURLToPath } from 'node:url'
import { exportKeyOf, type Settings } from '../core/index.ts'
import type { Api } from '../http/index.ts'
import type { Simulator } from '../simulator/index.ts'
import { makePrivate } from '../store/index.ts'
import { clouds } from './addresses.ts'
import { apiOf, ConfigurationError, tenantAddresses } from './config.ts'
import { freePort } from './free-port.ts'
import type { Environment } from './settings.ts'
import { allowedNetworks } from './templates-file.ts'

/** All addresses and ids. In local mode, the simulator and Contoso's samples fill the gaps of the environment. */
export interface Endpoints {
  readonly local: boolean
  readonly port: number
  readonly host: string
  readonly baseUrl: string
  readonly dataDir: string
  readonly tenantId: string
  readonly clientId: string
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly sharePointUrl: string
  readonly sharePointAdminUrl: string
  /** The other hosts of a multi-geo tenant. */
  readonly otherSharePointHosts: readonly { readonly url: string; readonly adminUrl: string }[]
  readonly exchangeUrl: string
  readonly directoryExtension: string
  /** The bot's app in the organisation's catalogue: it is installed for approvers who have no chat with the bot. */
  readonly teamsAppId: string | undefined
  readonly admins: readonly string[]
  /** Private networks that webhooks of templates may use. */
  readonly webhookAllowCidrs: readonly string[]
  readonly templatesFile: string | undefined
  /** The two APIs with their accepted audiences and scopes. */
  readonly collab: Api
  readonly mail: Api
  /** Client ids of the applications that may request mailboxes without a person. */
  readonly mailAppClients: readonly string[]
  /** The registration with which people sign in on /docs. */
  readonly docsClientId: string | undefined
  readonly simulator: Simulator | undefined
}

const contoso = {
  tenantId: '0c0ffee0-1111-4111-8111-000000000365',
  clientId: '0c0ffee0-2222-4222-8222-000000000001',
  /** The same client id as the command line's. */
  docsClientId: '0c0ffee0-2222-4222-8222-000000000002',
  apis: { collab: '0c0ffee0-3333-4333-8333-000000000001', mail: '0c0ffee0-3333-4333-8333-000000000002' },
  admins: ['22222222-bbbb-4bbb-8bbb-000000000002'],
  templatesFile: fileURLToPath(new URL('../simulator/tenant/templates.json', import.meta.url)),
}

const onlyVersionOne =
  'COLLAB_AUDIENCE or MAIL_AUDIENCE is not set, so this API accepts only version 1 tokens for BASE_URL/collab or BASE_URL/mail. Set both to the client ids of the APIs (docs/app-registrations.md).'

/**
 * Fills the gaps of the environment, and starts the simulator in local mode unless addresses of a tenant are set. Makes
 * DATA_DIR private if it is used. Throws a {@link ConfigurationError} in production if that is not possible.
 */
export async function findEndpoints(
  config: Environment,
  warn: (message: string) => void = () => undefined,
): Promise<Endpoints> {
  const local = config.MODE === 'local'
  const cloud = clouds[config.CLOUD]
  const dataDir = config.DATA_DIR ?? 'data'
  // In production with a server, nothing is written to files, so DATA_DIR may be on a read-only file system.
  if (local || config.DATABASE_URL === undefined) keepToOurselves(dataDir, { refuses: !local, warn })
  const elsewhere = tenantAddresses.some((name) => config[name] !== undefined)
  const port = config.PORT === 0 ? await freePort() : config.PORT
  const host = config.HOST ?? (local ? '127.0.0.1' : '0.0.0.0')
  const baseUrl = config.BASE_URL ?? `http://127.0.0.1:${port}`
  const simulator = local && !elsewhere ? await simulate(config, dataDir, baseUrl) : undefined
  const tenantId = config.TENANT_ID ?? contoso.tenantId
  if (!local && (config.COLLAB_AUDIENCE.length === 0 || config.MAIL_AUDIENCE.length === 0)) warn(onlyVersionOne)
  const registered = local && tenantId === contoso.tenantId ? contoso : undefined
  const [sharePointUrl = '', ...others] = simulator ? [simulator.sharePointUrl] : (config.SHAREPOINT_URL ?? [])
  return {
    local,
    port,
    host,
    baseUrl,
    dataDir,
    tenantId,
    clientId: config.CLIENT_ID ?? contoso.clientId,
    loginUrl: simulator?.loginUrl ?? config.LOGIN_URL ?? cloud.loginUrl,
    directoryUrl: simulator?.directoryUrl ?? config.DIRECTORY_URL ?? cloud.directoryUrl,
    sharePointUrl,
    sharePointAdminUrl: simulator?.sharePointAdminUrl ?? config.SHAREPOINT_ADMIN_URL ?? adminUrlOf(sharePointUrl),
    otherSharePointHosts: others.map((url) => ({ url, adminUrl: adminUrlOf(url) })),
    exchangeUrl: simulator?.exchangeUrl ?? config.EXCHANGE_URL ?? cloud.exchangeUrl,
    directoryExtension: config.DIRECTORY_EXTENSION ?? 'svc_group',
    teamsAppId: config.TEAMS_APP_ID,
    admins: config.ADMINS.length > 0 || !local ? config.ADMINS : contoso.admins,
    webhookAllowCidrs: allowedNetworks(config.WEBHOOK_ALLOW_CIDRS, local),
    templatesFile: config.TEMPLATES_FILE ?? (local ? contoso.templatesFile : undefined),
    collab: apiOf(
      { audiences: config.COLLAB_AUDIENCE, scope: config.COLLAB_SCOPE },
      `${baseUrl}/collab`,
      registered?.apis.collab,
    ),
    mail: apiOf(
      { audiences: config.MAIL_AUDIENCE, scope: config.MAIL_SCOPE },
      `${baseUrl}/mail`,
      registered?.apis.mail,
    ),
    mailAppClients: config.MAIL_APP_CLIENTS,
    docsClientId: config.DOCS_CLIENT_ID ?? registered?.docsClientId,
    simulator,
  }
}

/** `refuses`: a folder whose permissions cannot be restricted is a fault. */
function keepToOurselves(dataDir: string, options: { refuses: boolean; warn: (message: string) => void }): void {
  const { changed, wereWritable, refused } = makePrivate(dataDir)
  const [first] = refused
  if (first !== undefined) {
    const fault = `Cannot restrict the permissions of ${refused.length} files in DATA_DIR to this user, for example ${first}.`
    if (options.refuses) throw new ConfigurationError([fault])
    options.warn(fault)
  }
  if (changed === 0) return
  const until = wereWritable > 0 ? `; other users of the machine could write to ${wereWritable} of them before` : ''
  options.warn(`The permissions of ${changed} files in DATA_DIR were restricted to this user${until}.`)
}

async function simulate(config: Environment, dataDir: string, baseUrl: string): Promise<Simulator> {
  // Production never loads the simulator: it starts sooner, and no setting can reach the simulator's code.
  const { startSimulator } = await import('../simulator/index.ts')
  return startSimulator({
    dataDir,
    port: config.SIMULATOR_PORT,
    directorySeconds: config.SIMULATOR_DIRECTORY_SECONDS,
    // Without a delay of the directory, sites and mailboxes are also ready at once.
    siteReadySeconds: Math.min(1, config.SIMULATOR_DIRECTORY_SECONDS),
    exchangeSettleSeconds: Math.min(1, config.SIMULATOR_DIRECTORY_SECONDS),
    directoryExtension: config.DIRECTORY_EXTENSION ?? 'svc_group',
    baseUrl,
  })
}

/** `https://contoso.sharepoint.com` → `https://contoso-admin.sharepoint.com`; any other host is its own admin host. */
const adminUrlOf = (url: string): string => url.replace(/^(https:\/\/[^./]+)(\.sharepoint\.)/, '$1-admin$2')

/** Whether the bot has a secret: not with a managed identity, and not if it requires no tokens. */
const hasBotSecret = (config: Environment): boolean =>
  config.MICROSOFT_APP_TYPE !== 'UserAssignedMSI' && config.MICROSOFT_APP_PASSWORD !== undefined

/** After how many minutes an approver without a chat counts as unreachable. */
const minutesToReach = 10

/** Returns the core's settings. `auditKey` seals links to exports without EXPORT_SECRET. `reachMinutes` is for tests. */
export function settingsOf(
  config: Environment,
  endpoints: Endpoints,
  auditKey: Uint8Array,
  reachMinutes = minutesToReach,
): Settings {
  const { EXPORT_SECRET } = config
  const exportSecret = EXPORT_SECRET === undefined ? auditKey : Buffer.from(EXPORT_SECRET, 'base64')
  return {
    tenantId: endpoints.tenantId,
    admins: endpoints.admins,
    adminDecidesOwnReassignment: config.ADMIN_DECIDES_OWN_REASSIGNMENT,
    openRequestsPerPerson: config.OPEN_REQUESTS_PER_PERSON,
    mailApplications: endpoints.mailAppClients,
    approvals: {
      reachMinutes,
      remindAfterHours: config.APPROVAL_REMINDER_HOURS,
      escalateAfterHours: config.APPROVAL_ESCALATION_HOURS,
      expireAfterDays: config.APPROVAL_EXPIRY_DAYS,
    },
    digest: config.DIGEST_HOUR === null ? null : { hour: config.DIGEST_HOUR },
    followUp: {
      firstSeconds: config.FOLLOW_UP_FIRST_SECONDS,
      everySeconds: config.FOLLOW_UP_EVERY_SECONDS,
      stopSeconds: config.FOLLOW_UP_STOP_SECONDS,
    },
    webhookAllowCidrs: endpoints.webhookAllowCidrs,
    exportLinks: { root: endpoints.baseUrl, key: exportKeyOf(exportSecret) },
    formerAddressDays: config.FORMER_ADDRESS_DAYS,
    ...(config.RETENTION_DAYS > 0 && { retentionDays: config.RETENTION_DAYS }),
    ...(hasBotSecret(config) && { botSecret: { endsAt: config.MICROSOFT_APP_PASSWORD_EXPIRES ?? null } }),
    followUpWebhookUrl: config.FOLLOW_UP_WEBHOOK ? `${endpoints.baseUrl}/webhooks/provisioning` : null,
  }
}
