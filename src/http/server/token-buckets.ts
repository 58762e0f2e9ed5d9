import type { BucketRule, TokenBuckets } from '../../core/index.ts'

interface Bucket {
  readonly rule: BucketRule
  tokens: number
  filledAt: number
}

/** More buckets than this are looked through for those that nobody uses any more. */
const bucketsBeforeSweep = 10_000

/** Buckets of this process alone: for the embedded store, which has one. `now` is in milliseconds. */
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
