import { z } from 'zod'
import {
  type ErrorCode,
  type Explanation,
  type Fault,
  type FaultCode,
  type HealthPart,
  isBusy,
  ProvisioningError,
  type Reason,
  TenantError,
} from '../../core/index.ts'
import { type HttpErrorCode, type ProblemCode, problemCodes, problemTitles, problemTypeOf } from './problem-codes.ts'
import { type TokenClaim, tokenClaim } from './token-claims.ts'

/** The meaning of each code in `errors[].code`, including codes that only a chat can cause. */
export const faultMeanings: Readonly<Record<FaultCode | 'too-deep' | 'duplicate-key', string>> = {
  required: 'The field is required, but it is missing or empty.',
  null: 'A required field or an entry of a list is null. Send a value, or remove the entry.',
  'wrong-type': 'The field does not have the documented JSON type.',
  'too-short': 'The text or list has too few characters or entries.',
  'too-long': 'The text or list has too many characters or entries.',
  'too-small': 'The number is below the minimum, which is in `suggestion`.',
  'too-large': 'The number is above the maximum, which is in `suggestion`.',
  invalid: 'The field does not have the documented form.',
  'unknown-field': 'The body has no such field.',
  'unknown-template': 'The template does not exist, or the caller may not use it.',
  'wrong-resource': 'The template is for the other resource: a site instead of a mailbox, or the reverse.',
  'name-taken': 'The name or address is taken. `suggestion` is free.',
  'unknown-person': 'The organisation has no person with this id.',
  'unreadable-person':
    'The directory does not show whether the person is an enabled member. `detail` shows what an administrator can do.',
  'label-not-allowed': 'The template does not offer this sensitivity label.',
  'not-a-choice': 'The value is not one of the choices of the template’s question.',
  pattern: 'The text does not match the template’s pattern. `detail` explains the pattern.',
  'owners-minimum': 'There are fewer owners, the requester included, than the template requires.',
  'owners-maximum': 'There are more owners, the requester included, than the template allows.',
  'not-applicable': 'This kind of mailbox has no such property.',
  'not-a-country': 'The value is neither a country name nor a code of two letters.',
  'domain-not-accepted': 'The organisation has no mail in this domain. `suggestion` is one of its domains.',
  'chosen-twice': 'One person has two levels of access. Only a form in chat can cause this.',
  'no-mailbox': 'The person has no mailbox, so they cannot get access to another mailbox.',
  past: 'The date is in the past.',
  'too-early': 'The date is before the first possible date, which is in `suggestion`.',
  'too-late': 'The date is after the last possible date, which is in `suggestion`.',
  'not-a-date': 'The value is not a date in the form YYYY-MM-DD.',
  fixed: 'The template sets this field to the value in `suggestion`. Omit the field.',
  'blocked-word': 'The name contains a blocked word: the organisation does not allow it in names.',
  'reserved-name':
    'The name is reserved, because certificate authorities, registrars or mail systems trust it. Only a template that allows the name can use it. `suggestion` is another name.',
  'former-address':
    'The address belonged to another person or resource. `detail` shows the day from which it is free. `suggestion` is free now.',
  characters: 'The name has characters that the template does not allow. `suggestion` lists them.',
  'too-many-people': 'More people get access than the template allows. `suggestion` is the maximum.',
  'access-not-allowed': 'The template does not allow this level of access.',
  'external-owner': 'The owner is from outside the organisation, and the template does not allow that.',
  'person-blocked': 'The person’s account is blocked, so they cannot get access.',
  'person-guest': 'The person is a guest, and guests cannot get access to mailboxes.',
  'quota-reached': 'The template’s quota is used up. `suggestion` is the maximum.',
  'no-approver':
    'Nobody can approve a stage of the template, not even an admin: each is the requester, blocked, a guest or unknown. Ask an admin to add an approver to the template, or another admin.',
  'too-many-open-requests': 'The caller has reached the limit of open requests. Only a preview reports it as a fault.',
  'same-person': 'The person is the caller. Choose another person.',
  'cannot-decide': 'The person is a guest or blocked, so they cannot decide.',
  'asked-for-it': 'The person is the requester and may not decide their own request.',
  'already-asked': 'The person is already an approver of this stage, or has decided.',
  'not-asked': 'The person is not an approver who still has to decide.',
  'too-deep': 'The body nests deeper here than any documented body.',
  'duplicate-key': 'The key occurs twice in one object.',
}

const faultList = Object.entries(faultMeanings)
  .map(([code, means]) => `\`${code}\`: ${means}`)
  .join('\n\n')

/**
 * The body of every error: RFC 9457 with the extension members of DESIGN §5, and the trace id of the log.
 * `type` is `urn:quartermaster:problem:<code>`: the same for every installation, and not an address to open.
 */
export const problemBody = z.strictObject({
  type: z.string().regex(/^urn:quartermaster:problem:/),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  traceId: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe(
      'The trace of the call (W3C Trace Context). The log, the audit and all later work have the same trace id.',
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
  requestId: z.uuid().optional().describe('Only for `duplicate-request`: the earlier request.'),
  tokenClaims: z
    .array(tokenClaim)
    .optional()
    .describe('The claims for which an access token was refused (401 and 403), with the expected values.'),
})
export type ProblemBody = z.output<typeof problemBody>

/** How long a client should wait before it calls again, in seconds (RFC 9110 Retry-After). */
const retryAfterSeconds: { readonly [C in ErrorCode]?: string } = { unavailable: '10', 'too-many-open-requests': '60' }

/** The calls that bring a person below the limit of open requests. */
const howToEndRequests =
  'GET /requests/v1/?status=pendingApproval lists requests that you can cancel with POST /requests/v1/{requestId}/cancel.'

/** A refusal by the HTTP layer. Clients get `detail` unchanged, so it never quotes a token, a file or an error. */
export class HttpError extends Error {
  readonly code: HttpErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly faults: readonly Fault[]
  readonly tokenClaims: readonly TokenClaim[]
  constructor(
    code: HttpErrorCode,
    detail: string,
    options: {
      headers?: Record<string, string>
      faults?: readonly Fault[]
      tokenClaims?: readonly TokenClaim[]
      cause?: unknown
    } = {},
  ) {
    super(detail, { cause: options.cause })
    this.name = 'HttpError'
    this.code = code
    this.headers = options.headers ?? {}
    this.faults = options.faults ?? []
    this.tokenClaims = options.tokenClaims ?? []
  }
}

/** The answer for an error. `defect`: the service itself failed, so the log gets the error. */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ProblemBody
  readonly defect: boolean
}

/** Texts for people, next to the codes of an answer. The composition root takes them from the message catalogue. */
export interface ApiTexts {
  explanation(line: Explanation): string
  healthPart(part: HealthPart): string
  reason(reason: Reason): string
}

/** The failed call, and the texts for its codes. */
interface About {
  readonly traceId: string
  readonly instance: string
  readonly texts: Pick<ApiTexts, 'reason'>
}

/** Maps every error to an answer. Unknown errors stay opaque: the client gets only the trace id. */
export function problemOf(error: unknown, about: About): Problem {
  if (error instanceof HttpError) {
    const refusal = problem(error.code, error.message, about, error.faults, error.headers)
    const tokenClaims = error.tokenClaims.length > 0 && { tokenClaims: [...error.tokenClaims] }
    return { ...refusal, body: { ...refusal.body, ...tokenClaims }, defect: error.code === 'keys-unreachable' }
  }
  if (error instanceof ProvisioningError) {
    const { code } = error
    const own = error.cause instanceof TenantError ? error.cause.retryAfterSeconds : undefined
    const wait = own === undefined || code !== 'unavailable' ? retryAfterSeconds[code] : String(own)
    const { requestId } = error.context
    const headers: Record<string, string> = {
      ...(wait && { 'Retry-After': wait }),
      ...(requestId && { Location: `/requests/v1/${requestId}` }),
    }
    const { reason, faults } = error
    const detail = [about.texts.reason(reason), ...(reason.key === 'tooManyOpen' ? [howToEndRequests] : [])].join(' ')
    const { body, ...refusal } = problem(code, detail, about, faults, headers)
    // A full queue is no defect, and an error line for each refused call would flood the log.
    const earlier = requestId && { requestId }
    return { ...refusal, body: { ...body, ...earlier }, defect: code === 'unavailable' && !isBusy(error.cause) }
  }
  if (error instanceof TenantError && error.retryable) {
    const headers = { 'Retry-After': String(error.retryAfterSeconds ?? retryAfterSeconds.unavailable) }
    const away = 'Microsoft 365 does not answer now. Try again in a minute.'
    const detail = isBusy(error) ? error.message : away
    return { ...problem('unavailable', detail, about, [], headers), defect: !isBusy(error) }
  }
  const detail = `The service has an internal error. Give this trace id to an admin: ${about.traceId}`
  return { ...problem('internal', detail, about, [], {}), defect: true }
}

/** Converts the faults of fields to the form for clients. */
export const errorsOf = (
  texts: Pick<ApiTexts, 'reason'>,
  faults: readonly Fault[],
): NonNullable<ProblemBody['errors']> =>
  faults.map(({ pointer, suggestion, ...fault }) => ({
    pointer: `#${pointer}`,
    code: fault.code,
    detail: texts.reason(fault.reason),
    ...(suggestion && { suggestion }),
  }))

function problem(
  code: ProblemCode,
  detail: string,
  { traceId, instance, texts }: About,
  faults: readonly Fault[],
  headers: Readonly<Record<string, string>>,
): Problem {
  const errors = errorsOf(texts, faults)
  const { status } = problemCodes[code]
  const type = problemTypeOf(code)
  const title = problemTitles[status] ?? 'Error'
  const body = { type, title, status, detail, instance, code, traceId, ...(errors.length > 0 && { errors }) }
  return { status, headers, body, defect: false }
}
