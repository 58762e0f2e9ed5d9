import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyaddr from 'proxy-addr'
import type { BucketRule, RateLimits, TokenBuckets } from '../../core/index.ts'
import { HttpError } from './problem.ts'

/** Calls per minute; 0 = no limit. `writeBurst`: how many writes may come at once (0: as many as in a minute). */
export interface LimitOptions {
  readonly writesPerMinute: number
  readonly writeBurst: number
  readonly readsPerMinute: number
  readonly tenantWritesPerMinute: number
  /** Calls without a valid token or signature, by address; no limit by default. */
  readonly refusalsPerMinute?: number
}

interface Limit extends BucketRule {
  readonly name: string
}
interface Counted extends Limit {
  readonly tokens: number
}

export interface Limits {
  /**
   * Counts one call, or as many as it costs, and returns the RateLimit headers of its answer
   * (draft-ietf-httpapi-ratelimit-headers). Throws 429 with Retry-After when too little is left. A call that costs more
   * than the capacity takes all of it.
   */
  take(kind: 'read' | 'write', caller: { tenantId: string; id: string }, cost?: number): Promise<Record<string, string>>
  /**
   * Counts a call with an Idempotency-Key before it is known to be a repeat, which `take` does not count: as many a
   * minute as reads, by this process alone, so that repeats cannot flood the store. Throws 429.
   */
  attempt(caller: { tenantId: string; id: string }): Promise<void>
}

/** How long a call waits for the shared buckets, in milliseconds; then this process counts alone. */
const sharedTimeout = 1000
/** The least time between two warnings that this process counts alone, in milliseconds. */
const warnEvery = 60_000

/** The shared buckets, and the log for calls that could not be counted there. */
interface SharedBuckets {
  readonly buckets: TokenBuckets
  readonly warn: (fields: object, message: string) => void
}

/**
 * Creates the rate limits as token buckets: shared ones if given, else buckets of this process. `now` is in milliseconds.
 * While the shared buckets do not answer, this process counts alone, so callers are still served, and one process never
 * allows more than the limit.
 */
export function createLimits(options: LimitOptions, now: () => number, shared?: SharedBuckets): Limits {
  const own = createOwnBuckets(now)
  const draw =
    shared === undefined ? own.draw : withFallback(shared.buckets.draw, own.draw, warnRarely(shared.warn, now))
  return {
    async attempt({ tenantId, id }) {
      const limits = limitOf('attempts', `${tenantId}/${id}`, options.readsPerMinute, 0)
      const { taken, counted } = await count(own.draw, limits)
      if (!taken && counted[0]) throw tooMany(counted[0], headersOf(counted))
    },
    async take(kind, { tenantId, id }, cost = 1) {
      const limits = costing(cost, limitsOf(options, kind, tenantId, id))
      if (limits.length === 0) return {}
      const { taken, counted } = await count(draw, limits)
      const headers = headersOf(counted)
      const empty = taken ? undefined : counted.find((one) => one.tokens < (one.cost ?? 1))
      if (empty) throw tooMany(empty, headers)
      return headers
    },
  }
}

/** Batches leave half of each bucket to people, and continue when a bucket is 80 % full. */
const share = { kept: 0.5, filled: 0.8 } as const

/** The same limits for queued work. It draws from the buckets of the people who ordered the work. */
export const createRateLimits = (options: LimitOptions, buckets: TokenBuckets): RateLimits => ({
  async takeWrite({ tenantId, id }) {
    const limits = limitsOf(options, 'write', tenantId, id)
    const { taken, counted } = await count(buckets.draw, limits)
    const short = counted.filter((one) => one.tokens < Math.floor(one.capacity * share.kept))
    const seconds = short.map((one) => secondsUntil(one, Math.max(1, one.capacity * share.filled)))
    return { taken, againInMilliseconds: Math.max(taken ? 0 : 1, ...seconds) * 1000 }
  },
  async takeReads({ tenantId, id }, cost) {
    const limits = costing(cost, limitsOf(options, 'read', tenantId, id))
    const { taken, counted } = await count(buckets.draw, limits)
    return taken ? 0 : Math.max(1, ...counted.map((limit) => secondsUntil(limit, limit.cost ?? 1)))
  },
})

const costing = (cost: number, limits: readonly Limit[]): Limit[] =>
  limits.map((limit) => ({ ...limit, cost: Math.min(cost, limit.capacity) }))

function limitOf(name: string, owner: string, perMinute: number, burst: number): Limit[] {
  if (perMinute === 0) return []
  return [{ name, key: `${name} ${owner}`, capacity: burst === 0 ? perMinute : burst, perSecond: perMinute / 60 }]
}

function limitsOf(options: LimitOptions, kind: 'read' | 'write', tenantId: string, id: string): Limit[] {
  if (kind === 'read') return limitOf('reads', `${tenantId}/${id}`, options.readsPerMinute, 0)
  return [
    ...limitOf('writes', `${tenantId}/${id}`, options.writesPerMinute, options.writeBurst),
    ...limitOf('tenant-writes', tenantId, options.tenantWritesPerMinute, 0),
  ]
}

type Draw = TokenBuckets['draw']

/** Draws from the buckets of these limits. Without limits every call is accepted. */
async function count(draw: Draw, limits: readonly Limit[]) {
  const { taken, tokens } = limits.length === 0 ? { taken: true, tokens: [] } : await draw(limits)
  return { taken, counted: limits.map((limit, place): Counted => ({ ...limit, tokens: tokens[place] ?? 0 })) }
}

/** Draws from our own buckets when the shared ones fail or take too long. */
function withFallback(shared: Draw, own: Draw, warn: (why: unknown) => void): Draw {
  return async (rules) => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${sharedTimeout} ms`)), sharedTimeout)
    })
    try {
      return await Promise.race([shared(rules), late])
    } catch (error) {
      warn(error)
      return own(rules)
    } finally {
      clearTimeout(timer)
    }
  }
}

function warnRarely(warn: SharedBuckets['warn'], now: () => number): (why: unknown) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  let requests = 0
  return (why) => {
    requests += 1
    if (now() - warnedAt < warnEvery) return
    warn({ err: why, requests }, 'the shared rate limits do not answer; this process counts its calls alone')
    warnedAt = now()
    requests = 0
  }
}

const secondsUntil = ({ tokens, perSecond }: Counted, wanted: number): number =>
  Math.ceil(Math.max(0, wanted - tokens) / perSecond)

function headersOf(limits: readonly Counted[]): Record<string, string> {
  const policies = limits.map(({ name, capacity, perSecond }) => {
    return `"${name}";q=${capacity};w=${Math.ceil(capacity / perSecond)}`
  })
  const left = limits.map((one) => {
    return `"${one.name}";r=${Math.floor(one.tokens)};t=${secondsUntil(one, one.capacity)}`
  })
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: left.join(', ') }
}

function tooMany(limit: Counted, headers: Record<string, string>): HttpError {
  const { name, capacity, perSecond, cost = 1 } = limit
  const seconds = Math.max(1, secondsUntil(limit, cost))
  const counts = cost > 1 ? ` This call counts as ${cost}.` : ''
  const what = name.replace('-', ' ')
  const perMinute = Math.round(perSecond * 60)
  const burst = capacity < perMinute ? `, and at most ${capacity} at once` : ''
  const detail = `The limit is ${perMinute} ${what} a minute${burst}.${counts} Wait ${seconds} s.`
  return new HttpError('rate-limited', detail, { headers: { ...headers, 'Retry-After': String(seconds) } })
}

interface Bucket {
  readonly rule: BucketRule
  tokens: number
  filledAt: number
}

/** Above this number, full buckets are removed. */
const bucketsBeforeSweep = 10_000

/** Buckets of this process alone, for the embedded store, which has only one process. `now` is in milliseconds. */
export function createOwnBuckets(now: () => number): TokenBuckets {
  const buckets = new Map<string, Bucket>()

  const filled = (rule: BucketRule, at: number): Bucket => {
    const { tokens, filledAt } = buckets.get(rule.key) ?? { tokens: rule.capacity, filledAt: at }
    const bucket = { rule, tokens: fill(rule, tokens, at - filledAt), filledAt: Math.max(filledAt, at) }
    buckets.set(rule.key, bucket)
    return bucket
  }
  const sweep = (at: number): void => {
    for (const [key, { rule, tokens, filledAt }] of buckets) {
      if (fill(rule, tokens, at - filledAt) >= rule.capacity) buckets.delete(key)
    }
  }

  return {
    async draw(rules) {
      const at = now()
      if (buckets.size > bucketsBeforeSweep) sweep(at)
      const wanted = rules.map((rule) => filled(rule, at))
      const taken = wanted.every(({ tokens, rule: { cost = 1 } }) => tokens >= cost)
      if (taken) for (const bucket of wanted) bucket.tokens -= bucket.rule.cost ?? 1
      return { taken, tokens: wanted.map(({ tokens }) => tokens) }
    },
    forgetFull: async () => sweep(now()),
  }
}

const fill = ({ capacity, perSecond }: BucketRule, tokens: number, milliseconds: number): number =>
  Math.min(capacity, tokens + (Math.max(0, milliseconds) / 1000) * perSecond)

/**
 * Counts callers without a valid token or signature by address. Above the limit per minute (0 = no limit) they get 429
 * instead of the refusal. Callers with a valid token are served, also from the same address. Each process counts alone,
 * so that a flood of refusals writes nothing into the store.
 */
export function createRefusals(perMinute: number, now: () => number) {
  const buckets = createOwnBuckets(now)
  return {
    /** Returns the error itself, or 429 with Retry-After above the limit of this address. */
    async judge(error: unknown, address: string): Promise<unknown> {
      if (perMinute === 0 || !(error instanceof HttpError) || !refusesCaller.has(error.code)) return error
      const rule = { key: address, capacity: perMinute, perSecond: perMinute / 60 }
      const { taken, tokens } = await buckets.draw([rule])
      if (taken) return error
      const secondsUntil = (wanted: number) => Math.max(1, Math.ceil((wanted - (tokens[0] ?? 0)) / rule.perSecond))
      const seconds = secondsUntil(1)
      const limit = `"refusals";r=0;t=${secondsUntil(perMinute)}`
      const detail = `This address has more than ${perMinute} refused calls a minute. Wait ${seconds} s.`
      const policy = `"refusals";q=${perMinute};w=60`
      return new HttpError('rate-limited', detail, {
        // The reason stays in the headers: another caller at this address may only need a new token.
        headers: { ...error.headers, 'Retry-After': String(seconds), 'RateLimit-Policy': policy, RateLimit: limit },
        cause: error,
      })
    },
  }
}

const refusesCaller: ReadonlySet<string> = new Set(['unauthenticated', 'invalid-token', 'invalid-signature'])

interface Forwarded {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headersDistinct: NodeJS.Dict<string[]>
}

/** Further hops are ignored. */
const maxHops = 20

/**
 * Finds the address that a request comes from. Anybody can write `X-Forwarded-For`, so it is read from the right, as
 * long as the hops are in `trusted` networks (`10.0.0.0/8`). The first other address is the caller's. Without trusted
 * proxies it is the address of the connection.
 */
export function createClientAddress(trusted: readonly string[]): (request: Forwarded) => string {
  const isTrusted = proxyaddr.compile(trusted.flatMap(halved))
  return ({ socket, headersDistinct }) => {
    const named = (headersDistinct['x-forwarded-for'] ?? []).join(',').split(',').slice(-maxHops)
    const hops = named.map((hop) => plain(withoutPort(hop.trim())))
    // No trusted proxy writes an invalid address, so only the hops after it count.
    const known = hops.slice(hops.findLastIndex((hop) => isIP(hop) === 0) + 1)
    const read: Pick<Forwarded, 'socket'> & Pick<IncomingMessage, 'headers'> = {
      socket: { remoteAddress: plain(socket.remoteAddress ?? '') },
      headers: { 'x-forwarded-for': known.join(', ') },
    }
    // The library reads only these two parts of a request.
    return proxyaddr(read as IncomingMessage, isTrusted)
  }
}

/** The library refuses a network of all addresses, so its halves are listed. The IPv6 network includes IPv4. */
function halved(network: string): string[] {
  if (!network.endsWith('/0')) return [network]
  const halves = ['0.0.0.0/1', '128.0.0.0/1']
  return network.includes(':') ? [...halves, '::/1', '8000::/1'] : halves
}

/** The network that is counted as one caller: a whole /64 for IPv6 (RFC 6177). */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const [before = [], after = []] = groups.map((part) => (part === '' ? [] : part.split(':')))
  const whole = [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
  return `${whole.slice(0, 4).join(':')}::/64`
}

/** Without the zone, and without the IPv6 form of IPv4 addresses. */
const plain = (address: string): string => (address.split('%')[0] ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop
