import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from 'jose'

/** The issuer's keys cannot be had and none are known, so no token can be judged. */
export class KeysUnreachable extends Error {
  constructor(cause: unknown) {
    super('The keys of the token issuer cannot be fetched.', { cause })
    this.name = 'KeysUnreachable'
  }
}

export interface SigningKeysOptions {
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
export type SigningKeys = JWTVerifyGetKey & { readonly jwks: () => JSONWebKeySet | undefined }

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
