/**
 * A token bucket as whoever counts sees it: at most `capacity` at once, filled by `perSecond` as time goes. A bucket that
 * is not known yet is full.
 */
export interface BucketRule {
  readonly key: string
  readonly capacity: number
  readonly perSecond: number
  /** How many tokens the call takes, at most `capacity`; one unless given. */
  readonly cost?: number
}

/** What counting one request came to. */
export interface BucketDraw {
  /** Whether every bucket gave its tokens. When one has too few, none is taken from the others. */
  readonly taken: boolean
  /** What is in each bucket now, in the order of the rules. */
  readonly tokens: readonly number[]
}

/** Counts requests, in one process or for all that share a store. Whatever is drawn at the same time, no token goes twice. */
export interface TokenBuckets {
  /** Takes what the call costs from each of the buckets, or nothing from any. Each has a key of its own. */
  draw(rules: readonly BucketRule[]): Promise<BucketDraw>
  /** Forgets buckets that are full again: they are as good as new ones. */
  forgetFull(): Promise<void>
}
