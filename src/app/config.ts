import { z } from 'zod'
import { isWebhookSecret } from '../core/index.ts'
import { readCertificateFile } from '../microsoft365/index.ts'
import { isLoopbackHost, isLoopbackUrl, uncheckedCertificates, unsafeServer } from './addresses.ts'
import { scopeFault } from './apis.ts'
import { cloudFault, cloudOfSharePoint, clouds } from './clouds.ts'
import {
  audiences,
  cloud,
  count,
  duration,
  expiry,
  formerAddressDays,
  hourOrOff,
  id,
  keySecret,
  list,
  listed,
  network,
  offOn,
  onOff,
  port,
  retentionDays,
  seconds,
  url,
  urls,
} from './setting-types.ts'

/** The environment, as `.env.example` lists it. Empty values count as absent. */
const environment = z.object({
  MODE: z.enum(['local', 'production'], 'must be local or production').default('local'),
  PORT: port.default(3978),
  HOST: z.string().optional(),
  BASE_URL: url.optional(),
  DATA_DIR: z.string().optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }).optional(),
  CLOUD: cloud,
  TENANT_ID: id.optional(),
  MICROSOFT_APP_ID: id.optional(),
  MICROSOFT_APP_PASSWORD: z.string().optional(),
  MICROSOFT_APP_PASSWORD_EXPIRES: expiry.optional(),
  MICROSOFT_APP_TENANT_ID: id.optional(),
  MICROSOFT_APP_TYPE: z
    .enum(['SingleTenant', 'UserAssignedMSI'], 'must be SingleTenant or UserAssignedMSI')
    .default('SingleTenant'),
  CLIENT_ID: id.optional(),
  CLIENT_CERTIFICATE_PATH: z.string().optional(),
  CLIENT_CERTIFICATE_PASSWORD: z.string().optional(),
  TEAMS_APP_ID: id.optional(),
  COLLAB_AUDIENCE: audiences,
  MAIL_AUDIENCE: audiences,
  COLLAB_SCOPE: z.string().optional(),
  MAIL_SCOPE: z.string().optional(),
  MAIL_APP_CLIENTS: list.pipe(
    z.array(z.uuid({ error: 'must be client ids of applications, joined by commas' }).toLowerCase()),
  ),
  LOGIN_URL: url.optional(),
  DIRECTORY_URL: url.optional(),
  SHAREPOINT_URL: urls.optional(),
  SHAREPOINT_ADMIN_URL: url.optional(),
  EXCHANGE_URL: url.optional(),
  DIRECTORY_EXTENSION: z.string().regex(/^\w+$/).optional(),
  TEMPLATES_FILE: z.string().optional(),
  ADMINS: list.pipe(
    z.array(z.uuid({ error: 'must be object ids of people or groups, joined by commas' }).toLowerCase()),
  ),
  ADMIN_DECIDES_OWN_REASSIGNMENT: offOn,
  WEBHOOK_SECRET: z
    .string()
    .refine(isWebhookSecret, 'must be whsec_ and 24 to 64 bytes in base64 (openssl rand -base64 32 makes some)')
    .optional(),
  AUDIT_SECRET: keySecret.optional(),
  EXPORT_SECRET: keySecret.optional(),
  WEBHOOK_ALLOW_CIDRS: list.pipe(z.array(network)),
  FOLLOW_UP_FIRST_SECONDS: seconds.default(20),
  FOLLOW_UP_EVERY_SECONDS: seconds.min(1).default(10),
  FOLLOW_UP_STOP_SECONDS: seconds.default(30),
  FOLLOW_UP_WEBHOOK: onOff,
  TRUSTED_PROXIES: list.pipe(z.array(network)),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).optional(),
  PLAYGROUND: z.enum(['on', 'off', 'admin'], 'must be on, off or admin').default('on'),
  SIMULATOR_PORT: port.default(3979),
  SIMULATOR_DIRECTORY_SECONDS: z.coerce.number('must be a number').min(0, 'must be at least 0').default(15),
  RATE_LIMIT_WRITES_PER_MINUTE: count.default(60),
  RATE_LIMIT_WRITE_BURST: count.default(10),
  RATE_LIMIT_READS_PER_MINUTE: count.default(300),
  RATE_LIMIT_TENANT_WRITES_PER_MINUTE: count.default(600),
  OPEN_REQUESTS_PER_PERSON: count.default(10),
  RETENTION_DAYS: retentionDays,
  FORMER_ADDRESS_DAYS: formerAddressDays,
  APPROVAL_REMINDER_HOURS: duration(365 * 24)
    .min(0, 'must be at least 0')
    .default(24),
  APPROVAL_ESCALATION_HOURS: duration(365 * 24)
    .min(0, 'must be at least 0')
    .default(72),
  DIGEST_HOUR: hourOrOff,
  APPROVAL_EXPIRY_DAYS: duration(365).positive('must be above 0').default(14),
})
export type Environment = z.output<typeof environment>
/** Every name there is, as `.env.example` lists them. */
export const settingNames = Object.keys(environment.shape)

/** The values of settings that nobody may read, in the log or anywhere. */
export function secretsOf({
  MICROSOFT_APP_PASSWORD,
  CLIENT_CERTIFICATE_PASSWORD,
  WEBHOOK_SECRET,
  AUDIT_SECRET,
  EXPORT_SECRET,
  METRICS_TOKEN,
  DATABASE_URL,
}: Environment): string[] {
  // The password of an address is masked by its place there; drivers tell of it nowhere else.
  return [
    MICROSOFT_APP_PASSWORD,
    CLIENT_CERTIFICATE_PASSWORD,
    WEBHOOK_SECRET,
    AUDIT_SECRET,
    EXPORT_SECRET,
    METRICS_TOKEN,
    DATABASE_URL,
  ].filter((one) => one !== undefined)
}

/** How many calls without a good token one address may make in a minute. */
const refusalsAMinute = 60

/** Limits of use of the HTTP side, each in a minute. `refusalsPerMinute` is for tests. */
export const limitsOf = (environment: Environment, refusalsPerMinute = refusalsAMinute) => ({
  writesPerMinute: environment.RATE_LIMIT_WRITES_PER_MINUTE,
  writeBurst: environment.RATE_LIMIT_WRITE_BURST,
  readsPerMinute: environment.RATE_LIMIT_READS_PER_MINUTE,
  tenantWritesPerMinute: environment.RATE_LIMIT_TENANT_WRITES_PER_MINUTE,
  refusalsPerMinute,
})

/** What production cannot do without; local mode has a default for each. */
const neededInProduction = [
  'MICROSOFT_APP_ID',
  'CLIENT_ID',
  'CLIENT_CERTIFICATE_PATH',
  'TENANT_ID',
  'SHAREPOINT_URL',
  'DIRECTORY_EXTENSION',
  'AUDIT_SECRET',
  'BASE_URL',
] as const

/** Nobody could add a template or see the health of a service without admins. */
const adminsAreNeeded =
  'ADMINS is needed when MODE=production: the object ids of people or groups that manage the service, joined by commas.'

/** Every fault of the environment at once, one sentence each. */
export class ConfigurationError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'one fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
    this.name = 'ConfigurationError'
    this.faults = faults
  }
}

/** Reads the environment. Throws a {@link ConfigurationError} that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Environment {
  const given = Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => name in environment.shape && value !== ''),
  )
  const parsed = environment.safeParse(given)
  const faults = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${sentence(issue.message)}`)
  const mode = given['MODE'] ?? 'local'
  faults.push(...(mode === 'production' ? productionFaults(given) : localFaults(given)))
  faults.push(...scopeFaults(given), ...certificateFaults(given))
  if (mode === 'production' && variables['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') faults.push(uncheckedCertificates)
  if (!parsed.success || faults.length > 0) throw new ConfigurationError(faults)
  return parsed.data
}

const scopeFaults = (given: Record<string, string | undefined>): string[] =>
  (['COLLAB', 'MAIL'] as const).flatMap((api) => {
    const scope = given[`${api}_SCOPE`]
    return scope === undefined ? [] : (scopeFault(api, scope, list.parse(given[`${api}_AUDIENCE`])) ?? [])
  })

function certificateFaults({
  CLIENT_CERTIFICATE_PATH: path,
  CLIENT_CERTIFICATE_PASSWORD: password,
}: Record<string, string | undefined>): string[] {
  if (path === undefined) return []
  try {
    readCertificateFile(path, password)
    return []
  } catch (error) {
    return [`CLIENT_CERTIFICATE_PATH ${path}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** The settings that say where the tenant answers. */
export const tenantAddresses = [
  'LOGIN_URL',
  'DIRECTORY_URL',
  'SHAREPOINT_URL',
  'SHAREPOINT_ADMIN_URL',
  'EXCHANGE_URL',
] as const

function productionFaults(given: Record<string, string | undefined>): string[] {
  const faults: string[] = neededInProduction
    .filter((name) => given[name] === undefined)
    .map((name) => `${name} is needed when MODE=production.`)
  if (list.parse(given['ADMINS'] ?? '').length === 0) faults.push(adminsAreNeeded)
  if (given['MICROSOFT_APP_TYPE'] !== 'UserAssignedMSI' && given['MICROSOFT_APP_PASSWORD'] === undefined)
    faults.push('MICROSOFT_APP_PASSWORD is needed when MODE=production, unless MICROSOFT_APP_TYPE=UserAssignedMSI.')
  if (given['DATABASE_URL'] === undefined && given['DATA_DIR'] === undefined)
    faults.push('DATABASE_URL, or DATA_DIR for the embedded store, is needed when MODE=production.')
  faults.push(...sharedRegistrations(given))
  const baseUrl = given['BASE_URL']
  if (baseUrl !== undefined && !/^https:\/\//.test(baseUrl))
    faults.push('BASE_URL must be a public https address when MODE=production.')
  for (const address of listed(given['SHAREPOINT_URL'] ?? '')) {
    const cloud = cloudOfSharePoint(address)
    if (cloud === undefined || cloud === (given['CLOUD'] ?? 'public')) continue
    const fault = cloudFault(cloud) ?? `must be ${cloud}.`
    faults.push(`SHAREPOINT_URL names ${address}, an address of the cloud ${cloud}: CLOUD ${fault}`)
  }
  // Our tokens go there, and links on cards lead there.
  const plain = tenantAddresses.filter((name) =>
    listed(given[name] ?? '').some((address) => address.startsWith('http:')),
  )
  faults.push(...plain.map((name) => `${name} must be an https address when MODE=production.`))
  const server = given['DATABASE_URL'] === undefined ? undefined : unsafeServer(given['DATABASE_URL'])
  if (server !== undefined) faults.push(server)
  return faults
}

/**
 * Registrations that would have to be apart (docs/app-registrations.md): a token that anybody gets for an API must be none
 * for the bot, and the bot's secret none to the tenant.
 */
function sharedRegistrations(given: Record<string, string | undefined>): string[] {
  const own = ['MICROSOFT_APP_ID', 'CLIENT_ID'] as const
  const [bot, access] = own.map((name) => given[name]?.toLowerCase())
  const same = bot !== undefined && bot === access
  const faults = same ? ['CLIENT_ID must be another registration than MICROSOFT_APP_ID, the bot’s.'] : []
  for (const name of ['COLLAB_AUDIENCE', 'MAIL_AUDIENCE', 'COLLAB_SCOPE', 'MAIL_SCOPE', 'MAIL_APP_CLIENTS']) {
    const named = (given[name] ?? '').toLowerCase()
    const clash = own.filter((one) => given[one] !== undefined && named.includes(given[one].toLowerCase()))
    faults.push(...clash.map((one) => `${name} must not name ${one}: give the APIs a registration of their own.`))
  }
  return faults
}

/** Without an app id the bot accepts activities without a token, so nobody else may reach it, and it may reach no real tenant. */
function localFaults(given: Record<string, string | undefined>): string[] {
  if (given['MICROSOFT_APP_ID'] !== undefined) return []
  const host = given['HOST']
  const open =
    host === undefined || isLoopbackHost(host)
      ? []
      : [
          'HOST must be a loopback address such as 127.0.0.1 unless MICROSOFT_APP_ID is set: without it the bot takes no tokens.',
        ]
  return [...open, ...realTenantFaults(given)]
}

/** Settings without which a tenant that is elsewhere answers at Microsoft's addresses. The site's address has none. */
const microsoftAddresses = {
  LOGIN_URL: 'loginUrl',
  DIRECTORY_URL: 'directoryUrl',
  EXCHANGE_URL: 'exchangeUrl',
} as const

/** Anybody could speak in the chat of such a bot in another person's name, and be given sites and mailboxes of a real tenant. */
function realTenantFaults(given: Record<string, string | undefined>): string[] {
  const named = tenantAddresses.filter((name) => given[name] !== undefined)
  const appId = 'set MICROSOFT_APP_ID and its credentials, so that the bot requires tokens'
  const real = named
    .filter((name) => !listed(given[name] ?? '').every(isLoopbackUrl))
    .map(
      (name) =>
        `${name} must be a loopback address such as http://127.0.0.1:3979, because MICROSOFT_APP_ID is not set. Or ${appId}.`,
    )
  // One address turns the simulator off, and those that are not given are Microsoft's then.
  const missing = Object.entries(microsoftAddresses)
    .filter(([name]) => named.length > 0 && given[name] === undefined)
    .map(
      ([name, key]) =>
        `${name} must be set too: its default is ${clouds.public[key]}, and MICROSOFT_APP_ID is not set. Use a simulated tenant, or ${appId}.`,
    )
  return [...real, ...missing]
}

const sentence = (message: string): string => (message.endsWith('.') ? message : `${message}.`)
