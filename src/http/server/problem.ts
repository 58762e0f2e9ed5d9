import { z } from 'zod'
import { type ErrorCode, type Fault, isBusy, ProvisioningError, TenantError } from '../../core/index.ts'
import { faultMeanings } from './fault-codes.ts'
import { type HttpErrorCode, type ProblemCode, problemCodes, problemTitles, problemTypeOf } from './problem-codes.ts'

const faultList = Object.entries(faultMeanings)
  .map(([code, means]) => `\`${code}\`: ${means}`)
  .join('\n\n')

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
  traceId: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe(
      'The trace that the call belongs to (W3C Trace Context): the log, the audit and whatever followed have the same.',
    ),
  errors: z
    .array(
      z.strictObject({
        pointer: z.string().describe('JSON pointer to the field: `#/owners/0`'),
        code: z.string().describe(faultList),
        detail: z.string(),
        suggestion: z.string().optional(),
      }),
    )
    .optional(),
})
export type ProblemBody = z.output<typeof problemBody>

/** How long a client should wait before it asks again, in seconds (RFC 9110 Retry-After). */
const retryAfterSeconds: { readonly [C in ErrorCode]?: string } = { unavailable: '10', 'too-many-open-requests': '60' }

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
    const refusal = problem(error.code, error.message, about, error.faults, error.headers)
    return { ...refusal, defect: error.code === 'keys-unreachable' }
  }
  if (error instanceof ProvisioningError) {
    const { code } = error
    const own = error.cause instanceof TenantError ? error.cause.retryAfterSeconds : undefined
    const wait = own === undefined || code !== 'unavailable' ? retryAfterSeconds[code] : String(own)
    const headers: Record<string, string> = wait ? { 'Retry-After': wait } : {}
    const refusal = problem(code, error.message, about, error.faults, headers)
    // That too much waits is no defect of ours, and a line of level error for each refused call would be a flood itself.
    return { ...refusal, defect: code === 'unavailable' && !isBusy(error.cause) }
  }
  if (error instanceof TenantError && error.retryable) {
    const headers = { 'Retry-After': String(error.retryAfterSeconds ?? retryAfterSeconds.unavailable) }
    const away = 'Microsoft 365 does not answer just now. Please try again in a minute.'
    const detail = isBusy(error) ? error.message : away
    return { ...problem('unavailable', detail, about, [], headers), defect: !isBusy(error) }
  }
  const detail = `Something went wrong on our side. Please tell an admin this id: ${about.traceId}`
  return { ...problem('internal', detail, about, [], {}), defect: true }
}

/** What is wrong with fields, as clients read it. */
export const errorsOf = (faults: readonly Fault[]): NonNullable<ProblemBody['errors']> =>
  faults.map(({ pointer, suggestion, ...fault }) => ({
    pointer: `#${pointer}`,
    code: fault.code,
    detail: fault.detail,
    ...(suggestion && { suggestion }),
  }))

function problem(
  code: ProblemCode,
  detail: string,
  { traceId, instance }: { traceId: string; instance: string },
  faults: readonly Fault[],
  headers: Readonly<Record<string, string>>,
): Problem {
  const errors = errorsOf(faults)
  const { status } = problemCodes[code]
  const type = problemTypeOf(code)
  const title = problemTitles[status] ?? 'Error'
  const body = { type, title, status, detail, instance, code, traceId, ...(errors.length > 0 && { errors }) }
  return { status, headers, body, defect: false }
}
