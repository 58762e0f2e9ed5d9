import { type AccountInfo, InteractionRequiredAuthError, PublicClientApplication } from '@azure/msal-node'
import { rootOf } from './address.ts'
import { isMicrosoftLogin, LoginError, loginNetwork } from './sign-in-wire.ts'
import { fileCache } from './token-cache.ts'

export interface SignInOptions {
  /** Where people sign in: `https://login.microsoftonline.com`, or the root of a simulated login on this computer. */
  readonly loginUrl: string
  readonly tenantId: string
  /** The client id of an application that is registered for device code (a public client). */
  readonly clientId: string
  /** Where tokens are kept between processes. Only its owner may read it. */
  readonly cacheFile: string
  readonly fetch?: typeof fetch
  /** Told of each call to the login, without bodies. */
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

/** What a person has to do on any device with a browser. */
export interface DeviceCode {
  readonly verificationUri: string
  readonly userCode: string
  readonly expiresInSeconds: number
}

export type SignInProblem = 'not-signed-in' | 'declined' | 'expired' | 'refused' | 'unreachable' | 'cancelled'

/** Why there is no token. `description` is what the login itself says, if it says anything. */
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

/** Sign-in by device code once, then silently, in later processes too (API document, "Authentication"). */
export interface SignIn {
  /** Shows a code and waits until somebody has signed in with it. Throws {@link SignInError}. */
  signIn(scope: string, how: { show(code: DeviceCode): void; signal?: AbortSignal }): Promise<SignedInPerson>
  /**
   * An access token without asking anybody: from the cache, or renewed. Of the only person who has signed in, unless an
   * account is named. Throws {@link SignInError}.
   */
  token(scope: string, account?: string): Promise<string>
  /** Who has signed in with this application, in this tenant. */
  people(): Promise<SignedInPerson[]>
  /** Forgets a person's tokens on this computer. */
  signOut(account: string): Promise<void>
}

/**
 * `signIn` and `token` of one application in one tenant. Real MSAL does the work; nothing is asked of anybody here.
 * Throws TypeError for a login over http on another computer.
 */
export function createSignIn(options: SignInOptions): SignIn {
  const application = applicationOf(options)
  const cache = application.getTokenCache()
  const accounts = async () =>
    (await cache.getAllAccounts()).filter(({ tenantId }) => isSameTenant(tenantId, options.tenantId))
  return {
    async signIn(scope, { show, signal }) {
      const request = {
        scopes: [scope],
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
      // Somebody who is named is meant, and nobody else.
      const chosen = account === undefined ? only : known.find(({ homeAccountId }) => homeAccountId === account)
      if (!chosen) throw new SignInError('not-signed-in')
      try {
        const result = await application.acquireTokenSilent({ scopes: [scope], account: chosen })
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

/** A tenant may be named by its domain too: then MSAL's application is in one tenant anyway. */
const isSameTenant = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase() || !/^[0-9a-f-]{36}$/i.test(other)

function applicationOf({ loginUrl, tenantId, clientId, cacheFile, fetch: given, onCall }: SignInOptions) {
  const { protocol, host } = new URL(rootOf('loginUrl', loginUrl))
  const authority = `https://${host}/${tenantId}`
  return new PublicClientApplication({
    auth: {
      clientId,
      authority,
      // Microsoft's own hosts are known to MSAL; for any other the metadata is given, so that no discovery is done.
      ...(!isMicrosoftLogin(loginUrl) && { knownAuthorities: [host], authorityMetadata: metadataOf(authority) }),
    },
    cache: { cachePlugin: fileCache(cacheFile) },
    system: { networkClient: loginNetwork({ fetch: given ?? fetch, protocol, onCall }) },
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

/** The promise, unless the signal comes first: then it is told to stop, and not waited for. */
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

/** What the device-code grant can end in (RFC 8628 §3.5, and Entra ID's own words for the same). */
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
