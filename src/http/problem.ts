import { z } from 'zod'
import { type ErrorCode, type Fault, ProvisioningError, TenantError } from '../core/index.ts'

/**
 * The body of every error answer: RFC 9457 with the extension members of DESIGN §5, and the trace id that is in the log.
 * `type` is `urn:quartermaster:problem:<code>`: the same wherever the service runs, and nothing that has to resolve.
 */
export const problemBody = z.strictObject({
  type: z.string().startsWith('urn:quartermaster:problem:'),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  traceId: z.uuid(),
  errors: z
    .array(
      z.strictObject({ pointer: z.string(), code: z.string(), detail: z.string(), suggestion: z.string().optional() }),
    )
    .optional(),
})
export type ProblemBody = z.output<typeof problemBody>

/** How long a client should wait before it asks again, in seconds (RFC 9110 Retry-After). */
const retryAfterSeconds: { readonly [C in ErrorCode]?: string } = { unavailable: '10', 'too-many-open-requests': '60' }

/** Which status each refusal of the core is answered with (DESIGN §5). */
const statusOf = {
  'validation-failed': 422,
  'name-taken': 409,
  'not-found': 404,
  forbidden: 403,
  'self-approval': 403,
  'not-an-approver': 403,
  'already-decided': 409,
  'already-ended': 409,
  'illegal-transition': 409,
  'comment-required': 422,
  'stale-version': 412,
  'too-many-open-requests': 429,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>

/** The refusals that HTTP itself brings, with their status. */
const httpStatusOf = {
  'malformed-request': 400,
  'malformed-json': 400,
  'duplicate-key': 400,
  'too-deep': 400,
  'idempotency-key-malformed': 400,
  unauthenticated: 401,
  'invalid-token': 401,
  'invalid-signature': 401,
  'insufficient-scope': 403,
  'no-such-address': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'request-timeout': 408,
  'idempotency-key-in-flight': 409,
  'body-too-large': 413,
  'unsupported-media-type': 415,
  'idempotency-key-reused': 422,
  'precondition-required': 428,
  'rate-limited': 429,
  'headers-too-large': 431,
  internal: 500,
  'keys-unreachable': 503,
  starting: 503,
  draining: 503,
} as const
export type HttpErrorCode = keyof typeof httpStatusOf

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Too slow',
  409: 'Conflict',
  412: 'Changed meanwhile',
  413: 'Too large',
  415: 'Unsupported media type',
  422: 'Not valid',
  428: 'Precondition required',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Not available just now',
}

/** A refusal by the HTTP layer. `detail` goes to the client as it is, so it never quotes a token, a file or an error. */
export class HttpError extends Error {
  readonly code: HttpErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly faults: readonly Fault[]
  constructor(
    code: HttpErrorCode,
    detail: string,
    options: { headers?: Record<string, string>; faults?: readonly Fault[]; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause })
    this.name = 'HttpError'
    this.code = code
    this.headers = options.headers ?? {}
    this.faults = options.faults ?? []
  }
}

/** What an error becomes on the wire. `defect`: something of ours does not work, so the error itself belongs in the log. */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ProblemBody
  readonly defect: boolean
}

/** The one mapper from errors to answers. What is not a refusal that we made stays opaque: only its trace id is shown. */
export function problemOf(error: unknown, about: { traceId: string; instance: string }): Problem {
  if (error instanceof HttpError) {
    const refusal = problem(httpStatusOf[error.code], error.code, error.message, about, error.faults, error.headers)
    return { ...refusal, defect: error.code === 'keys-unreachable' }
  }
  if (error instanceof ProvisioningError) {
    const { code } = error
    const wait = retryAfterSeconds[code]
    const headers: Record<string, string> = wait ? { 'Retry-After': wait } : {}
    const refusal = problem(statusOf[code], code, error.message, about, error.faults, headers)
    return { ...refusal, defect: code === 'unavailable' }
  }
  if (error instanceof TenantError && error.retryable) {
    const headers = { 'Retry-After': String(error.retryAfterSeconds ?? retryAfterSeconds.unavailable) }
    const detail = 'Microsoft 365 does not answer just now. Please try again in a minute.'
    return { ...problem(503, 'unavailable', detail, about, [], headers), defect: true }
  }
  const detail = `Something went wrong on our side. Please tell an admin this id: ${about.traceId}`
  return { ...problem(500, 'internal', detail, about, [], {}), defect: true }
}

function problem(
  status: number,
  code: string,
  detail: string,
  { traceId, instance }: { traceId: string; instance: string },
  faults: readonly Fault[],
  headers: Readonly<Record<string, string>>,
): Problem {
  const errors = faults.map(({ pointer, suggestion, ...fault }) => ({
    pointer: `#${pointer}`,
    code: fault.code,
    detail: fault.detail,
    ...(suggestion && { suggestion }),
  }))
  const type = `urn:quartermaster:problem:${code}`
  const title = titles[status] ?? 'Error'
  const body = { type, title, status, detail, instance, code, traceId, ...(errors.length > 0 && { errors }) }
  return { status, headers, body, defect: false }
}
