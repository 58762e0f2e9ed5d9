import { HttpError } from './problem.ts'

/** Requests per minute; 0 = no limit. `writeBurst` is how many writes may come at once (0: a whole minute's). */
export interface LimitOptions {
  readonly writesPerMinute: number
  readonly writeBurst: number
  readonly readsPerMinute: number
  readonly tenantWritesPerMinute: number
}

interface Bucket {
  readonly name: string
  readonly capacity: number
  readonly perSecond: number
  tokens: number
  filledAt: number
}

export type Limits = ReturnType<typeof createLimits>

/** More buckets than this are looked through for those that nobody uses any more. */
const bucketsBeforeSweep = 10_000

/**
 * Limits of use per person and per tenant, as token buckets in this process. `take` counts one request and gives the
 * RateLimit headers for its answer (draft-ietf-httpapi-ratelimit-headers); it throws 429 with Retry-After when there is
 * nothing left. `now` is in milliseconds.
 */
export function createLimits(options: LimitOptions, now: () => number) {
  const buckets = new Map<string, Bucket>()

  const bucket = (name: string, owner: string, perMinute: number, burst: number): Bucket | undefined => {
    if (perMinute === 0) return undefined
    if (buckets.size > bucketsBeforeSweep) sweep(buckets, now())
    const key = `${name} ${owner}`
    const capacity = burst === 0 ? perMinute : burst
    const known = buckets.get(key) ?? { name, capacity, perSecond: perMinute / 60, tokens: capacity, filledAt: now() }
    buckets.set(key, known)
    fill(known, now())
    return known
  }

  return {
    take(kind: 'read' | 'write', { tenantId, id }: { tenantId: string; id: string }): Record<string, string> {
      const wanted =
        kind === 'read'
          ? [bucket('reads', `${tenantId}/${id}`, options.readsPerMinute, 0)]
          : [
              bucket('writes', `${tenantId}/${id}`, options.writesPerMinute, options.writeBurst),
              bucket('tenant-writes', tenantId, options.tenantWritesPerMinute, 0),
            ]
      const limited = wanted.filter((one) => one !== undefined)
      const empty = limited.find(({ tokens }) => tokens < 1)
      if (empty) throw tooMany(empty, headersOf(limited))
      for (const one of limited) one.tokens -= 1
      return headersOf(limited)
    },
  }
}

function fill(bucket: Bucket, at: number): void {
  const seconds = Math.max(0, at - bucket.filledAt) / 1000
  bucket.tokens = Math.min(bucket.capacity, bucket.tokens + seconds * bucket.perSecond)
  bucket.filledAt = at
}

function sweep(buckets: Map<string, Bucket>, at: number): void {
  for (const [key, bucket] of buckets) {
    fill(bucket, at)
    if (bucket.tokens >= bucket.capacity) buckets.delete(key)
  }
}

const secondsUntil = ({ tokens, perSecond }: Bucket, wanted: number): number =>
  Math.ceil(Math.max(0, wanted - tokens) / perSecond)

function headersOf(buckets: readonly Bucket[]): Record<string, string> {
  if (buckets.length === 0) return {}
  const policies = buckets.map((one) => {
    return `"${one.name}";q=${one.capacity};w=${Math.ceil(one.capacity / one.perSecond)}`
  })
  const left = buckets.map((one) => {
    return `"${one.name}";r=${Math.floor(one.tokens)};t=${secondsUntil(one, one.capacity)}`
  })
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: left.join(', ') }
}

function tooMany(bucket: Bucket, headers: Record<string, string>): HttpError {
  const seconds = Math.max(1, secondsUntil(bucket, 1))
  const detail = `That is more than ${Math.round(bucket.perSecond * 60)} ${bucket.name.replace('-', ' ')} a minute. Wait ${seconds} s.`
  return new HttpError('rate-limited', detail, { headers: { ...headers, 'Retry-After': String(seconds) } })
}
