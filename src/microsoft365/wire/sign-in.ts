import { type SignInFacts, TenantError } from '../../core/index.ts'
import type { TokenSource } from './call.ts'
import type { ClientCertificate } from './certificate.ts'
import type { ClientOptions, GetToken } from './msal.ts'

export interface SignInOptions extends Omit<ClientOptions, 'credential'> {
  readonly certificate: ClientCertificate
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
  const tokensWith = (clientCertificate: ClientCertificate) =>
    tokensOf({ ...options, credential: { clientCertificate } })
  let getToken = tokensWith(options.certificate)
  const { now = Date.now } = options
  const replacedAt = new Map<string, number>()
  const refusals = new Map<string, NonNullable<SignInFacts['refusal']>>()
  const pending = new Map<string, Promise<string>>()
  const cached = new Map<string, { readonly token: string; readonly endsAt: number }>()
  const acquire = async (resource: string, skipCache: boolean, get = getToken): Promise<string> => {
    try {
      const { token, endsAt } = await get(resource, skipCache)
      cached.set(resource, { token, endsAt })
      if (get === getToken) refusals.delete(resource)
      return token
    } catch (problem) {
      if (get === getToken && problem instanceof TenantError)
        refusals.set(resource, { at: new Date(), problem: problem.reason, isFinal: !problem.retryable })
      // A service rejected the cached token. If the token stayed in the cache, every call would use it until it
      // expires.
      if (skipCache && get === getToken) cached.delete(resource)
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
      const next = tokensWith(certificate)
      await acquire(resource, true, next)
      getToken = next
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

/** Gets a token with a secret, as the bot does, and forgets it. Throws as `token` of {@link createSignIn} does. */
export async function tryBotSecret(
  options: Omit<SignInOptions, 'certificate' | 'now'> & { readonly secret: string; readonly resource: string },
): Promise<void> {
  const { secret, resource, ...about } = options
  await tokensOf({ ...about, credential: { clientSecret: secret } })(resource, true)
}

/** Returns a function that gets tokens. Its first call loads MSAL and creates the application. */
function tokensOf(options: ClientOptions): GetToken {
  let getToken: GetToken | undefined
  return async (resource, skipCache) => {
    const { msalTokens } = await import('./msal.ts')
    getToken ??= msalTokens(options)
    return getToken(resource, skipCache)
  }
}
