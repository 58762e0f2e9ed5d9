import { readFile } from 'node:fs/promises'
import {
  type AccountInfo,
  AuthError,
  type ICachePlugin,
  type INetworkModule,
  InteractionRequiredAuthError,
  PublicClientApplication,
  type TokenCacheContext,
} from '@azure/msal-node'
import { rootOf } from './call.ts'
import { lock, writePrivately } from './private-file.ts'

export interface SignInOptions {
  /** The address of the login: `https://login.microsoftonline.com`, or the root of a simulated login on this computer. */
  readonly loginUrl: string
  readonly tenantId: string
  /** The client id of an application that is registered for device code (a public client). */
  readonly clientId: string
  /** The file that stores tokens between processes, readable by its owner only. Without a file, tokens stay in memory. */
  readonly cacheFile?: string | undefined
  readonly fetch?: typeof fetch
  /** Called for each call to the login, without bodies. */
  readonly onCall?: (method: string, url: string, status: number | string) => void
}

/** A person who has signed in. `id` is their Entra object id. */
export interface SignedInPerson {
  readonly account: string
  readonly id: string
  readonly tenantId: string
  readonly userPrincipalName: string
  readonly displayName: string
}

/** A code, which a person enters on any device with a browser. */
export interface DeviceCode {
  readonly verificationUri: string
  readonly userCode: string
  readonly expiresInSeconds: number
}

export type SignInProblem = 'not-signed-in' | 'declined' | 'expired' | 'refused' | 'unreachable' | 'cancelled'

/** The reason for a missing token. `description` is the login's own text, if any. */
export class SignInError extends Error {
  readonly problem: SignInProblem
  readonly description: string
  constructor(problem: SignInProblem, description = '', cause?: unknown) {
    super(description || problem, { cause })
    this.name = 'SignInError'
    this.problem = problem
    this.description = description
  }
}

/** Signs in by device code once, then silently, also in later processes (API document, "Authentication"). */
export interface SignIn {
  /**
   * Shows a code and waits until a person has signed in with it. Spaces separate several scopes of one resource, as in
   * OAuth. Throws {@link SignInError}.
   */
  signIn(scope: string, how: { show(code: DeviceCode): void; signal?: AbortSignal }): Promise<SignedInPerson>
  /**
   * Returns an access token without a prompt: from the cache, or renewed. It belongs to the named account, or to the
   * only person who has signed in. Throws {@link SignInError}.
   */
  token(scope: string, account?: string): Promise<string>
  /** The people who have signed in with this application in this tenant. */
  people(): Promise<SignedInPerson[]>
  /** Forgets a person's tokens on this computer. */
  signOut(account: string): Promise<void>
}

/**
 * Creates the sign-in of one application in one tenant, by MSAL. Throws TypeError for a login over http on another
 * computer.
 */
export function createSignIn(options: SignInOptions): SignIn {
  const application = applicationOf(options)
  const cache = application.getTokenCache()
  const accounts = async () =>
    (await cache.getAllAccounts()).filter(({ tenantId }) => isSameTenant(tenantId, options.tenantId))
  return {
    async signIn(scope, { show, signal }) {
      const request = {
        scopes: scope.split(' '),
        cancel: false,
        deviceCodeCallback: ({ verificationUri, userCode, expiresIn }: Shown) =>
          show({ verificationUri, userCode, expiresInSeconds: expiresIn }),
      }
      const result = await until(signal, application.acquireTokenByDeviceCode(request), () => {
        request.cancel = true
      }).catch((error: unknown) => {
        throw asSignInError(error)
      })
      if (!result?.account) throw new SignInError('refused')
      return personOf(result.account)
    },
    async token(scope, account) {
      const known = await accounts()
      const [only] = known.length === 1 ? known : []
      // A named account is never replaced by another one.
      const chosen = account === undefined ? only : known.find(({ homeAccountId }) => homeAccountId === account)
      if (!chosen) throw new SignInError('not-signed-in')
      try {
        const result = await application.acquireTokenSilent({ scopes: scope.split(' '), account: chosen })
        return result.accessToken
      } catch (error) {
        throw asSignInError(error)
      }
    },
    people: async () => (await accounts()).map(personOf),
    async signOut(account) {
      const found = (await accounts()).find(({ homeAccountId }) => homeAccountId === account)
      if (found) await cache.removeAccount(found)
    },
  }
}
interface Shown {
  readonly verificationUri: string
  readonly userCode: string
  readonly expiresIn: number
}

/** A tenant may be named by its domain: then MSAL's application is in one tenant anyway. */
const isSameTenant = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase() || !/^[0-9a-f-]{36}$/i.test(other)

function applicationOf({ loginUrl, tenantId, clientId, cacheFile, fetch: send = fetch, onCall }: SignInOptions) {
  const { protocol, host } = new URL(rootOf('loginUrl', loginUrl))
  const authority = `https://${host}/${tenantId}`
  return new PublicClientApplication({
    auth: {
      clientId,
      authority,
      // MSAL knows Microsoft's own hosts; for other hosts the metadata is given, so that no discovery is needed.
      ...(!isMicrosoftLogin(loginUrl) && { knownAuthorities: [host], authorityMetadata: metadataOf(authority) }),
    },
    ...(cacheFile !== undefined && { cache: { cachePlugin: fileCache(cacheFile) } }),
    system: { networkClient: loginNetwork({ fetch: send, protocol, onCall }) },
  })
}

const metadataOf = (authority: string): string =>
  JSON.stringify({
    issuer: `${authority}/v2.0`,
    authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
    token_endpoint: `${authority}/oauth2/v2.0/token`,
    end_session_endpoint: `${authority}/oauth2/v2.0/logout`,
    jwks_uri: `${authority}/discovery/v2.0/keys`,
  })

function personOf({ homeAccountId, localAccountId, tenantId, username, name }: AccountInfo): SignedInPerson {
  const displayName = name || username
  return { account: homeAccountId, id: localAccountId, tenantId, userPrincipalName: username, displayName }
}

/** The promise, unless the signal is aborted first: then `stop` is called, and the promise is not awaited. */
async function until<T>(signal: AbortSignal | undefined, promise: Promise<T>, stop: () => void): Promise<T> {
  if (!signal) return promise
  const cancelled = new Promise<never>((_, reject) => {
    const end = () => {
      stop()
      reject(new SignInError('cancelled'))
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  promise.catch(() => undefined)
  return Promise.race([promise, cancelled])
}

/** Errors of the device-code grant (RFC 8628 §3.5), and Entra ID's names for them. */
const endings: Readonly<Record<string, SignInProblem>> = {
  authorization_declined: 'declined',
  access_denied: 'declined',
  expired_token: 'expired',
  device_code_expired: 'expired',
  bad_verification_code: 'expired',
  invalid_grant: 'not-signed-in',
  interaction_required: 'not-signed-in',
  no_tokens_found: 'not-signed-in',
}

function asSignInError(error: unknown): unknown {
  if (error instanceof SignInError) return error
  if (error instanceof LoginError) {
    const { kind, code, description } = error.fault
    return new SignInError(kind === 'unreachable' ? kind : (endings[code] ?? 'refused'), description, error)
  }
  if (error instanceof InteractionRequiredAuthError) return new SignInError('not-signed-in', '', error)
  const code = error instanceof Error && 'errorCode' in error ? String(error.errorCode) : ''
  if (code === '') return error
  return new SignInError(endings[code] ?? 'refused', error instanceof Error ? error.message : '', error)
}

/** A refusal of the login (RFC 6749 §5.2), or the reason why the login is unreachable. */
interface LoginFault {
  readonly kind: 'refused' | 'unreachable'
  /** `authorization_declined`, `invalid_grant`, …; otherwise the error of the connection. */
  readonly code: string
  /** Microsoft's own sentence, `AADSTS70016: …`, without ids and times. */
  readonly description: string
}

/** MSAL passes on only subclasses of its own AuthError; it replaces other errors by "network_error". */
class LoginError extends AuthError {
  readonly fault: LoginFault
  constructor(fault: LoginFault) {
    super(fault.code, fault.description)
    // AuthError's constructor resets the prototype of subclasses.
    Object.setPrototypeOf(this, LoginError.prototype)
    this.fault = fault
  }
}

/** Whether an address is one of Microsoft's logins, over https and on the default port. */
export const isMicrosoftLogin = (address: string): boolean =>
  /^https:\/\/login\.(microsoftonline\.(com|us)|partner\.microsoftonline\.cn|chinacloudapi\.cn)$/.test(
    new URL(address).origin,
  )

const timeoutMilliseconds = 30_000
/** RFC 8628 §3.5: on `slow_down` the device waits five seconds more. */
const slowDownMilliseconds = 5000
/** MSAL continues polling only on this answer. */
const goOn = { status: 400, body: { error: 'authorization_pending' } }

interface LoginWire {
  readonly fetch: typeof fetch
  /** `http:` for a login on this computer, which MSAL would not take. */
  readonly protocol: string
  /** Called for each call; never with a body or an answer. */
  readonly onCall?: ((method: string, url: string, status: number | string) => void) | undefined
}

/**
 * MSAL's network. MSAL accepts only https authorities: a login on this computer is passed as https, and mapped back
 * here. Refusals become {@link LoginError}s with the login's text.
 */
function loginNetwork(wire: LoginWire): INetworkModule {
  const send = async (method: string, url: string, options: Sending = {}) => {
    const polls = options.body?.includes('device_code=') ?? false
    const answer = await call(wire, method, url, options).catch((error: unknown) => {
      // The person is still typing the code, so a failed poll is repeated.
      if (polls) return goOn
      throw error
    })
    const { status, body } = answer
    if (status < 400) return answer
    const error = textOf(body, 'error')
    if (polls && error === 'slow_down') {
      await new Promise((resolve) => setTimeout(resolve, slowDownMilliseconds))
      return goOn
    }
    if (polls && error === 'authorization_pending') return answer
    throw new LoginError({ kind: 'refused', code: error || `http-${status}`, description: sentenceOf(body) })
  }
  return {
    sendGetRequestAsync: async <T>(url: string, options?: Sending) => (await send('GET', url, options)) as Sent<T>,
    sendPostRequestAsync: async <T>(url: string, options?: Sending) => (await send('POST', url, options)) as Sent<T>,
  }
}
interface Sending {
  readonly headers?: Record<string, string>
  readonly body?: string
}
interface Sent<T> {
  status: number
  headers: Record<string, string>
  body: T
}

async function call({ fetch, protocol, onCall }: LoginWire, method: string, url: string, { headers, body }: Sending) {
  const target = protocol === 'http:' ? url.replace(/^https:/, 'http:') : url
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  try {
    const init = { method, redirect: 'manual', signal, ...(headers && { headers }), ...(body && { body }) } as const
    const response = await fetch(target, init)
    onCall?.(method, target, response.status)
    if (response.status === 429 || response.status >= 500) throw unreachable(`http-${response.status}`, target)
    const answer: unknown = await response.json()
    return { status: response.status, headers: {}, body: answer }
  } catch (error) {
    if (error instanceof LoginError) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no-answer'
    onCall?.(method, target, code)
    throw unreachable(code, target)
  }
}

const unreachable = (code: string, url: string): LoginError =>
  new LoginError({ kind: 'unreachable', code, description: `${new URL(url).origin} does not answer (${code}).` })

function textOf(body: unknown, field: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : undefined
  return typeof value === 'string' ? value : ''
}

const sentenceOf = (body: unknown): string =>
  textOf(body, 'error_description')
    .replace(/\s*Trace ID:.*$/s, '')
    .trim()

/**
 * MSAL's cache in a file that only its owner can read (mode 600, in a folder of mode 700). A lock makes reading,
 * changing and writing one step, so that two processes do not lose each other's sign-in. The whole file is replaced, so
 * nobody reads half of it. Invalid JSON counts as empty: people sign in again.
 */
function fileCache(path: string): ICachePlugin {
  const releases = new WeakMap<TokenCacheContext, () => Promise<void>>()
  return {
    async beforeCacheAccess(context) {
      releases.set(context, await lock(path))
      const text = await readJsonText(path)
      if (text !== undefined) context.tokenCache.deserialize(text)
    },
    async afterCacheAccess(context) {
      try {
        if (context.cacheHasChanged) await writePrivately(path, context.tokenCache.serialize())
      } finally {
        await releases.get(context)?.()
      }
    },
  }
}

async function readJsonText(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : undefined
  } catch {
    return undefined
  }
}
