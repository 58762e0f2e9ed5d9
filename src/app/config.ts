import type { z } from 'zod'
import type { Api } from '../http/index.ts'
import { readCertificateFile } from '../microsoft365/index.ts'
import { foreignWriters } from '../store/index.ts'
import {
  cloudFault,
  cloudOfSharePoint,
  clouds,
  isLoopbackHost,
  isLoopbackUrl,
  uncheckedCertificates,
  unsafeServer,
} from './addresses.ts'
import { type Environment, environment, list, listed, whereToFind } from './settings.ts'
import { allowedNetworks, templatesInFile } from './templates-file.ts'

/**
 * Returns the rate limits of the HTTP server. `refusalsPerMinute`: calls without a valid token from one address; tests
 * change it.
 */
export const limitsOf = (environment: Environment, refusalsPerMinute = 60) => ({
  writesPerMinute: environment.RATE_LIMIT_WRITES_PER_MINUTE,
  writeBurst: environment.RATE_LIMIT_WRITE_BURST,
  readsPerMinute: environment.RATE_LIMIT_READS_PER_MINUTE,
  tenantWritesPerMinute: environment.RATE_LIMIT_TENANT_WRITES_PER_MINUTE,
  refusalsPerMinute,
})

/** The settings that production always requires. Local mode has a default for each. */
export const neededInProduction = [
  'MICROSOFT_APP_ID',
  'CLIENT_ID',
  'CLIENT_CERTIFICATE_PATH',
  'TENANT_ID',
  'SHAREPOINT_URL',
  'DIRECTORY_EXTENSION',
  'AUDIT_SECRET',
  'BASE_URL',
  // Without admins, nobody could add a template or see the health of the service.
  'ADMINS',
] as const

/** Thrown with all faults of the environment, one sentence each. */
export class ConfigurationError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'one fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault.replaceAll('\n', '\n    ')}`).join('\n')}`,
    )
    this.name = 'ConfigurationError'
    this.faults = faults
  }
}

/** Reads the environment. Throws a {@link ConfigurationError} that names every fault. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Environment {
  const settings = Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => name in environment.shape && value !== ''),
  )
  const parsed = environment.safeParse(settings)
  const faults = parsed.success ? [] : valueFaults(parsed.error.issues, settings)
  const isProduction = settings['MODE'] === 'production'
  faults.push(...(isProduction ? productionFaults(settings) : localFaults(settings)))
  faults.push(...scopeFaults(settings), ...certificateFaults(settings), ...templateFaults(settings, isProduction))
  if (isProduction && variables['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') faults.push(uncheckedCertificates)
  if (!parsed.success || faults.length > 0) throw new ConfigurationError(faults)
  return parsed.data
}

/** Describes the fault of a setting, and where to find its value. */
function faultOf(name: string, problem: string): string {
  const where = whereToFind[name as keyof Environment]
  return `${name} ${problem}.${where === undefined ? '' : ` ${where}`}`
}

/** Returns one fault for each setting with a wrong value. For a list it names the wrong values. */
function valueFaults(issues: readonly z.core.$ZodIssue[], settings: Record<string, string | undefined>): string[] {
  const byName = Map.groupBy(issues, ({ path }) => String(path[0]))
  return [...byName].map(([name, [first, ...others]]) => {
    const all = listed(settings[name] ?? '')
    const wrong = [first, ...others].flatMap((issue) => all[Number(issue?.path[1])] ?? [])
    const not = wrong.length === 0 ? '' : `, not ${[...new Set(wrong)].join(' or ')}`
    return faultOf(name, `${first?.message.replace(/\.$/, '')}${not}`)
  })
}

const scopeFaults = (settings: Record<string, string | undefined>): string[] =>
  (['COLLAB', 'MAIL'] as const).flatMap((api) => {
    const scope = settings[`${api}_SCOPE`]
    return scope === undefined ? [] : (scopeFault(api, scope, list.parse(settings[`${api}_AUDIENCE`])) ?? [])
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

function templateFaults(settings: Record<string, string | undefined>, isProduction: boolean): string[] {
  const allowed = list.parse(settings['WEBHOOK_ALLOW_CIDRS'])
  try {
    templatesInFile(settings['TEMPLATES_FILE'], allowedNetworks(allowed, !isProduction))
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** The settings that have the tenant's addresses. */
export const tenantAddresses = [
  'LOGIN_URL',
  'DIRECTORY_URL',
  'SHAREPOINT_URL',
  'SHAREPOINT_ADMIN_URL',
  'EXCHANGE_URL',
] as const

function productionFaults(settings: Record<string, string | undefined>): string[] {
  const faults: string[] = neededInProduction
    .filter((name) => listed(settings[name] ?? '').length === 0)
    .map((name) => faultOf(name, 'is needed when MODE=production'))
  if (settings['MICROSOFT_APP_TYPE'] !== 'UserAssignedMSI' && settings['MICROSOFT_APP_PASSWORD'] === undefined)
    faults.push(
      faultOf('MICROSOFT_APP_PASSWORD', 'is needed when MODE=production, unless MICROSOFT_APP_TYPE=UserAssignedMSI'),
    )
  if (settings['DATABASE_URL'] === undefined && settings['DATA_DIR'] === undefined)
    faults.push(faultOf('DATABASE_URL', 'is needed when MODE=production, or DATA_DIR for the embedded store'))
  if (settings['DATABASE_URL'] === undefined && settings['DATA_DIR'] !== undefined)
    faults.push(...foreignWriters(settings['DATA_DIR']))
  faults.push(...sharedRegistrations(settings))
  const baseUrl = settings['BASE_URL']
  if (baseUrl !== undefined && !/^https:\/\//.test(baseUrl))
    faults.push('BASE_URL must be a public https address when MODE=production.')
  for (const address of listed(settings['SHAREPOINT_URL'] ?? '')) {
    const cloud = cloudOfSharePoint(address)
    if (cloud === undefined || cloud === (settings['CLOUD'] ?? 'public')) continue
    const fault = cloudFault(cloud) ?? `must be ${cloud}.`
    faults.push(`SHAREPOINT_URL has ${address}, an address of the cloud ${cloud}: CLOUD ${fault}`)
  }
  // Our tokens are sent to these addresses, and cards link to them.
  const plain = tenantAddresses.filter((name) =>
    listed(settings[name] ?? '').some((address) => address.startsWith('http:')),
  )
  faults.push(...plain.map((name) => `${name} must be an https address when MODE=production.`))
  const server = settings['DATABASE_URL'] === undefined ? undefined : unsafeServer(settings['DATABASE_URL'])
  if (server !== undefined) faults.push(server)
  return faults
}

/**
 * Returns faults of registrations that must be separate (docs/app-registrations.md): a token for an API must not be valid
 * for the bot, and the bot's secret must give no access to the tenant.
 */
function sharedRegistrations(settings: Record<string, string | undefined>): string[] {
  const own = ['MICROSOFT_APP_ID', 'CLIENT_ID'] as const
  const [bot, access] = own.map((name) => settings[name]?.toLowerCase())
  const same = bot !== undefined && bot === access
  const faults = same ? ['CLIENT_ID and MICROSOFT_APP_ID must be different registrations.'] : []
  for (const name of ['COLLAB_AUDIENCE', 'MAIL_AUDIENCE', 'COLLAB_SCOPE', 'MAIL_SCOPE', 'MAIL_APP_CLIENTS']) {
    const named = (settings[name] ?? '').toLowerCase()
    const clash = own.filter((one) => settings[one] !== undefined && named.includes(settings[one].toLowerCase()))
    faults.push(
      ...clash.map((one) => `${name} must not contain the id of ${one}: use a separate registration for the APIs.`),
    )
  }
  const docs = settings['DOCS_CLIENT_ID']?.toLowerCase()
  const page = own.find((one) => docs !== undefined && settings[one]?.toLowerCase() === docs)
  if (page)
    faults.push(`DOCS_CLIENT_ID must not be the id of ${page}, because web pages use DOCS_CLIENT_ID for sign-in.`)
  return faults
}

/** Without an app id the bot requires no token, so it must listen on loopback only and use no real tenant. */
function localFaults(settings: Record<string, string | undefined>): string[] {
  if (settings['MICROSOFT_APP_ID'] !== undefined) return []
  const host = settings['HOST']
  const open =
    host === undefined || isLoopbackHost(host)
      ? []
      : [
          'HOST must be a loopback address such as 127.0.0.1, because MICROSOFT_APP_ID is not set and the bot requires no tokens. Or set MICROSOFT_APP_ID.',
        ]
  return [...open, ...realTenantFaults(settings)]
}

/** Settings whose default is an address of Microsoft. The addresses of sites have no default. */
const microsoftAddresses = {
  LOGIN_URL: 'loginUrl',
  DIRECTORY_URL: 'directoryUrl',
  EXCHANGE_URL: 'exchangeUrl',
} as const

/** Without tokens, anybody could write to the bot as another person and create sites and mailboxes in a real tenant. */
function realTenantFaults(settings: Record<string, string | undefined>): string[] {
  const named = tenantAddresses.filter((name) => settings[name] !== undefined)
  const appId = 'set MICROSOFT_APP_ID and its credentials, so that the bot requires tokens'
  const real = named
    .filter((name) => !listed(settings[name] ?? '').every(isLoopbackUrl))
    .map(
      (name) =>
        `${name} must be a loopback address such as http://127.0.0.1:3979, because MICROSOFT_APP_ID is not set. Or ${appId}.`,
    )
  // One address switches the simulator off. Then the other addresses are Microsoft's.
  const missing = Object.entries(microsoftAddresses)
    .filter(([name]) => named.length > 0 && settings[name] === undefined)
    .map(
      ([name, key]) =>
        `${name} must also be set: its default is ${clouds.public[key]}, but MICROSOFT_APP_ID is not set. Use a simulated tenant, or ${appId}.`,
    )
  return [...real, ...missing]
}

/** The permission that every call needs: a scope or role in the registrations of the APIs. */
const permission = 'App.ReadWrite.All'

const isUri = (audience: string): boolean => audience.includes('://')

/** Returns the default scope of an API: of its first App ID URI, else `api://{client id}`. */
function scopeOf(audiences: readonly string[]): string {
  const uri = audiences.find(isUri) ?? `api://${audiences[0]}`
  return `${uri.replace(/\/+$/, '')}/${permission}`
}

/**
 * Returns the accepted audiences and the scope of an API from its settings. A token's `aud` is the API's client id in
 * version 2, and the URI that the client requested in version 1. `uri` is the default; local mode also has a registration.
 */
export function apiOf(
  { audiences, scope }: { readonly audiences: readonly string[]; readonly scope: string | undefined },
  uri: string,
  clientId?: string,
): Api {
  const usual = clientId === undefined ? [uri] : [clientId, `api://${clientId}`, uri]
  const accepted = audiences.length > 0 ? audiences : usual
  return { audiences: accepted, scope: scope ?? scopeOf(accepted) }
}

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns why a scope does not fit an API with these audiences, as one sentence; undefined if it fits. */
function scopeFault(name: 'COLLAB' | 'MAIL', scope: string, audiences: readonly string[]): string | undefined {
  const example = `such as api://<client id of the API>/${permission}`
  const [, resource, last] = /^([^\s"\\]+)\/([^\s"\\/]+)$/.exec(scope) ?? []
  if (resource === undefined || !(isUri(`${resource}/`) || guid.test(resource.toLowerCase()))) {
    return `${name}_SCOPE must be one complete scope, ${example}, not ${scope}.`
  }
  if (last !== permission && last !== '.default') {
    return `${name}_SCOPE must end with /${permission}: the service accepts no token without that permission.`
  }
  const id = resource.toLowerCase().replace(/^api:\/\//, '')
  const accepted = audiences.flatMap((each) => each.toLowerCase().replace(/^api:\/\//, ''))
  if (guid.test(id) && audiences.length > 0 && !accepted.includes(id) && accepted.some((each) => guid.test(each))) {
    return `${name}_SCOPE requests tokens for ${id}, but ${name}_AUDIENCE does not contain it: add ${id} to ${name}_AUDIENCE.`
  }
  return undefined
}
