import { because, type Check, isFault, type Reason, sentenceOf, TenantError } from '../../core/index.ts'
import type { Exchange } from './exchange.ts'
import type { Graph } from './graph.ts'
import type { SharePoint } from './sharepoint.ts'

/** The callers of all services. */
export interface Services {
  readonly graph: Graph
  readonly sharePoint: SharePoint
  readonly exchange: Exchange
}

/** Result of one check. `fault` is for admins, undefined when the check passes. */
export const checkOf = (name: Check['name'], fault: Reason | undefined): Check =>
  fault ? { name, ok: false, detail: sentenceOf(fault), reason: fault } : { name, ok: true, detail: '' }

/** Returns the fault `Dana Fox and Omar Haddad are missing`; undefined without names. */
export const missingPeople = (names: readonly string[]): Reason | undefined =>
  names.length === 0 ? undefined : because('peopleMissing', { count: names.length, people: { all: names } })

/** A new object is visible everywhere within this time. Milliseconds. */
const visibleWithin = 5 * 60_000
/** Returns whether an object that was created at this time may not be visible yet. */
export const isRecent = (since: string): boolean => Date.now() - Date.parse(since) <= visibleWithin

/** How long to wait for values that Exchange may show only after a day. Seconds. */
const longestLagWait = 120

/**
 * Runs the checks once. A replica may not have the latest writes, so the job checks again later while a check fails; a
 * fault counts when it has lasted for `settleSeconds`. The job waits at most two minutes for values that are only not
 * visible yet. After that they are no fault.
 */
export async function readyResult(
  check: () => Promise<Check[]>,
  { checkedSince }: { readonly checkedSince?: string | undefined },
  settleSeconds: number,
): Promise<
  | { done: true; made: object; checks: Check[] }
  | { done: false; retryAfterSeconds: number; made?: { checkedSince: string } }
> {
  const now = Date.now()
  const checks = await check()
  const age = checkedSince === undefined ? 0 : (now - Date.parse(checkedSince)) / 1000
  const patience = checks.some(isFault) ? settleSeconds : Math.min(settleSeconds, longestLagWait)
  if (checks.every(({ ok }) => ok) || age >= patience) return { done: true, made: {}, checks }
  return {
    done: false,
    retryAfterSeconds: age < 30 ? 5 : 15,
    ...(checkedSince === undefined && { made: { checkedSince: new Date(now).toISOString() } }),
  }
}

/**
 * Returns a value that an earlier step of the request created. Throws a `TenantError` that is not retryable when the
 * value is missing: then the steps ran in a wrong order, which is a defect.
 */
export function needed<P extends object>(progress: P, name: keyof P & string): string {
  const value = progress[name]
  if (typeof value === 'string' && value !== '') return value
  throw new TenantError('missing-progress', because('progressMissing', { property: name }), {
    retryable: false,
  })
}

/** Normalizes white space, for comparisons: services may change it. */
export const normalizeSpace = (text: string): string => text.replace(/\s+/g, ' ').trim()
