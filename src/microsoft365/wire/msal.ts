import { AuthError, ConfidentialClientApplication, type INetworkModule } from '@azure/msal-node'
import { because, parsedJson, TenantError, traceHeaders } from '../../core/index.ts'
import { isTransient, readText, retryAfterSeconds, unreadable } from './answer.ts'
import { isConnectionError } from './call.ts'
import type { ClientCertificate } from './certificate.ts'

/*
 * Calls to Microsoft 365 import MSAL only here. `sign-in.ts` loads this file with the first token: MSAL has some 120 files,
 * and no start should wait for them.
 */

const service = 'Entra ID'
const timeoutMilliseconds = 10_000

/** The registration of an application, its credential, and how to reach Entra ID. */
export interface ClientOptions {
  readonly tenantId: string
  readonly clientId: string
  readonly credential: { readonly clientCertificate: ClientCertificate } | { readonly clientSecret: string }
  /** `https://login.microsoftonline.com`, or the simulator's root. */
  readonly loginUrl: string
  readonly fetch: typeof fetch
}

/**
 * Gets a token for a resource, and the time of its end in milliseconds since 1970. Throws a `TenantError`:
 * `sign-in-refused` when Entra ID refuses, a retryable one when Entra ID cannot be reached.
 */
export type GetToken = (resource: string, skipCache: boolean) => Promise<{ token: string; endsAt: number }>

/** Returns a function that gets tokens for a service principal, with an application of MSAL. */
export function msalTokens(options: ClientOptions): GetToken {
  const application = clientApplication(options)
  return async (resource, skipCache) => {
    const scopes = [`${resource}/.default`]
    const result = await application.acquireTokenByClientCredential({ scopes, skipCache }).catch((error: unknown) => {
      throw asTenantError(error)
    })
    if (!result?.accessToken) throw unreadable(service, 'noToken')
    return { token: result.accessToken, endsAt: result.expiresOn?.getTime() ?? 0 }
  }
}

function clientApplication(options: ClientOptions): ConfidentialClientApplication {
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

function networkClient(fetch: ClientOptions['fetch'], toWire: (url: string) => string): INetworkModule {
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
