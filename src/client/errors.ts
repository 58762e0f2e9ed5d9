import type { ProvisioningRequest } from './types.ts'

/** The call of an error. It contains no token and no body, so it may be logged. */
export interface CallAbout {
  readonly method: 'GET' | 'POST'
  /** Without the query. */
  readonly path: string
  /** The request that the call names, if any. */
  readonly requestId?: string
  /** The key of a write. If the result is unknown, a repeat with this key does the work only once. */
  readonly idempotencyKey?: string
}

/** The fault of one field of a body or query. */
export interface FieldFault {
  /** A JSON pointer: `#/owners/0`. */
  readonly pointer: string
  readonly code: string
  readonly detail: string
  readonly suggestion?: string
}

/** The base of all errors of calls. `kind` tells them apart, also between two copies of this package. */
abstract class CallError extends Error {
  abstract readonly kind: string
  readonly call: CallAbout
  constructor(message: string, call: CallAbout, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = new.target.name
    this.call = call
  }
}

/** The content of a refusal (RFC 9457). */
export interface ProblemDetails {
  readonly status: number
  readonly code: ProblemCode | 'unknown'
  /** The code of the answer: from a later version of the service if `code` is `unknown`. */
  readonly givenCode: string
  readonly title: string
  readonly detail: string
  readonly errors: readonly FieldFault[]
  readonly instance: string
  /** The service's log shows the call under this id. */
  readonly traceId: string
  /** How long to wait before the next call (Retry-After), in seconds. */
  readonly retryAfterSeconds?: number
}

/** The service refused the call: branch on `code`, show `detail`, and `errors` next to their fields. */
export class ProblemError extends CallError {
  readonly kind = 'problem'
  readonly status: number
  readonly code: ProblemCode | 'unknown'
  readonly givenCode: string
  readonly title: string
  readonly detail: string
  readonly errors: readonly FieldFault[]
  readonly instance: string
  readonly traceId: string
  readonly retryAfterSeconds: number | undefined
  constructor(problem: ProblemDetails, call: CallAbout) {
    super(`${problem.status} ${problem.givenCode || problem.title}: ${problem.detail}`, call)
    this.status = problem.status
    this.code = problem.code
    this.givenCode = problem.givenCode
    this.title = problem.title
    this.detail = problem.detail
    this.errors = problem.errors
    this.instance = problem.instance
    this.traceId = problem.traceId
    this.retryAfterSeconds = problem.retryAfterSeconds
  }
}

/** The directory refused the call. `code` is Microsoft Graph's (`Authorization_RequestDenied`), or empty. */
export class DirectoryError extends CallError {
  readonly kind = 'directory'
  readonly status: number
  readonly code: string
  readonly retryAfterSeconds: number | undefined
  constructor(status: number, code: string, call: CallAbout, retryAfterSeconds?: number) {
    super(`The directory answered ${status}${code && ` ${code}`}.`, call)
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The answer does not come from this API: a proxy's page, a redirect, no JSON, or far too long. */
export class UnexpectedAnswerError extends CallError {
  readonly kind = 'unexpected-answer'
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  constructor(what: string, status: number, call: CallAbout, retryAfterSeconds?: number) {
    super(`${call.method} ${call.path} was answered ${status} with ${what}.`, call)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** No connection, or a connection that broke before the end of the answer. `cause` is fetch's error. */
export class NetworkError extends CallError {
  readonly kind = 'network'
  constructor(call: CallAbout, cause: unknown) {
    super(`${call.method} ${call.path} got no complete answer: the connection failed.`, call, cause)
  }
}

/** No complete answer within the time of one attempt. */
export class TimedOutError extends CallError {
  readonly kind = 'timed-out'
  readonly seconds: number
  constructor(seconds: number, call: CallAbout) {
    super(`${call.method} ${call.path} got no complete answer within ${seconds} s.`, call)
    this.seconds = seconds
  }
}

/** The time to wait is over, and the request has not ended. Another wait is possible at any time. */
export class StillUnderWayError extends CallError {
  readonly kind = 'still-under-way'
  /** The latest known version. */
  readonly request: ProvisioningRequest
  constructor(request: ProvisioningRequest, call: CallAbout) {
    super(`${request.reference} is still ${request.status}.`, call)
    this.request = request
  }
}

/** All errors of calls. An abort by the caller's own signal throws the signal's reason instead. */
export type QuartermasterError =
  | ProblemError
  | DirectoryError
  | UnexpectedAnswerError
  | NetworkError
  | TimedOutError
  | StillUnderWayError

/**
 * The codes of problems: the closed list of the API document, which explains each code under the answers of its calls.
 */
export const problemCodes = [
  'validation-failed',
  'comment-required',
  'nudged-already',
  'duplicate-request',
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

/** The code, or `unknown` for a code of a later version of the service. */
export const problemCodeOf = (code: unknown): ProblemCode | 'unknown' =>
  problemCodes.find((known) => known === code) ?? 'unknown'
