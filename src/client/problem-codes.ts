/**
 * The codes that a problem can have: the closed list of the API document. What each means and what to do about it stands
 * there, under the answers of each call.
 */
export const problemCodes = [
  'validation-failed',
  'comment-required',
  'nudged-already',
  'name-taken',
  'not-found',
  'forbidden',
  'self-approval',
  'not-an-approver',
  'second-admin-needed',
  'already-decided',
  'already-ended',
  'illegal-transition',
  'stale-version',
  'too-many-open-requests',
  'unavailable',
  'malformed-request',
  'malformed-json',
  'duplicate-key',
  'too-deep',
  'idempotency-key-malformed',
  'unauthenticated',
  'invalid-token',
  'invalid-signature',
  'insufficient-scope',
  'link-refused',
  'link-changed',
  'link-used',
  'link-expired',
  'no-such-address',
  'link-needs-post',
  'method-not-allowed',
  'not-acceptable',
  'request-timeout',
  'idempotency-key-in-flight',
  'body-too-large',
  'unsupported-media-type',
  'idempotency-key-reused',
  'precondition-required',
  'rate-limited',
  'headers-too-large',
  'internal',
  'keys-unreachable',
  'starting',
  'draining',
] as const
export type ProblemCode = (typeof problemCodes)[number]

/** The same, or `unknown` for a code of a later version of the service. */
export const problemCodeOf = (code: unknown): ProblemCode | 'unknown' =>
  problemCodes.find((known) => known === code) ?? 'unknown'
