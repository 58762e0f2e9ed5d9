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

/** One of our APIs. */
export interface Api {
  /** App ID URIs and client ids that a token may have as its `aud`. */
  readonly audiences: readonly string[]
  /** What callers request: `api://{client id}/App.ReadWrite.All`. */
  readonly scope: string
}

/** Whose tokens are taken. Issuers are compared whole. */
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

/** Which API a route belongs to: a token is judged by its audience and its scope together (DESIGN §5). */
export type Audience = 'collab' | 'mail' | 'any'

/**
 * Who the token is about: the only claims that decide anything (Entra, "Secure applications by validating claims").
 * `clientId` is there when it is about an application itself; `id` is then that of its service principal.
 */
export interface Identity {
  readonly tenantId: string
  readonly id: string
  readonly clientId?: string
}
export type Authenticate = (request: IncomingMessage, audience: Audience) => Promise<Identity>

const scope = 'App.ReadWrite.All'
const skewSeconds = 60
/** A token that was found good is not checked anew for so long; a key that is withdrawn ends with it. Milliseconds. */
const cachedMilliseconds = 60_000
/** So many good tokens are kept; refused ones never are, so nobody fills this from outside. */
const mostCached = 2000
const objectId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Reads the caller from the request's bearer token (RFC 6750, RFC 8725). Throws 401 without a good token, 403 when a good
 * one does not carry the scope or speaks for nobody who may call, and 503 when the issuer's keys cannot be had.
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

/** Remembers what was found good, by its hash and by whom it was for; never longer than the token itself is good. */
function cacheVerified(verify: Verify, now: () => number): Verify {
  const good = new Map<string, { readonly claims: JWTPayload; readonly from: number; readonly until: number }>()
  return async (token, audience) => {
    const key = `${audience} ${createHash('sha256').update(token).digest('base64')}`
    const at = now()
    const known = good.get(key)
    // A clock that was set back must not keep a withdrawn key's tokens good until it is right again.
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
    // Without an id any single key would do; Entra always names one.
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

/** Entra's token versions have different issuers; one version's token with the other's issuer was not made by Entra. */
function isOfItsIssuer({ iss = '', ver }: JWTPayload): boolean {
  if (ver === undefined) return true
  return ver === (iss.startsWith('https://sts.windows.net/') ? '1.0' : '2.0')
}

/**
 * Entra, "Access token claims": `idtyp` says it where the API requests it; else an application has roles and no scope, and
 * its subject is its object id. A person's subject is another value.
 */
function isAppOnly({ scp, roles, idtyp, sub, oid }: JWTPayload): boolean {
  if (idtyp !== undefined) return idtyp === 'app'
  return scp === undefined && roles !== undefined && sub !== undefined && sub === oid
}

/**
 * The client id of an application that acts for itself: in the mail API alone, for those that are listed, with the role.
 * Whether it is the mail API's token is read from its audience, since some addresses take either API's.
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
  // An ID token is signed by the same keys, for the same client, and carries no scope at all.
  if (typeof scp !== 'string') throw invalid()
  if (!scp.split(' ').includes(scope)) throw insufficient(`The token lacks the scope ${scope}.`)
}

interface Refusals {
  unauthenticated(): HttpError
  invalid(cause?: unknown): HttpError
  insufficient(detail: string): HttpError
}

/** Refusals of a route. Each names the scopes that open it, so that a client knows what to request (RFC 6750 §3). */
function refusalsOf({ collab, mail }: TokenOptions, audience: Audience): Refusals {
  const apis = { collab: [collab], mail: [mail], any: [collab, mail] }[audience]
  const scopes = [...new Set(apis.map(({ scope }) => scope))].join(' ')
  const refusal = (code: HttpErrorCode, detail: string, error: string, cause?: unknown) => {
    const challenge = `Bearer realm="quartermaster", ${error}scope="${scopes}"`
    return new HttpError(code, detail, { headers: { 'WWW-Authenticate': challenge }, cause })
  }
  return {
    unauthenticated: () => refusal('unauthenticated', 'Send an access token as Authorization: Bearer.', ''),
    // Says no more than that: the failed check would only help an attacker.
    invalid: (cause) =>
      refusal('invalid-token', 'The access token is not valid for this API.', 'error="invalid_token", ', cause),
    insufficient: (detail) => refusal('insufficient-scope', detail, 'error="insufficient_scope", '),
  }
}

/** The issuer's keys cannot be had and none are known, so no token can be judged. */
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

/** Keys this old are fetched anew while the old ones still serve, so a key that the issuer withdrew goes out of use. */
const refreshAfterMilliseconds = 10 * 60_000
/** However many unknown key ids come, the issuer is asked once in this time (reliability R22). */
const unknownKeyMilliseconds = 60_000
/** Without any keys every request waits for the issuer, so a failed fetch is repeated sooner. */
const firstKeysMilliseconds = 1_000
const fetchTimeoutMilliseconds = 5_000

/** Finds the key of a token; and all keys as they were published, with whatever else they say. */
type SigningKeys = JWTVerifyGetKey & { readonly jwks: () => JSONWebKeySet | undefined }

/**
 * The issuer's public keys (RFC 7517). A key id that is not known throws jose's `JWKSNoMatchingKey`; when no keys could
 * ever be fetched it throws `KeysUnreachable`. Keys once fetched serve on while the issuer is away; it never fails open.
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
  // A clock that was set back must not keep a new key out until it is right again.
  const isOlder = (at: number, milliseconds: number): boolean => now() - at >= milliseconds || now() < at
  const triedWithin = (milliseconds: number): boolean => !isOlder(triedAt, milliseconds)

  const keyOf: JWTVerifyGetKey = async (header, token) => {
    if (!keys && (pending || !triedWithin(firstKeysMilliseconds))) await load()
    if (!keys) throw new KeysUnreachable(failure)
    // Not awaited: the old keys serve meanwhile, and load() settles whatever happens.
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
