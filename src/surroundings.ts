import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Environment } from './config.ts'
import type { Settings } from './core/index.ts'
import { type Simulator, startSimulator } from './simulator/server.ts'

/** Where everything is, once the environment's gaps are filled: in local mode by the simulator and Contoso's samples. */
export interface Surroundings {
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
  readonly exchangeUrl: string
  readonly directoryExtension: string
  /** The bot's app in the organisation's catalogue: it is installed for approvers who have no chat with the bot. */
  readonly teamsAppId: string | undefined
  readonly admins: readonly string[]
  /** Networks that webhooks of templates may go to although they are private. */
  readonly webhookAllowCidrs: readonly string[]
  readonly templatesFile: string | undefined
  readonly collabAudiences: readonly string[]
  readonly mailAudiences: readonly string[]
  /** Client ids of the applications that may ask for mailboxes without a person. */
  readonly mailAppClients: readonly string[]
  readonly simulator: Simulator | undefined
}

const contoso = {
  tenantId: '0c0ffee0-1111-4111-8111-000000000365',
  clientId: '0c0ffee0-2222-4222-8222-000000000001',
  admins: ['22222222-bbbb-4bbb-8bbb-000000000002'],
  templatesFile: fileURLToPath(new URL('./simulator/templates.json', import.meta.url)),
}

/** Subscribers of this machine, which is where people try webhooks out. */
const loopback = ['127.0.0.0/8', '::1/128']

/** Fills the gaps of the environment; starts the simulator in local mode, unless the tenant is elsewhere. */
export async function findSurroundings(config: Environment): Promise<Surroundings> {
  const local = config.MODE === 'local'
  const dataDir = config.DATA_DIR ?? 'data'
  await mkdir(dataDir, { recursive: true })
  const elsewhere = config.LOGIN_URL ?? config.DIRECTORY_URL ?? config.SHAREPOINT_URL ?? config.EXCHANGE_URL
  const simulator = local && elsewhere === undefined ? await simulate(config, dataDir) : undefined
  const port = config.PORT === 0 ? await freePort() : config.PORT
  const host = config.HOST ?? (local ? '127.0.0.1' : '0.0.0.0')
  const baseUrl = config.BASE_URL ?? `http://127.0.0.1:${port}`
  const sharePointUrl = simulator?.sharePointUrl ?? config.SHAREPOINT_URL ?? ''
  return {
    local,
    port,
    host,
    baseUrl,
    dataDir,
    tenantId: config.TENANT_ID ?? contoso.tenantId,
    clientId: config.CLIENT_ID ?? contoso.clientId,
    loginUrl: simulator?.loginUrl ?? config.LOGIN_URL ?? 'https://login.microsoftonline.com',
    directoryUrl: simulator?.directoryUrl ?? config.DIRECTORY_URL ?? 'https://graph.microsoft.com',
    sharePointUrl,
    sharePointAdminUrl: simulator?.sharePointAdminUrl ?? config.SHAREPOINT_ADMIN_URL ?? adminUrlOf(sharePointUrl),
    exchangeUrl: simulator?.exchangeUrl ?? config.EXCHANGE_URL ?? 'https://outlook.office365.com',
    directoryExtension: config.DIRECTORY_EXTENSION ?? 'svc_group',
    teamsAppId: config.TEAMS_APP_ID,
    admins: config.ADMINS.length > 0 || !local ? config.ADMINS : contoso.admins,
    webhookAllowCidrs: config.WEBHOOK_ALLOW_CIDRS.length > 0 || !local ? config.WEBHOOK_ALLOW_CIDRS : loopback,
    templatesFile: config.TEMPLATES_FILE ?? (local ? contoso.templatesFile : undefined),
    collabAudiences: config.COLLAB_AUDIENCE.length > 0 ? config.COLLAB_AUDIENCE : [`${baseUrl}/collab`],
    mailAudiences: config.MAIL_AUDIENCE.length > 0 ? config.MAIL_AUDIENCE : [`${baseUrl}/mail`],
    mailAppClients: config.MAIL_APP_CLIENTS,
    simulator,
  }
}

function simulate(config: Environment, dataDir: string): Promise<Simulator> {
  return startSimulator({
    dataDir,
    port: config.SIMULATOR_PORT,
    directorySeconds: config.SIMULATOR_DIRECTORY_SECONDS,
    // A directory that knows everything at once goes with mailboxes that are everywhere at once.
    exchangeSettleSeconds: Math.min(1, config.SIMULATOR_DIRECTORY_SECONDS),
    directoryExtension: config.DIRECTORY_EXTENSION ?? 'svc_group',
  })
}

/** `https://contoso.sharepoint.com` → `https://contoso-admin.sharepoint.com`; any other host is its own admin host. */
const adminUrlOf = (url: string): string => url.replace(/^(https:\/\/[^./]+)(\.sharepoint\.)/, '$1-admin$2')

/** The port asked for, or any free one when it is taken, since addresses have to be known before anything listens. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen(wanted, '127.0.0.1'), 'listening')
  } catch {
    await once(server.listen(0, '127.0.0.1'), 'listening')
  }
  const address = server.address()
  await new Promise((closed) => server.close(closed))
  return typeof address === 'object' && address ? address.port : wanted
}

/** A JSON file named by the configuration; its absence or form is told in words. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What the core is told of the organisation's decisions. */
export function settingsOf(config: Environment, surroundings: Surroundings, exportKey: Uint8Array): Settings {
  return {
    tenantId: surroundings.tenantId,
    admins: surroundings.admins,
    adminDecidesOwnReassignment: config.ADMIN_DECIDES_OWN_REASSIGNMENT,
    openRequestsPerPerson: config.OPEN_REQUESTS_PER_PERSON,
    mailApplications: surroundings.mailAppClients,
    approvals: {
      reachMinutes: config.APPROVAL_REACH_MINUTES,
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
    webhookAllowCidrs: surroundings.webhookAllowCidrs,
    exportLinks: { root: surroundings.baseUrl, key: exportKey },
    ...(config.RETENTION_DAYS > 0 && { retentionDays: config.RETENTION_DAYS }),
    followUpWebhookUrl: config.FOLLOW_UP_WEBHOOK ? `${surroundings.baseUrl}/webhooks/provisioning` : null,
  }
}
