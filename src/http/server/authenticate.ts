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
import type { CallerIdentity } from '../../core/index.ts'
import { HttpError } from './problem.ts'
import type { HttpErrorCode } from './problem-codes.ts'
import {
  claimOf,
  isAppOnly,
  isObjectId,
  requiredScope,
  sentencesOf,
  skewSeconds,
  type TokenClaim,
  versionOf,
  wrongClaims,
} from './token-claims.ts'

export interface Api {
  /** App ID URIs and client ids that are valid as the `aud` of a token. */
  readonly audiences: readonly string[]
  /** The scope that callers request: `api://{client id}/App.ReadWrite.All`. */
  readonly scope: string
}

/** The accepted tokens. Issuers must be equal to one of `issuers`. */
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

export type Authenticate = (request: IncomingMessage, audience: Audience) => Promise<CallerIdentity>

/** How long a verified token is not verified again, so a withdrawn key is accepted at most this long. Milliseconds. */
const cachedMilliseconds = 60_000
/** Most verified tokens in the cache. Refused tokens are not cached, so callers cannot fill it. */
const maxCached = 2000

/**
 * Reads the caller from the request's bearer token (RFC 6750, RFC 8725). Throws 401 without a valid token, 403 for a
 * token without the scope or for an application that may not call, and 503 when the issuer's keys are unavailable.
 */
export function createAuthenticate(options: TokenOptions, now: () => number): Authenticate {
  const keys = createSigningKeys({ url: options.jwksUrl, fetch: options.fetch ?? fetch, now })
  const verified = cacheVerified((token, audience) => verify(token, options, audience, keys, now), now)
  return async (request, audience) => {
    const refuse = refusalsOf(options, audience, now)
    const token = bearerToken(request, refuse)
    const claims = await verified(token, audience)
    const { iss = '', ver, tid, oid } = claims
    // Entra has one issuer for each token version. A token that mixes the two is not Entra's.
    const isOfItsIssuer = ver === undefined || ver === versionOf(iss)
    if (tid !== options.tenantId || !isOfItsIssuer) throw refuse.invalid(token)
    const clientId = isAppOnly(claims) ? clientOf(token, claims, options, audience, now) : undefined
    if (clientId === undefined) refuseWithoutScope(token, claims, refuse)
    if (!isObjectId(oid)) throw refuse.invalid(token)
    return { tenantId: options.tenantId, id: oid.toLowerCase(), ...(clientId !== undefined && { clientId }) }
  }
}

const notJwt = 'The text after Bearer is not a signed JWT. Send the access token unchanged.'

function bearerToken(request: IncomingMessage, { unauthenticated, malformed }: Refusals): string {
  const headers = request.headersDistinct['authorization'] ?? []
  const [first = ''] = headers
  if (headers.length > 1) throw malformed('The call has more than one Authorization header. Send one.')
  if (!/^bearer(\s|$)/i.test(first)) throw unauthenticated()
  const token = /^bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(first)?.[1]
  if (token === undefined) throw malformed(notJwt)
  return token
}

/** The App ID URIs and client ids that a route accepts as `aud`. */
function audiencesOf({ collab, mail }: TokenOptions, audience: Audience): readonly string[] {
  return { collab: collab.audiences, mail: mail.audiences, any: [...collab.audiences, ...mail.audiences] }[audience]
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
    if (good.size >= maxCached && oldest !== undefined) good.delete(oldest)
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
  const keyOf: JWTVerifyGetKey = (header, signed) => {
    // Without a key id jose would accept a single key; Entra always sends one.
    if (typeof header.kid !== 'string') throw new errors.JWKSNoMatchingKey()
    return keys(header, signed)
  }
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: ['RS256'],
      issuer: [...options.issuers],
      audience: [...audiencesOf(options, audience)],
      clockTolerance: skewSeconds,
      currentDate: new Date(now()),
      requiredClaims: ['exp'],
    })
    return payload
  } catch (cause) {
    if (cause instanceof KeysUnreachable) {
      const headers = { 'Retry-After': '10' }
      throw new HttpError('keys-unreachable', 'The service cannot verify tokens now. Try again later.', {
        headers,
        cause,
      })
    }
    throw refusalsOf(options, audience, now).invalid(token, cause)
  }
}

/**
 * Returns the client id of an application that acts for itself: only in the mail API, only if it is listed and has the
 * role. Some addresses accept both APIs, so the audience of the token decides.
 */
function clientOf(
  token: string,
  claims: JWTPayload,
  options: TokenOptions,
  audience: Audience,
  now: () => number,
): string {
  const isForMail = [claims.aud ?? []].flat().some((one) => options.mail.audiences.includes(one))
  const { insufficient, invalid } = refusalsOf(options, audience, now)
  if (audience === 'collab' || !isForMail) {
    const forMail = `${options.mail.scope.replace(/[^/]+$/, '')}.default`
    const detail = `Application permissions are not supported here: sign in on behalf of a person. An application without a person can request only mailboxes. It needs a token for ${forMail} and its client id in the setting MAIL_APP_CLIENTS.`
    throw insufficient(detail, claimOf(claims, 'scp', [requiredScope]))
  }
  const forMail = refusalsOf(options, 'mail', now)
  const { ver, azp, appid, roles } = claims
  const [name, client] = ver === '1.0' ? (['appid', appid] as const) : (['azp', azp] as const)
  if (!isObjectId(client)) throw invalid(token)
  const clientId = client.toLowerCase()
  if (!options.mailAppClients.includes(clientId)) {
    const detail =
      'The setting MAIL_APP_CLIENTS does not list this application, so it cannot act without a person. Ask an admin to add its client id to MAIL_APP_CLIENTS and restart the service, or sign in on behalf of a person.'
    throw forMail.insufficient(detail, claimOf(claims, name, ['a client id in MAIL_APP_CLIENTS']))
  }
  if (!Array.isArray(roles) || !roles.includes(requiredScope))
    throw forMail.insufficient(
      `The token lacks the role ${requiredScope}. Ask an admin to assign this application role to the application, with consent.`,
      claimOf(claims, 'roles', [requiredScope]),
    )
  return clientId
}

function refuseWithoutScope(token: string, claims: JWTPayload, { insufficient, invalid }: Refusals): void {
  const { scp } = claims
  // An ID token has the same keys and client, and no scope.
  if (typeof scp !== 'string') throw invalid(token)
  if (!scp.split(' ').includes(requiredScope))
    throw insufficient(`The token lacks the scope ${requiredScope}.`, claimOf(claims, 'scp', [requiredScope]))
}

interface Refusals {
  unauthenticated(): HttpError
  /** An Authorization header that has no JWT. */
  malformed(why: string): HttpError
  invalid(token: string, cause?: unknown): HttpError
  insufficient(detail: string, claim: TokenClaim): HttpError
}

/** Refusals of a route. Each names the scopes that the route accepts (RFC 6750 §3). */
function refusalsOf(options: TokenOptions, audience: Audience, now: () => number): Refusals {
  const { collab, mail, authority } = options
  const apis = { collab: [collab], mail: [mail], any: [collab, mail] }[audience]
  const scopes = [...new Set(apis.map(({ scope }) => scope))]
  const refusal = (
    code: HttpErrorCode,
    detail: string,
    error: string,
    more: Partial<Pick<HttpError, 'tokenClaims' | 'cause'>> = {},
  ) => {
    const challenge = `Bearer realm="quartermaster", ${error}scope="${scopes.join(' ')}"`
    return new HttpError(code, detail, { ...more, headers: { 'WWW-Authenticate': challenge } })
  }
  const malformed = (why: string, more: Partial<Pick<HttpError, 'tokenClaims' | 'cause'>> = {}) =>
    refusal('invalid-token', `The access token is not valid for this API. ${why}`, 'error="invalid_token", ', more)
  return {
    malformed,
    unauthenticated: () => refusal('unauthenticated', 'Send an access token as Authorization: Bearer.', ''),
    invalid(token, cause) {
      const tokenClaims = wrongClaims(token, { ...options, audiences: audiencesOf(options, audience) }, now())
      if (!tokenClaims) return malformed(notJwt, { cause })
      const signature = `Its signature does not match a key of ${authority}. Get a new token there.`
      const request = `Request a token for the scope ${scopes.join(' or ')}.`
      const why = tokenClaims.length === 0 ? signature : `${sentencesOf(tokenClaims)} ${request}`
      return malformed(why, { cause, tokenClaims })
    },
    insufficient: (detail, claim) =>
      refusal('insufficient-scope', `${detail} ${sentencesOf([claim])}`, 'error="insufficient_scope", ', {
        tokenClaims: [claim],
      }),
  }
}

/** No key of the issuer is known and none can be fetched, so no token can be checked. */
class KeysUnreachable extends Error {
  constructor(cause: unknown) {
    super('The service cannot fetch the keys of the token issuer.', { cause })
    this.name = 'KeysUnreachable'
  }
}

interface SigningKeysOptions {
  readonly url: string
  readonly fetch: typeof fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The age at which keys are fetched again, so that a withdrawn key expires. The old keys are used meanwhile. */
const refreshAfterMilliseconds = 10 * 60_000
/** The least time between two fetches for unknown key ids (reliability R22). */
const unknownKeyMilliseconds = 60_000
/** The same while the process has no keys, because every request then waits for the issuer. */
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
    // Not awaited: the old keys are used meanwhile, and load() never rejects.
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
  if (response.status !== 200) throw new Error(`the issuer answered ${response.status} to the request for its keys`)
  const set: unknown = await response.json()
  if (!isKeySet(set)) throw new Error('the answer of the issuer is not a key set')
  return set
}

const isKeySet = (value: unknown): value is JSONWebKeySet =>
  typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys) && value.keys.length > 0
