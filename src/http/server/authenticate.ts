import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  type LocalJWKSet,
} from 'jose'
import { HttpError } from './problem.ts'
import type { HttpErrorCode } from './problem-codes.ts'

export interface Api {
  /** App ID URIs and client ids that are valid as the `aud` of a token. */
  readonly audiences: readonly string[]
  /** What callers request: `api://{client id}/App.ReadWrite.All`. */
  readonly scope: string
}

/** Which tokens are accepted. Issuers must be equal to one of these. */
export interface TokenOptions {
  /** `{login}/{tenant}`: where callers sign in, for the API document. */
  readonly authority: string
  readonly issuers: readonly string[]
  readonly jwksUrl: string
  readonly tenantId: string
  readonly collab: Api
  readonly mail: Api
  /** Client ids, in lower case, of the applications that may use the mail API without a person. */
  readonly mailAppClients: readonly string[]
  readonly fetch?: typeof fetch
}

/** The API of a route: audience and scope of a token are checked together (DESIGN §5). */
export type Audience = 'collab' | 'mail' | 'any'

/**
 * The claims that decide who calls (Entra, "Secure applications by validating claims"). With `clientId` the caller is
 * an application, and `id` is the id of its service principal.
 */
export interface Identity {
  readonly tenantId: string
  readonly id: string
  readonly clientId?: string
}
export type Authenticate = (request: IncomingMessage, audience: Audience) => Promise<Identity>

const scope = 'App.ReadWrite.All'
const skewSeconds = 60
/** A verified token is not verified again for this time, so a withdrawn key ends with it. */
const cachedMilliseconds = 60_000
/** Most verified tokens in the cache. Refused tokens are not cached, so callers cannot fill it. */
const mostCached = 2000
const objectId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Reads the caller from the request's bearer token (RFC 6750, RFC 8725). Throws 401 without a valid token, 403 for a
 * token without the scope or for an application that may not call, and 503 when the issuer's keys are unavailable.
 */
export function createAuthenticate(options: TokenOptions, now: () => number): Authenticate {
  const keys = createSigningKeys({ url: options.jwksUrl, fetch: options.fetch ?? fetch, now })
  const verified = cacheVerified((token, audience) => verify(token, options, audience, keys, now), now)
  return async (request, audience) => {
    const refuse = refusalsOf(options, audience)
    const token = bearerToken(request, refuse)
    const claims = await verified(token, audience)
    if (claims['tid'] !== options.tenantId || !isOfItsIssuer(claims)) throw refuse.invalid()
    const clientId = isAppOnly(claims) ? clientOf(claims, options, audience) : undefined
    if (clientId === undefined) refuseWithoutScope(claims, refuse)
    const { oid } = claims
    if (typeof oid !== 'string' || !objectId.test(oid)) throw refuse.invalid()
    return { tenantId: options.tenantId, id: oid.toLowerCase(), ...(clientId !== undefined && { clientId }) }
  }
}

function bearerToken(request: IncomingMessage, { unauthenticated, invalid }: Refusals): string {
  const headers = request.headersDistinct['authorization'] ?? []
  const [first = ''] = headers
  if (headers.length > 1) throw invalid()
  if (!/^bearer(\s|$)/i.test(first)) throw unauthenticated()
  const token = /^bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(first)?.[1]
  if (token === undefined) throw invalid()
  return token
}

type Verify = (token: string, audience: Audience) => Promise<JWTPayload>

/** Caches verified tokens by hash and audience, at most until they expire. */
function cacheVerified(verify: Verify, now: () => number): Verify {
  const good = new Map<string, { readonly claims: JWTPayload; readonly from: number; readonly until: number }>()
  return async (token, audience) => {
    const key = `${audience} ${createHash('sha256').update(token).digest('base64')}`
    const at = now()
    const known = good.get(key)
    // A clock that was set back must not extend the life of a cached token.
    if (known && known.from <= at && at < known.until) return known.claims
    const claims = await verify(token, audience)
    good.delete(key)
    const [oldest] = good.keys()
    if (good.size >= mostCached && oldest !== undefined) good.delete(oldest)
    good.set(key, {
      claims,
      from: at,
      until: Math.min(at + cachedMilliseconds, ((claims.exp ?? 0) + skewSeconds) * 1000),
    })
    return claims
  }
}

async function verify(
  token: string,
  options: TokenOptions,
  audience: Audience,
  keys: ReturnType<typeof createSigningKeys>,
  now: () => number,
): Promise<JWTPayload> {
  const audiences = {
    collab: options.collab.audiences,
    mail: options.mail.audiences,
    any: [...options.collab.audiences, ...options.mail.audiences],
  }[audience]
  const keyOf: JWTVerifyGetKey = (header, signed) => {
    // Without a key id jose would accept a single key; Entra always sends one.
    if (typeof header.kid !== 'string') throw new errors.JWKSNoMatchingKey()
    return keys(header, signed)
  }
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: ['RS256'],
      issuer: [...options.issuers],
      audience: [...audiences],
      clockTolerance: skewSeconds,
      currentDate: new Date(now()),
      requiredClaims: ['exp'],
    })
    return payload
  } catch (cause) {
    if (cause instanceof KeysUnreachable) {
      const headers = { 'Retry-After': '10' }
      throw new HttpError('keys-unreachable', 'Tokens cannot be checked just now.', { headers, cause })
    }
    throw refusalsOf(options, audience).invalid(cause)
  }
}

/** Entra has one issuer for each token version. A token that mixes the two is not Entra's. */
function isOfItsIssuer({ iss = '', ver }: JWTPayload): boolean {
  if (ver === undefined) return true
  return ver === (iss.startsWith('https://sts.windows.net/') ? '1.0' : '2.0')
}

/**
 * Entra, "Access token claims": `idtyp` is present if the API requests it. Otherwise an application has roles, no
 * scope, and its object id as its subject; a person has another subject.
 */
function isAppOnly({ scp, roles, idtyp, sub, oid }: JWTPayload): boolean {
  if (idtyp !== undefined) return idtyp === 'app'
  return scp === undefined && roles !== undefined && sub !== undefined && sub === oid
}

/**
 * Returns the client id of an application that acts for itself: only in the mail API, only if it is listed and has the
 * role. Some addresses accept both APIs, so the audience of the token decides.
 */
function clientOf(claims: JWTPayload, options: TokenOptions, audience: Audience): string {
  const isForMail = [claims.aud ?? []].flat().some((one) => options.mail.audiences.includes(one))
  const { insufficient, invalid } = refusalsOf(options, audience)
  if (audience === 'collab' || !isForMail) {
    throw insufficient('Application permissions are not supported here: sign in on behalf of a person.')
  }
  const forMail = refusalsOf(options, 'mail')
  const { ver, azp, appid, roles } = claims
  const client = ver === '1.0' ? appid : azp
  if (typeof client !== 'string' || !objectId.test(client)) throw invalid()
  const clientId = client.toLowerCase()
  if (!options.mailAppClients.includes(clientId)) {
    const detail =
      'This application may not act for itself. Sign in on behalf of a person, or have its client id added to the setting MAIL_APP_CLIENTS.'
    throw forMail.insufficient(detail)
  }
  if (!Array.isArray(roles) || !roles.includes(scope)) throw forMail.insufficient(`The token lacks the role ${scope}.`)
  return clientId
}

function refuseWithoutScope({ scp }: JWTPayload, { insufficient, invalid }: Refusals): void {
  // An ID token has the same keys and client, and no scope.
  if (typeof scp !== 'string') throw invalid()
  if (!scp.split(' ').includes(scope)) throw insufficient(`The token lacks the scope ${scope}.`)
}

interface Refusals {
  unauthenticated(): HttpError
  invalid(cause?: unknown): HttpError
  insufficient(detail: string): HttpError
}

/** Refusals of a route. Each names the scopes that the route accepts (RFC 6750 §3). */
function refusalsOf({ collab, mail }: TokenOptions, audience: Audience): Refusals {
  const apis = { collab: [collab], mail: [mail], any: [collab, mail] }[audience]
  const scopes = [...new Set(apis.map(({ scope }) => scope))].join(' ')
  const refusal = (code: HttpErrorCode, detail: string, error: string, cause?: unknown) => {
    const challenge = `Bearer realm="quartermaster", ${error}scope="${scopes}"`
    return new HttpError(code, detail, { headers: { 'WWW-Authenticate': challenge }, cause })
  }
  return {
    unauthenticated: () => refusal('unauthenticated', 'Send an access token as Authorization: Bearer.', ''),
    // Details of the failed check would help only an attacker.
    invalid: (cause) =>
      refusal('invalid-token', 'The access token is not valid for this API.', 'error="invalid_token", ', cause),
    insufficient: (detail) => refusal('insufficient-scope', detail, 'error="insufficient_scope", '),
  }
}

/** No key of the issuer is known and none can be fetched, so no token can be checked. */
class KeysUnreachable extends Error {
  constructor(cause: unknown) {
    super('The keys of the token issuer cannot be fetched.', { cause })
    this.name = 'KeysUnreachable'
  }
}

interface SigningKeysOptions {
  readonly url: string
  readonly fetch: typeof fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Older keys are fetched again while they still serve, so a withdrawn key goes out of use. */
const refreshAfterMilliseconds = 10 * 60_000
/** The least time between two fetches for unknown key ids (reliability R22). */
const unknownKeyMilliseconds = 60_000
/** Without any keys every request waits for the issuer, so a failed fetch is repeated sooner. */
const firstKeysMilliseconds = 1_000
const fetchTimeoutMilliseconds = 5_000

/** Finds the key of a token; `jwks` returns all keys as published. */
type SigningKeys = JWTVerifyGetKey & { readonly jwks: () => JSONWebKeySet | undefined }

/**
 * The issuer's public keys (RFC 7517). Throws jose's `JWKSNoMatchingKey` for an unknown key id, and `KeysUnreachable`
 * while no keys were ever fetched. Fetched keys stay in use while the issuer does not answer.
 */
export function createSigningKeys({ url, fetch, now }: SigningKeysOptions): SigningKeys {
  let keys: LocalJWKSet | undefined
  let fetchedAt = 0
  let triedAt = Number.NEGATIVE_INFINITY
  let failure: unknown
  let pending: Promise<void> | undefined

  const load = (): Promise<void> => {
    triedAt = now()
    pending ??= fetchKeys(url, fetch)
      .then((set) => {
        keys = createLocalJWKSet(set)
        fetchedAt = now()
      })
      .catch((error: unknown) => {
        failure = error
      })
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  // A clock that was set back must not keep a new key out.
  const isOlder = (at: number, milliseconds: number): boolean => now() - at >= milliseconds || now() < at
  const triedWithin = (milliseconds: number): boolean => !isOlder(triedAt, milliseconds)

  const keyOf: JWTVerifyGetKey = async (header, token) => {
    if (!keys && (pending || !triedWithin(firstKeysMilliseconds))) await load()
    if (!keys) throw new KeysUnreachable(failure)
    // Not awaited: the old keys serve meanwhile, and load() never rejects.
    if (isOlder(fetchedAt, refreshAfterMilliseconds) && !triedWithin(unknownKeyMilliseconds)) void load()
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || (!pending && triedWithin(unknownKeyMilliseconds))) throw error
      await load()
      return keys(header, token)
    }
  }
  return Object.assign(keyOf, { jwks: () => keys?.jwks() })
}

async function fetchKeys(url: string, fetcher: typeof fetch): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(fetchTimeoutMilliseconds)
  const response = await fetcher(url, { headers: { Accept: 'application/json' }, redirect: 'error', signal })
  if (response.status !== 200) throw new Error(`the issuer answered ${response.status} when asked for its keys`)
  const set: unknown = await response.json()
  if (!isKeySet(set)) throw new Error('the issuer answered something that is not a key set')
  return set
}

const isKeySet = (value: unknown): value is JSONWebKeySet =>
  typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys) && value.keys.length > 0
