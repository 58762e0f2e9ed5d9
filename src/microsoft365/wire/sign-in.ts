import { AuthError, ConfidentialClientApplication, type INetworkModule } from '@azure/msal-node'
import { because, parsedJson, type SignInFacts, TenantError, traceHeaders } from '../../core/index.ts'
import { isTransient, readText, retryAfterSeconds, unreadable } from './answer.ts'
import { isConnectionError, type TokenSource } from './call.ts'
import type { ClientCertificate } from './certificate.ts'

export interface SignInOptions {
  readonly tenantId: string
  readonly clientId: string
  readonly certificate: ClientCertificate
  /** `https://login.microsoftonline.com`, or the simulator's root. */
  readonly loginUrl: string
  readonly fetch: typeof fetch
  /** The clock of the limit on new tokens after refusals, in milliseconds; default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** App-only access tokens, cached until shortly before they expire. */
export interface SignIn {
  readonly token: TokenSource
  /**
   * Signs in with another certificate from now on, after it has obtained a token for this resource with that
   * certificate. Throws as `token` does when it cannot; then the current certificate stays in use.
   */
  replaceCertificate(certificate: ClientCertificate, resource: string): Promise<void>
  facts(): SignInFacts
}

const service = 'Entra ID'
const timeoutMilliseconds = 10_000
/**
 * MSAL renews a token this long before its expiry. Until then the cache here returns the token, because MSAL
 * needs half the time of a whole call to find it.
 */
const renewedBeforeMilliseconds = 300_000

/**
 * Signs in app-only with a certificate (OAuth 2.0 client credentials, RFC 6749 §4.4 with RFC 7523). Throws a
 * `TenantError`: `sign-in-refused` when Entra ID refuses, a retryable one when Entra ID cannot be reached.
 */
export function createSignIn(options: SignInOptions): SignIn {
  const applicationOf = (clientCertificate: ClientCertificate) =>
    clientApplication({ ...options, credential: { clientCertificate } })
  let application = applicationOf(options.certificate)
  const { now = Date.now } = options
  const replacedAt = new Map<string, number>()
  const refusals = new Map<string, NonNullable<SignInFacts['refusal']>>()
  const pending = new Map<string, Promise<string>>()
  const cached = new Map<string, { readonly token: string; readonly endsAt: number }>()
  const acquire = async (resource: string, skipCache: boolean, using = application): Promise<string> => {
    try {
      const { token, endsAt } = await acquired(using, resource, skipCache)
      cached.set(resource, { token, endsAt })
      if (using === application) refusals.delete(resource)
      return token
    } catch (error) {
      const problem = asTenantError(error)
      if (using === application && problem instanceof TenantError)
        refusals.set(resource, { at: new Date(), problem: problem.reason, isFinal: !problem.retryable })
      // A service rejected the cached token. If the token stayed in the cache, every call would use it until it
      // expires.
      if (skipCache && using === application) cached.delete(resource)
      throw problem
    }
  }
  return {
    // Concurrent calls share one request to Entra ID.
    token(resource, how) {
      const known = cached.get(resource)
      const isUsable = known !== undefined && known.endsAt - renewedBeforeMilliseconds > Date.now()
      const refused = how && 'refused' in how ? how : undefined
      if (isUsable && (!how || (refused && known.token !== refused.refused))) return Promise.resolve(known.token)
      const key = `${resource} ${how !== undefined}`
      if (refused && !pending.has(key)) {
        const user = `${resource} ${refused.by}`
        if (now() - (replacedAt.get(user) ?? -Infinity) < refused.every) return Promise.resolve(refused.refused)
        replacedAt.set(user, now())
      }
      const running = pending.get(key) ?? acquire(resource, how !== undefined).finally(() => pending.delete(key))
      pending.set(key, running)
      return running
    },
    async replaceCertificate(certificate, resource) {
      const next = applicationOf(certificate)
      await acquire(resource, true, next)
      application = next
      refusals.clear()
    },
    facts() {
      const tokens = [...cached].map(([resource, { endsAt }]) => ({ resource, endsAt: new Date(endsAt) }))
      const [refusal] = [...refusals.values()].sort(
        (one, other) => Number(other.isFinal) - Number(one.isFinal) || other.at.getTime() - one.at.getTime(),
      )
      return { tokens: tokens.filter(({ endsAt }) => endsAt.getTime() > Date.now()), refusal }
    },
  }
}

async function acquired(application: ConfidentialClientApplication, resource: string, skipCache: boolean) {
  const scopes = [`${resource}/.default`]
  const result = await application.acquireTokenByClientCredential({ scopes, skipCache })
  if (!result?.accessToken) throw unreadable(service, 'noToken')
  return { token: result.accessToken, endsAt: result.expiresOn?.getTime() ?? 0 }
}

/** Gets a token with a secret, as the bot does, and forgets it. Throws as `token` of {@link createSignIn} does. */
export async function tryBotSecret(
  options: Omit<SignInOptions, 'certificate'> & { readonly secret: string; readonly resource: string },
): Promise<void> {
  const { secret, resource, ...about } = options
  await acquired(clientApplication({ ...about, credential: { clientSecret: secret } }), resource, true).catch(
    (error: unknown) => {
      throw asTenantError(error)
    },
  )
}

type Credential = { readonly clientCertificate: ClientCertificate } | { readonly clientSecret: string }

function clientApplication(options: Omit<SignInOptions, 'certificate'> & { readonly credential: Credential }) {
  const { tenantId, clientId, credential, loginUrl, fetch } = options
  const { protocol, host } = new URL(loginUrl)
  // MSAL accepts only https authorities. A loopback http login is passed as https and mapped back for the call.
  const authority = `https://${host}/${tenantId}`
  const toWire = (url: string) => (protocol === 'http:' ? url.replace(/^https:/, 'http:') : url)
  const isMicrosoft = host === 'login.microsoftonline.com'
  return new ConfidentialClientApplication({
    auth: {
      clientId,
      authority,
      ...('clientSecret' in credential ? credential : { clientCertificate: { ...credential.clientCertificate } }),
      // Microsoft's own host needs no discovery. Other hosts get their metadata here, so MSAL skips discovery.
      ...(!isMicrosoft && { knownAuthorities: [host], authorityMetadata: metadataOf(authority) }),
    },
    system: { networkClient: networkClient(fetch, toWire) },
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

/** Carries an error through MSAL, which replaces errors that are not its own AuthError by "network_error". */
class SignInFault extends AuthError {
  readonly fault: unknown
  constructor(fault: unknown) {
    super('sign-in-fault', 'The network client knows more.')
    // AuthError's constructor resets the prototype.
    Object.setPrototypeOf(this, SignInFault.prototype)
    this.fault = fault
  }
}

function networkClient(fetch: SignInOptions['fetch'], toWire: (url: string) => string): INetworkModule {
  const send = async (method: string, url: string, options?: { headers?: Record<string, string>; body?: string }) => {
    const { headers, body } = options ?? {}
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    const init = {
      method,
      redirect: 'manual',
      signal,
      headers: { ...headers, ...traceHeaders() },
      ...(body && { body }),
    } as const
    const response = await fetch(toWire(url), init).catch((error: unknown) => {
      throw new SignInFault(isConnectionError(error) ? unreachable(error) : error)
    })
    // MSAL would block itself for a minute after these, and fail on a body that is not JSON.
    if (isTransient(response.status)) throw new SignInFault(busy(response))
    const answer = parsedJson(await readText(response, service).catch(() => ''))
    if (typeof answer !== 'object' || answer === null) throw new SignInFault(unreadable(service, 'noObject'))
    return { status: response.status, headers: {}, body: answer }
  }
  return {
    sendGetRequestAsync: async <T>(url: string, options?: object) =>
      ({ ...(await send('GET', url, options)) }) as Sent<T>,
    sendPostRequestAsync: async <T>(url: string, options?: object) =>
      ({ ...(await send('POST', url, options)) }) as Sent<T>,
  }
}
interface Sent<T> {
  status: number
  headers: Record<string, string>
  body: T
}

function unreachable(cause: unknown): TenantError {
  return new TenantError('sign-in-unreachable', because('signInUnreachable', { service }), { retryable: true, cause })
}

function busy(response: Response): TenantError {
  return new TenantError(`http-${response.status}`, because('signInBusy', { service, status: response.status }), {
    retryable: true,
    retryAfterSeconds: retryAfterSeconds(response.headers),
  })
}

/**
 * Converts an error of MSAL. `AADSTSnnnnn` names the reason (an expired certificate, a missing consent), which an
 * administrator has to fix.
 */
function asTenantError(error: unknown): unknown {
  if (error instanceof TenantError) return error
  if (error instanceof SignInFault) return error.fault
  const text = error instanceof Error ? error.message : String(error)
  const code = /AADSTS\d+/.exec(text)?.[0] ?? (error instanceof AuthError ? error.errorCode : 'unknown')
  return new TenantError('sign-in-refused', because('signInRefused', { service, error: code }), {
    retryable: false,
    cause: error,
  })
}
