import { HttpError } from './problem.ts'
import { createOwnBuckets } from './token-buckets.ts'

/**
 * Counts by address the callers who show no good token or signature. Above so many a minute (0 = no limit) they are told
 * to wait in place of what was wrong. It refuses nobody else: who shows a good token is served, whoever shares the address.
 * Counted by each process for itself, so that a flood of refusals writes nothing into the store.
 */
export function createRefusals(perMinute: number, now: () => number) {
  const buckets = createOwnBuckets(now)
  return {
    /** The error itself, or 429 with Retry-After when this address has had too many of its kind. */
    async judge(error: unknown, address: string): Promise<unknown> {
      if (perMinute === 0 || !(error instanceof HttpError) || !refusesCaller.has(error.code)) return error
      const rule = { key: address, capacity: perMinute, perSecond: perMinute / 60 }
      const { taken, tokens } = await buckets.draw([rule])
      if (taken) return error
      const secondsUntil = (wanted: number) => Math.max(1, Math.ceil((wanted - (tokens[0] ?? 0)) / rule.perSecond))
      const seconds = secondsUntil(1)
      const limit = `"refusals";r=0;t=${secondsUntil(perMinute)}`
      const detail = `That is more than ${perMinute} refused calls a minute from one address. Wait ${seconds} s.`
      const policy = `"refusals";q=${perMinute};w=60`
      return new HttpError('rate-limited', detail, {
        // What is wrong is said all the same: whoever shares the address may only need a new token.
        headers: { ...error.headers, 'Retry-After': String(seconds), 'RateLimit-Policy': policy, RateLimit: limit },
        cause: error,
      })
    },
  }
}

const refusesCaller: ReadonlySet<string> = new Set(['unauthenticated', 'invalid-token', 'invalid-signature'])
