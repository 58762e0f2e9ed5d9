import type { Route } from './define-route.ts'
import { type ProblemCode, problemCodes } from './problem-codes.ts'

/** Answered whatever the service does, so that its surroundings can see how it does. */
const always = ['/healthz', '/readyz', '/metrics']

/**
 * Every code that a call of this route can be refused with: those that its own work names, and those that come of how it is
 * served (`serve-route.ts`, in the same order). Tests hold every answer that they see against it.
 */
export function refusalsOf(route: Route): ProblemCode[] {
  const { params, query, body, permission, idempotent, anyAccept, refusals, path } = route
  const codes: [when: boolean, ...codes: ProblemCode[]][] = [
    [!always.includes(path), 'starting', 'draining'],
    [!anyAccept, 'not-acceptable'],
    [permission !== 'public', 'unauthenticated', 'invalid-token', 'insufficient-scope', 'keys-unreachable'],
    [permission !== 'public', 'rate-limited', 'forbidden', 'unavailable'],
    [idempotent === true, 'idempotency-key-malformed', 'idempotency-key-in-flight', 'idempotency-key-reused'],
    [params !== undefined, 'no-such-address'],
    [query !== undefined, 'validation-failed'],
    [body !== undefined, 'request-timeout', 'body-too-large', 'unsupported-media-type'],
    [body !== undefined, 'malformed-json', 'duplicate-key', 'too-deep', 'validation-failed'],
    [true, 'malformed-request', 'headers-too-large', 'internal'],
  ]
  const served = codes.flatMap(([when, ...some]) => (when ? some : []))
  const all = Object.keys(problemCodes) as ProblemCode[]
  return all.filter((code) => served.includes(code) || refusals.includes(code))
}

/** The codes in groups of one status, in the order of the statuses. */
export function byStatus(codes: readonly ProblemCode[]): Map<number, ProblemCode[]> {
  const groups = Map.groupBy(codes, (code) => problemCodes[code].status)
  return new Map([...groups].sort(([one], [other]) => one - other))
}
