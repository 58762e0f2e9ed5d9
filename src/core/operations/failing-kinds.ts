import { type ResourceKind, resourceKinds } from '../shared/index.ts'

/** A request that has succeeded or failed. A retried or cancelled request has neither state. */
export interface EndedRequest {
  readonly kind: ResourceKind
  readonly status: 'succeeded' | 'failed'
  readonly at: Date
}

/** A kind fails when its latest requests all failed: this many, within this many days. */
export const failingAfter = { requests: 5, days: 7 } as const

/**
 * Returns the kinds whose latest requests all failed. Rates need many requests, so a small organisation would never see
 * that nothing works.
 */
export function failingKinds(ended: readonly EndedRequest[]): ResourceKind[] {
  return resourceKinds.filter((kind) => {
    const latest = ended
      .filter((one) => one.kind === kind)
      .toSorted((one, other) => other.at.getTime() - one.at.getTime())
      .slice(0, failingAfter.requests)
    return latest.length === failingAfter.requests && latest.every(({ status }) => status === 'failed')
  })
}
