import { z } from 'zod'
import { isWebhookSecret } from '../core/index.ts'
import { type CloudName, cloudFault } from './addresses.ts'

/** The settings: every variable of the environment with its type and default. `config.ts` checks how they fit together. */

const port = z.coerce
  .number('must be a number')
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(65_535, 'must be at most 65535')
const count = z.coerce.number('must be a number').int('must be a whole number').min(0, 'must be at least 0')
const seconds = count
/** A network such as `10.1.0.0/16` or `fd00::/8`. */
const network = z.union([z.cidrv4(), z.cidrv6()], { error: 'must be networks such as 10.1.0.0/16' })
/** An hour of the day, or null for `off`. */
const hourOrOff = z
  .string()
  .default('8')
  .refine((text) => /^(?:off|1?\d|2[0-3])$/.test(text), 'must be an hour from 0 to 23, or off')
  .transform((text) => (text === 'off' ? null : Number(text)))
/** A number of hours or days. Fractions are allowed, for trials. */
const duration = (most: number) => z.coerce.number('must be a number').max(most, `must be at most ${most}`)
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
export const list = z.string().default('').transform(listed)
const onOff = z
  .enum(['on', 'off'], 'must be on or off')
  .default('on')
  .transform((value) => value === 'on')
const offOn = z
  .enum(['on', 'off'], 'must be on or off')
  .default('off')
  .transform((value) => value === 'on')
const daysOrOff = 'must be a whole number of days, at most 36500, or off'
/** 0 or `off` keeps requests forever, until somebody sets a number. */
const retentionDays = z
  .union(
    [z.literal('off'), z.coerce.number(daysOrOff).int(daysOrOff).min(0, daysOrOff).max(36_500, daysOrOff)],
    daysOrOff,
  )
  .default('off')
  .transform((days) => (days === 'off' ? 0 : days))
/** 0 frees addresses at once. */
const formerAddressDays = z.coerce
  .number('must be a number')
  .int('must be a whole number of days')
  .min(0, 'must be at least 0')
  .max(3650, 'must be at most 3650')
  .default(365)
/** A key, in base64. */
const keySecret = z
  .base64('must be base64')
  .refine((text) => Buffer.from(text, 'base64').length >= 32, 'must be at least 32 bytes in base64')
/** A date, which means the start of that day, or a moment. */
const expiry = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date such as 2027-11-30')
  .transform((text) => new Date(text))
const id = z.uuid('must be an id such as 0c0ffee0-1111-4111-8111-000000000365').toLowerCase()
/** Client ids and App ID URIs. Tokens have client ids in lower case, and audiences are compared as text. */
const audiences = list.transform((all) => all.map((one) => id.safeParse(one).data ?? one))
const cloud = z
  .string()
  .default('public')
  .check((payload) => {
    const fault = cloudFault(payload.value)
    if (fault !== undefined) payload.issues.push({ code: 'custom', message: fault, input: payload.value })
  })
  .transform((name) => name as CloudName)
const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((text) => !URL.canParse(text) || !new URL(text).username, 'must not contain a user name')
  .transform((text) => text.replace(/\/+$/, ''))

/** Addresses, separated by commas. */
const urls = z
  .string()
  .transform(listed)
  .refine(
    (all) => all.length > 0 && all.every((one) => url.safeParse(one).success),
    'must be http or https addresses without user name, separated by commas',
  )
  .pipe(z.array(url))

/** The environment, as `.env.example` lists it. Empty values count as absent. */
export const environment = z.object({
  MODE: z.enum(['local', 'production'], 'must be local or production').default('local'),
  PORT: port.default(3978),
  HOST: z.string().optional(),
  BASE_URL: url.optional(),
  PRIVACY_URL: url.optional(),
  TERMS_URL: url.optional(),
  DATA_DIR: z.string().optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }).optional(),
  DATABASE_CONNECTIONS: count.min(5, 'must be at least 5').max(100, 'must be at most 100').default(16),
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
  TEAMS_APP_NAME: z.string().max(30, 'must have at most 30 characters').optional(),
  COLLAB_AUDIENCE: audiences,
  MAIL_AUDIENCE: audiences,
  COLLAB_SCOPE: z.string().optional(),
  MAIL_SCOPE: z.string().optional(),
  MAIL_APP_CLIENTS: list.pipe(
    z.array(z.uuid({ error: 'must be client ids of applications, separated by commas' }).toLowerCase()),
  ),
  DOCS_CLIENT_ID: id.optional(),
  LOGIN_URL: url.optional(),
  DIRECTORY_URL: url.optional(),
  SHAREPOINT_URL: urls.optional(),
  SHAREPOINT_ADMIN_URL: url.optional(),
  EXCHANGE_URL: url.optional(),
  DIRECTORY_EXTENSION: z
    .string()
    .regex(/^\w+$/, 'must be the name of a schema extension, such as ext1a2b3c4d_quartermaster')
    .optional(),
  TEMPLATES_FILE: z.string().optional(),
  ADMINS: list.pipe(
    z.array(z.uuid({ error: 'must be object ids of people or groups, separated by commas' }).toLowerCase()),
  ),
  ADMIN_DECIDES_OWN_REASSIGNMENT: offOn,
  WEBHOOK_SECRET: z
    .string()
    .refine(isWebhookSecret, 'must be whsec_ and 24 to 64 bytes in base64 (for example from openssl rand -base64 32)')
    .optional(),
  AUDIT_SECRET: keySecret.optional(),
  EXPORT_SECRET: keySecret.optional(),
  WEBHOOK_ALLOW_CIDRS: list.pipe(z.array(network)),
  FOLLOW_UP_FIRST_SECONDS: seconds.default(20),
  FOLLOW_UP_EVERY_SECONDS: seconds.min(1, 'must be at least 1').default(10),
  FOLLOW_UP_STOP_SECONDS: seconds.default(30),
  FOLLOW_UP_WEBHOOK: onOff,
  TRUSTED_PROXIES: list.pipe(z.array(network)),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    )
    .optional(),
  PLAYGROUND: z.enum(['on', 'off', 'admin'], 'must be on, off or admin').default('on'),
  PLAYGROUND_LOCALE: z
    .string()
    .regex(/^[a-z]{2}-[A-Z]{2}$/, 'must be a language and a country, such as de-DE')
    .default('en-US'),
  SIMULATOR_PORT: port.default(3979),
  SIMULATOR_DIRECTORY_SECONDS: z.coerce.number('must be a number').min(0, 'must be at least 0').default(15),
  RATE_LIMIT_WRITES_PER_MINUTE: count.default(60),
  RATE_LIMIT_WRITE_BURST: count.default(10),
  RATE_LIMIT_READS_PER_MINUTE: count.default(300),
  RATE_LIMIT_TENANT_WRITES_PER_MINUTE: count.default(600),
  OPEN_REQUESTS_PER_PERSON: count.default(25),
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
/** The names of all settings, as `.env.example` lists them. */
export const settingNames = Object.keys(environment.shape)

const secretNames = [
  'MICROSOFT_APP_PASSWORD',
  'CLIENT_CERTIFICATE_PASSWORD',
  'WEBHOOK_SECRET',
  'AUDIT_SECRET',
  'EXPORT_SECRET',
  'METRICS_TOKEN',
  // The shape of an address already masks its password. Drivers write it nowhere else.
  'DATABASE_URL',
] as const

/** The values of secret settings, which the log must not contain. */
export const secretsOf = (settings: Environment): string[] => secretNames.flatMap((name) => settings[name] ?? [])

const registration = (owner: string): string =>
  `Find it in the Entra admin center, App registrations, ${owner}: Application (client) ID.`
const audience = (api: string): string =>
  `Find it in the Entra admin center, App registrations, the ${api} API: Application (client) ID (docs/app-registrations.md#the-apis).`
const objectId = 'Find the ids in the Entra admin center, on the page of each user or group: Object ID.'

/**
 * Where an operator finds the value of a setting. Settings with a free choice are absent. `npm run setup` finds or creates
 * nearly all values.
 */
export const whereToFind: { readonly [K in keyof Environment]?: string } = {
  BASE_URL: 'This is the https address at which Teams reaches this service: https://<host name>.',
  DATABASE_URL: 'The administrator of your PostgreSQL server knows the address (docs/deploy.md).',
  TENANT_ID: 'Find it in the Entra admin center, Overview: Tenant ID.',
  ADMINS: objectId,
  MICROSOFT_APP_ID: registration('the bot'),
  MICROSOFT_APP_PASSWORD:
    'Create it in the Entra admin center, App registrations, the bot, Certificates & secrets, and copy its value.',
  MICROSOFT_APP_PASSWORD_EXPIRES:
    'Find it in the Entra admin center, App registrations, the bot, Certificates & secrets: Expires.',
  MICROSOFT_APP_TENANT_ID: 'Find it in the Entra admin center, App registrations, the bot: Directory (tenant) ID.',
  CLIENT_ID: registration('the service’s own access'),
  CLIENT_CERTIFICATE_PATH:
    'npm run setup creates the file, or create it yourself (docs/operations.md#the-certificate).',
  TEAMS_APP_ID:
    'Microsoft Graph shows it as the id of the app in the catalogue (docs/app-registrations.md, TEAMS_APP_ID).',
  COLLAB_AUDIENCE: audience('sites'),
  MAIL_AUDIENCE: audience('mailboxes'),
  MAIL_APP_CLIENTS: registration('each application'),
  SHAREPOINT_URL: 'Open any site: the setting is the start of its address, https://<tenant>.sharepoint.com.',
  DIRECTORY_EXTENSION: 'npm run setup creates the extension and writes its name.',
  WEBHOOK_SECRET: 'Create it: whsec_ and the output of openssl rand -base64 32.',
  AUDIT_SECRET:
    'For a new installation, create it: openssl rand -base64 32. An existing installation needs its existing key (docs/audit.md#the-key).',
  EXPORT_SECRET: 'Create it: openssl rand -base64 32.',
}
