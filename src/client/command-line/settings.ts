import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isLoopback } from '../call.ts'
import { DirectoryError } from '../index.ts'
import { lock, writePrivately } from '../private-file.ts'
import { createSignIn, isMicrosoftLogin, type SignIn, SignInError } from '../sign-in.ts'
import { clean, fill, texts, UsageError } from './terminal.ts'

export interface Settings {
  readonly baseUrl: string
  readonly directoryUrl: string
  /** The root of the login: `https://login.microsoftonline.com`. */
  readonly loginUrl: string
  readonly tenantId: string
  readonly clientId: string
  readonly scopes: { readonly [R in Resource]: string }
  /** APIs whose scope neither belongs to the service nor was accepted by a flag. They get no tokens. */
  readonly foreignScopes: readonly Api[]
  /** MSAL's id of the account that signed in last at this service. */
  readonly account: string | undefined
  readonly folder: string
}

const url = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''))
/** The saved data of a service: settings of the login, and the service's offer. */
const savedService = z.object({
  directoryUrl: url.optional(),
  loginUrl: url.optional(),
  tenantId: z.string().optional(),
  clientId: z.string().optional(),
  collabScope: z.string().optional(),
  mailScope: z.string().optional(),
  /** Scopes of other services that a person has typed at login for this service. */
  acceptedScopes: z.array(z.string()).optional(),
  account: z.string().optional(),
})
export type SavedService = z.output<typeof savedService>
const savedSettings = z.object({ baseUrl: url, services: z.record(z.string(), savedService) })
type SavedSettings = z.output<typeof savedSettings>

/** The flags that locate the service, with their environment variables. Flags override variables. */
export const settingVariables = {
  'base-url': 'QUARTERMASTER_BASE_URL',
  'directory-url': 'QUARTERMASTER_DIRECTORY_URL',
  tenant: 'QUARTERMASTER_TENANT',
  'client-id': 'QUARTERMASTER_CLIENT_ID',
  authority: 'QUARTERMASTER_AUTHORITY',
  'collab-scope': 'QUARTERMASTER_COLLAB_SCOPE',
  'mail-scope': 'QUARTERMASTER_MAIL_SCOPE',
} as const
export type SettingName = keyof typeof settingVariables
export type Overrides = { readonly [N in SettingName]?: string | undefined }

/** Defaults for `npm start` of a clone. Its simulated login accepts any client id. */
const local = { baseUrl: 'http://127.0.0.1:3978', loginUrl: 'http://127.0.0.1:3979' }
const localTenant = '0c0ffee0-1111-4111-8111-000000000365'
const localClient = '0c0ffee0-2222-4222-8222-000000000002'
const localScopes = {
  collab: 'api://0c0ffee0-3333-4333-8333-000000000001/App.ReadWrite.All',
  mail: 'api://0c0ffee0-3333-4333-8333-000000000002/App.ReadWrite.All',
} as const
const microsoft = { loginUrl: 'https://login.microsoftonline.com', directoryUrl: 'https://graph.microsoft.com' }
/** The US government's cloud (GCC High) has a Graph of its own. */
const government = { loginUrl: 'https://login.microsoftonline.us', directoryUrl: 'https://graph.microsoft.us' }

export type Variables = Readonly<Record<string, string | undefined>>

/** Returns settings from flags, otherwise from variables. An empty value counts as not set. */
export function overridesFrom(flags: Readonly<Record<string, unknown>>, variables: Variables): Overrides {
  const names = Object.keys(settingVariables) as SettingName[]
  return Object.fromEntries(
    names.map((name) => [name, String(flags[name] ?? variables[settingVariables[name]] ?? '') || undefined]),
  )
}

/**
 * Settings from flags and variables, otherwise those saved at login for the same service, otherwise those of local
 * mode. Throws {@link UsageError}.
 */
export async function readSettings(
  overrides: Overrides,
  folder: string,
): Promise<{ readonly settings: Settings; readonly known: SavedService }> {
  const saved = await readSaved(folder)
  const baseUrl = readUrl('base-url', overrides['base-url'] ?? saved?.baseUrl) ?? local.baseUrl
  const known = saved?.services[baseUrl] ?? {}
  return { settings: settingsOf(baseUrl, overrides, known, folder), known }
}

/** Settings of one service from overrides and saved values. */
export function settingsOf(baseUrl: string, overrides: Overrides, known: SavedService, folder: string): Settings {
  const isLocal = isLoopback(baseUrl)
  const authority = readAuthority(overrides.authority)
  const loginUrl = authority?.loginUrl ?? known.loginUrl ?? (isLocal ? local.loginUrl : microsoft.loginUrl)
  const directoryUrl =
    readUrl('directory-url', overrides['directory-url']) ??
    known.directoryUrl ??
    (isLoopback(loginUrl) ? loginUrl : (loginUrl === government.loginUrl ? government : microsoft).directoryUrl)
  const isSimulated = isLocal && isLoopback(loginUrl)
  const usualScope = (api: Api) => (isSimulated ? localScopes[api] : `${baseUrl}/${api}/App.ReadWrite.All`)
  const collab = overrides['collab-scope'] ?? known.collabScope ?? usualScope('collab')
  const mail = overrides['mail-scope'] ?? known.mailScope ?? usualScope('mail')
  // The scopes of local mode belong to no service, and a login on this computer issues no tokens of a real tenant.
  const accepted = [...(known.acceptedScopes ?? []), ...(isSimulated ? Object.values(localScopes) : [])]
  // Tokens for a simulated Graph have Microsoft's audience.
  const directoryResource = isLoopback(directoryUrl) ? microsoft.directoryUrl : directoryUrl
  return {
    baseUrl,
    directoryUrl,
    loginUrl,
    tenantId: readTenant(overrides.tenant) ?? authority?.tenantId ?? known.tenantId ?? (isLocal ? localTenant : ''),
    clientId: overrides['client-id'] ?? known.clientId ?? (isLocal ? localClient : ''),
    scopes: {
      ...{ collab, mail },
      users: `${directoryResource}/${directoryPermissions.users}`,
      groups: `${directoryResource}/${directoryPermissions.groups}`,
    },
    foreignScopes: foreignOf(baseUrl, { collab, mail }, accepted),
    account: known.account,
    folder,
  }
}

function foreignOf(baseUrl: string, scopes: Readonly<Record<Api, string>>, accepted: readonly string[]): Api[] {
  const isOwn = (api: Api) =>
    scopes[api] === `${baseUrl}/${api}/App.ReadWrite.All` || isScopeOf(baseUrl, api, scopes[api])
  return (['collab', 'mail'] as const).filter((api) => !isOwn(api) && !accepted.includes(scopes[api]))
}

function readUrl(name: SettingName, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const parsed = url.safeParse(text)
  if (!parsed.success) throw new UsageError(fill(texts.usage.noUrl, { option: `--${name}`, value: text }))
  const { protocol, username, password } = new URL(parsed.data)
  if (username !== '' || password !== '') throw new UsageError(fill(texts.usage.noPassword, { option: `--${name}` }))
  if (protocol === 'http:' && !isLoopback(parsed.data))
    throw new UsageError(fill(texts.usage.plainHttp, { option: `--${name}`, value: text }))
  return parsed.data
}

/** `https://login.microsoftonline.com`, with or without the tenant. */
function readAuthority(text: string | undefined): { loginUrl: string; tenantId?: string } | undefined {
  const address = readUrl('authority', text)
  if (address === undefined) return undefined
  const { origin, pathname } = new URL(address)
  const [, tenantId = ''] = pathname.split('/')
  if (tenantId === '') return { loginUrl: origin }
  if (!isTenant(tenantId)) throw new UsageError(fill(texts.usage.noTenant, { option: '--authority', value: tenantId }))
  return { loginUrl: origin, tenantId }
}

/** A tenant's id or domain: it becomes part of the login's address. */
export const isTenant = (text: string): boolean => /^[a-z0-9]+([.-]+[a-z0-9]+)*$/i.test(text)

function readTenant(text: string | undefined): string | undefined {
  if (text === undefined || isTenant(text)) return text
  throw new UsageError(fill(texts.usage.noTenant, { option: '--tenant', value: text }))
}

const fileOf = (folder: string): string => join(folder, 'settings.json')

/** Reads the saved settings; undefined without a readable file: then people sign in again. */
async function readSaved(folder: string): Promise<SavedSettings | undefined> {
  try {
    return savedSettings.parse(JSON.parse(await readFile(fileOf(folder), 'utf8')))
  } catch {
    return undefined
  }
}

/** Saves the settings of a service. Makes it the default service, unless `asDefault` is false and another one is. */
export async function saveSettings(
  folder: string,
  baseUrl: string,
  service: SavedService,
  asDefault = true,
): Promise<void> {
  const release = await lock(fileOf(folder))
  try {
    const saved = await readSaved(folder)
    const services = { ...saved?.services, [baseUrl]: service }
    const byDefault = asDefault ? baseUrl : (saved?.baseUrl ?? baseUrl)
    await writePrivately(fileOf(folder), `${JSON.stringify({ baseUrl: byDefault, services }, null, 2)}\n`)
  } finally {
    await release()
  }
}

/** `$XDG_CONFIG_HOME/quartermaster`, `~/.config/quartermaster`; on Windows `%APPDATA%\quartermaster`. */
export function settingsFolder(variables: Variables, platform: string, home: string): string {
  const overrides = variables['QUARTERMASTER_HOME']
  if (overrides) return overrides
  if (platform === 'win32') return join(variables['APPDATA'] || join(home, 'AppData', 'Roaming'), 'quartermaster')
  return join(variables['XDG_CONFIG_HOME'] || join(home, '.config'), 'quartermaster')
}

/** The APIs of a service. Each has its own token. */
export type Api = 'collab' | 'mail'

/** The parts of the directory that commands read, with the delegated permission of Microsoft Graph for each. */
export const directoryPermissions = { users: 'User.ReadBasic.All', groups: 'Group.Read.All' } as const
/** Entra ID's error without consent to a permission (learn.microsoft.com/entra/identity-platform/reference-error-codes). */
const noConsent = 'AADSTS65001'
export type DirectoryPart = keyof typeof directoryPermissions
type Resource = Api | DirectoryPart

/**
 * Matches text without special characters of shells and scope lists, so that people can copy it in a command.
 */
const harmlessText = /^[A-Za-z0-9][A-Za-z0-9._:/~-]*$/

/** Whether a text is one scope, such as `api://11112222-3333-4444-8555-666677778888/App.ReadWrite.All`. */
export const isScope = (text: string): boolean => text.length <= 500 && harmlessText.test(text)

/**
 * Whether a scope belongs to a service: it begins with `{base_url}/collab/` or `{base_url}/mail/`, compared as parsed
 * addresses. The login compares scopes as text, so an address that parsing changes does not belong to the service.
 */
export function isScopeOf(baseUrl: string, api: Api, scope: string): boolean {
  if (!isScope(scope) || !URL.canParse(scope)) return false
  const [base, offered] = [new URL(baseUrl), new URL(scope)]
  const root = `${base.pathname.replace(/\/+$/, '')}/${api}/`
  return (
    offered.href === scope &&
    isSameOrigin(base, offered) &&
    offered.pathname.startsWith(root) &&
    offered.pathname.length > root.length
  )
}

/** `localhost` and `127.0.0.1` are the same computer. */
function isSameOrigin(one: URL, other: URL): boolean {
  if (one.protocol !== other.protocol || one.port !== other.port) return false
  return one.hostname === other.hostname || (isLoopback(one.href) && isLoopback(other.href))
}

/** Whether a login that a service names is trusted: Microsoft's, or this computer's for a local service. */
export const isTrustedLogin = (loginUrl: string, baseUrl: string): boolean =>
  isMicrosoftLogin(loginUrl) || (isLoopback(loginUrl) && isLoopback(baseUrl))

export interface Sessions {
  of(settings: Settings): SignIn
  /**
   * Returns a token from the cache or renewed, without a prompt. Throws `not-signed-in`, and {@link UsageError} for a
   * scope that was not accepted for this service. Without consent to a permission it throws what Graph answers without the
   * permission: {@link DirectoryError} with status 403.
   */
  token(settings: Settings, resource: Resource): Promise<string>
}

interface SessionParts {
  readonly fetch: typeof fetch
  readonly onCall: (method: string, url: string, status: number | string) => void
  readonly overrides: Overrides
}

export function createSessions({ fetch, onCall, overrides }: SessionParts): Sessions {
  const known = new Map<string, SignIn>()
  const of = (settings: Settings): SignIn => {
    const { loginUrl, tenantId, clientId, folder } = settings
    if (tenantId === '' || clientId === '') throw new UsageError(texts.usage.registrationNeeded, 'login')
    const key = `${loginUrl} ${tenantId} ${clientId}`
    const signIn =
      known.get(key) ??
      createSignIn({ loginUrl, tenantId, clientId, cacheFile: join(folder, 'tokens.json'), fetch, onCall })
    known.set(key, signIn)
    return signIn
  }
  return {
    of,
    async token(settings, resource) {
      if (settings.account === undefined) throw new SignInError('not-signed-in')
      const { foreignScopes, scopes, account } = settings
      if (foreignScopes.some((api) => api === resource)) throw refusedScopes(settings, overrides)
      return of(settings)
        .token(scopes[resource], account)
        .catch((error: unknown) => {
          if (resource === 'collab' || resource === 'mail') throw error
          const isUnconsented = error instanceof SignInError && error.description.startsWith(noConsent)
          throw isUnconsented ? new DirectoryError(403, noConsent, { method: 'GET', path: `/v1.0/${resource}` }) : error
        })
    },
  }
}

/** The error for scopes of other services, with the command that trusts them. */
export function refusedScopes({ baseUrl, scopes, foreignScopes }: Settings, overrides: Overrides): UsageError {
  const offered = foreignScopes.map((api) => scopes[api])
  const values = { service: baseUrl, scopes: clean(offered.join(', ')) }
  if (!offered.every(isScope)) return new UsageError(fill(texts.trust.noScope, values))
  const accepted = Object.fromEntries(foreignScopes.map((api) => [`${api}-scope`, scopes[api]]))
  const command = loginCommand(baseUrl, overrides, accepted)
  const sentence = offered.length === 1 ? texts.trust.scope : texts.trust.scopes
  return new UsageError(fill(sentence, { ...values, command }))
}

/** The `login` command with the current overrides and more flags. Values that a shell would change are quoted. */
export function loginCommand(baseUrl: string, overrides: Overrides, more: Overrides): string {
  const flags = Object.entries({ ...overrides, 'base-url': baseUrl, ...more }) as [SettingName, string | undefined][]
  const written = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${quoted(value)}`]))
  return ['quartermaster login', ...written].join(' ')
}
const quoted = (value: string): string => (harmlessText.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`)
