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

/** What is wrong with a field, by the code in `errors[].code`. Those that only a chat brings stand here too: the list is one. */
export const faultMeanings: Readonly<Record<FaultCode | 'too-deep' | 'duplicate-key', string>> = {
  required: 'It is missing or empty, and has to be there.',
  null: 'It is null. Leave it out instead.',
  'wrong-type': 'It is of another JSON type than is documented.',
  'too-short': 'The text or list has too few characters or entries.',
  'too-long': 'The text or list has too many characters or entries.',
  'too-small': 'The number is below the least; `suggestion` is the least.',
  'too-large': 'The number is above the most; `suggestion` is the most.',
  invalid: 'It does not have the documented form.',
  'unknown-field': 'The body has no such field.',
  'unknown-template': 'There is no such template, or the caller may not use it.',
  'wrong-resource': 'The template makes the other resource: a site in place of a mailbox, or the reverse.',
  'name-taken': 'Somebody has the name or address; `suggestion` is free.',
  'unknown-person': 'The id is not that of a person of the organisation.',
  'unreadable-person':
    'The directory does not tell whether the person is an enabled member; `detail` says what an administrator can do.',
  'label-not-allowed': 'The template does not offer this sensitivity label.',
  'not-a-choice': 'The template’s question has other choices.',
  pattern: 'The text does not match what the template asks for; `detail` says what that is.',
  'owners-minimum': 'There are fewer owners than the template wants, the requester included.',
  'owners-maximum': 'There are more owners than the template allows, the requester included.',
  'not-applicable': 'This kind of mailbox has no such property.',
  'not-a-country': 'It is neither an English country name nor a code of two letters.',
  'domain-not-accepted': 'The organisation has no mail in this domain; `suggestion` is one that it has.',
  'chosen-twice': 'One person has two levels of access. A form in chat can bring it.',
  'no-mailbox': 'The person has no mailbox, so they cannot be given access to one.',
  past: 'The day is over.',
  'too-early': 'The date is before the first that is possible; `suggestion` is the first.',
  'too-late': 'The date is after the last that is possible; `suggestion` is the last.',
  'not-a-date': 'It is no date as YYYY-MM-DD.',
  fixed: 'The template sets this; `suggestion` is its value. Leave it out.',
  'blocked-word': 'The name has a word that the organisation does not allow in names.',
  'reserved-name':
    'Certificate authorities, registrars or mail systems trust this address. Only a template that allows the name gives it; `suggestion` is another one.',
  'former-address':
    'The address belonged to another person or resource; `detail` names the day from which it is free. `suggestion` is free now.',
  characters: 'The name has characters that the template does not allow; `suggestion` lists them.',
  'too-many-people': 'More people are given access than the template allows; `suggestion` is the most.',
  'access-not-allowed': 'The template does not give this level of access.',
  'external-owner': 'The owner is from outside, and the template wants people of the organisation.',
  'person-blocked': 'The account of the person is blocked, so they get nothing here.',
  'person-guest': 'The person is a guest, and guests get no access to mailboxes.',
  'quota-reached': 'There are as many of this template as it allows; `suggestion` is the most.',
  'same-person': 'It is the caller, and somebody else is needed.',
  'cannot-decide': 'The person is a guest or blocked, so they cannot decide.',
  'asked-for-it': 'The person asked for it, so they do not decide about it.',
  'already-asked': 'The person is asked already, or has decided.',
  'not-asked': 'The decision of this person is not waited for.',
  'too-deep': 'The body nests deeper here than any documented one.',
  'duplicate-key': 'The key stands twice in one object.',
}

const faultList = Object.entries(faultMeanings)
  .map(([code, means]) => `\`${code}\`: ${means}`)
  .join('\n\n')

/**
 * The body of every error answer: RFC 9457 with the extension members of DESIGN §5, and the trace id that is in the log.
 * `type` is `urn:quartermaster:problem:<code>`: the same wherever the service runs, and nothing that has to resolve.
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
  requestId: z.uuid().optional().describe('Of `duplicate-request`: the earlier request.'),
  tokenClaims: z
    .array(tokenClaim)
    .optional()
    .describe('The claims for which an access token was refused (401 and 403), with what the API expects there.'),
})
export type ProblemBody = z.output<typeof problemBody>

/** How long a client should wait before it asks again, in seconds (RFC 9110 Retry-After). */
const retryAfterSeconds: { readonly [C in ErrorCode]?: string } = { unavailable: '10', 'too-many-open-requests': '60' }

/** A refusal by the HTTP layer. `detail` goes to the client as it is, so it never quotes a token, a file or an error. */
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

/** What an error becomes on the wire. `defect`: something of ours does not work, so the error itself belongs in the log. */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ProblemBody
  readonly defect: boolean
}

/** Sentences for people, next to the codes of an answer. The composition root takes them from the message catalogue. */
export interface ApiTexts {
  explanation(line: Explanation): string
  healthPart(part: HealthPart): string
  reason(reason: Reason): string
}

/** The call that an error ended, and the sentences for its codes. */
interface About {
  readonly traceId: string
  readonly instance: string
  readonly texts: Pick<ApiTexts, 'reason'>
}

/** The one mapper from errors to answers. What is not a refusal that we made stays opaque: only its trace id is shown. */
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
    const { body, ...refusal } = problem(code, about.texts.reason(error.reason), about, error.faults, headers)
    // That too much waits is no defect of ours, and a line of level error for each refused call would be a flood itself.
    const earlier = requestId && { requestId }
    return { ...refusal, body: { ...body, ...earlier }, defect: code === 'unavailable' && !isBusy(error.cause) }
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
