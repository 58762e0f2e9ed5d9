import type { ErrorCode } from '../../core/index.ts'
import type { AnswerHeader } from './answers.ts'

/** A code's HTTP status, its meaning and the caller's next action. */
interface ProblemCodeEntry {
  readonly status: number
  readonly means: string
  readonly remedy: string
  /** Headers that are always present, in addition to those of all answers. */
  readonly headers: readonly AnswerHeader[]
  /** Headers that are present only in some cases. */
  readonly sometimes?: readonly AnswerHeader[]
}
const code = (status: number, means: string, remedy: string, ...headers: AnswerHeader[]): ProblemCodeEntry => ({
  status,
  means,
  remedy,
  headers,
})

const again = 'Wait for the time in Retry-After and send the call again with the same Idempotency-Key.'
const token =
  '`tokenClaims` lists each wrong claim with the expected value. Get a new access token for this API and send the call again.'

/** Refusals by the core (DESIGN §5). */
const ofCore = {
  'validation-failed': code(
    422,
    'One or more fields are not valid, or break a rule of the template.',
    'Correct the fields in `errors`. Each entry has a JSON pointer, and sometimes a suggestion.',
  ),
  'comment-required': code(422, 'A rejection needs a comment, which the requester reads.', 'Send a comment.'),
  'nudged-already': code(
    409,
    'The approvers who have not decided were reminded within the last 24 hours.',
    'Wait until 24 hours have passed since that reminder.',
  ),
  'duplicate-request': code(
    409,
    'The caller sent the same body without an Idempotency-Key within the last 24 hours, and that request is open or has succeeded.',
    'Read the earlier request: `requestId` and Location identify it. To create another request, send an Idempotency-Key or `?another=true`.',
    'Location',
  ),
  'name-taken': code(409, 'The name or address is taken.', 'Use the name that `errors` suggests, or another name.'),
  'not-found': code(
    404,
    'The resource does not exist, or the caller may not see it.',
    'Check the id and the account that you signed in with.',
  ),
  forbidden: code(403, 'The caller may not do this.', 'Ask an admin or the requester.'),
  'second-admin-needed': code(
    403,
    'The admin reassigned the decision to themselves, so another admin must decide.',
    'Ask another admin to decide. `detail` names one or two.',
  ),
  'self-approval': code(403, 'The requester may not decide this request.', 'Ask another approver to decide.'),
  'not-an-approver': code(
    403,
    'The caller may see the request but is not one of its approvers.',
    'Ask an approver to decide.',
  ),
  'already-decided': code(409, 'The request is already decided.', 'Read the request: it shows who decided, and when.'),
  'already-ended': code(409, 'The request has already ended.', 'Read the request for its status.'),
  'illegal-transition': code(
    409,
    'The current status does not allow this action.',
    'Read the current status, then choose an action that it allows.',
  ),
  'stale-version': code(
    412,
    'The resource has changed since the caller read it.',
    'Read the resource again and repeat the change with its new ETag.',
  ),
  'too-many-open-requests': code(
    429,
    'The caller has reached the limit of open requests, batches or dry runs for one person.',
    'Wait until one ends, or cancel a request or batch that is not needed (for requests, `detail` has the calls). Failed requests do not count.',
    'Retry-After',
  ),
  unavailable: code(503, 'The store or Microsoft 365 does not answer now.', again, 'Retry-After'),
} as const satisfies Record<ErrorCode, ProblemCodeEntry>

/** Refusals by the HTTP layer. */
const ofHttp = {
  'malformed-request': code(
    400,
    'The request target is not an address, the Host header is missing, repeated or unknown, or the body is incomplete.',
    'Correct the request.',
  ),
  'malformed-json': code(400, 'The body is missing or is not JSON in UTF-8.', 'Send one JSON value in UTF-8.'),
  'duplicate-key': code(400, 'The body has the same key twice in one object.', 'Send each key once.'),
  'too-deep': code(400, 'The body nests deeper than any documented body.', 'Send the documented form.'),
  'idempotency-key-malformed': code(
    400,
    'Idempotency-Key is not one header of 1 to 255 printable ASCII characters.',
    'Send a new random UUID.',
  ),
  unauthenticated: code(
    401,
    'The call has no access token.',
    'Send an access token as Authorization: Bearer.',
    'WWW-Authenticate',
  ),
  'invalid-token': code(401, 'The access token is not valid for this API, or has expired.', token, 'WWW-Authenticate'),
  'invalid-signature': code(
    401,
    'The webhook is not signed with our secret, or the signature is more than five minutes old.',
    'Sign each attempt separately, by Standard Webhooks.',
    'WWW-Authenticate',
  ),
  'insufficient-scope': code(
    403,
    'The token lacks the scope or role, or an application called where a person must sign in.',
    'Request the scope in WWW-Authenticate. An application without a person needs its client id in MAIL_APP_CLIENTS.',
    'WWW-Authenticate',
  ),
  'no-such-address': code(404, 'The API has no such address.', 'Check the path and the ids in it.'),
  'method-not-allowed': code(
    405,
    'The address does not support this method.',
    'Use a method that Allow lists.',
    'Allow',
  ),
  'not-acceptable': code(406, 'Accept excludes application/json.', 'Accept application/json.'),
  'request-timeout': code(
    408,
    'The request arrived too slowly or incomplete.',
    'Send the request again over a better connection.',
  ),
  'idempotency-key-in-flight': code(
    409,
    'The first call with this Idempotency-Key is still in progress.',
    again,
    'Retry-After',
  ),
  'link-refused': code(
    403,
    'The person who requested the link is no longer an admin.',
    'Ask an admin to request a new link.',
  ),
  'link-changed': code(
    404,
    'The link was never issued, its key has changed, or it expired more than a day ago.',
    'Copy the whole link, or ask the bot for a new link.',
  ),
  'link-needs-post': code(
    405,
    'A POST to the link returns the file. A GET returns a page with a button, for browsers.',
    'Send a POST to the same address: `curl -X POST -OJ <link>`.',
    'Allow',
  ),
  'link-used': code(
    410,
    'The link was already used. It works only once.',
    'Ask the bot for a new link: `admin export`.',
  ),
  'link-expired': code(
    410,
    'The link has expired. It works for 15 minutes.',
    'Ask the bot for a new link: `admin export`.',
  ),
  'body-too-large': code(413, 'The body is larger than the limit.', 'Send a smaller body. `detail` shows the limit.'),
  'unsupported-media-type': {
    ...code(415, 'The body is not application/json in UTF-8, or has a content coding.', 'Send plain application/json.'),
    sometimes: ['Accept', 'Accept-Encoding'],
  },
  'idempotency-key-reused': code(
    422,
    'An earlier call used this Idempotency-Key with another body.',
    'Use a new key for a new request, and the same key only to repeat a request.',
  ),
  'precondition-required': code(
    428,
    'A change to a template needs its current ETag, so that nobody overwrites another change.',
    'Read the template and send its ETag as If-Match. For a new template send If-None-Match: *.',
  ),
  'rate-limited': {
    ...code(429, 'The calls exceed the rate limit.', again, 'Retry-After'),
    sometimes: ['WWW-Authenticate'],
  },
  'headers-too-large': code(431, 'The headers are larger than 16 KiB.', 'Send fewer or shorter headers.'),
  internal: code(
    500,
    'The service has an internal error. Its log has the error under the `traceId`.',
    'Give the `traceId` to an admin. Repeat the call only with the same Idempotency-Key.',
  ),
  'keys-unreachable': code(503, 'The service cannot get the keys that verify tokens.', again, 'Retry-After'),
  starting: code(503, 'The service is starting.', again, 'Retry-After'),
  draining: code(503, 'The service is restarting.', again, 'Retry-After'),
} as const satisfies Record<string, ProblemCodeEntry>

/** All codes of problems (RFC 9457); each is also the end of its `type`. */
export const problemCodes: Readonly<Record<ErrorCode | HttpErrorCode, ProblemCodeEntry>> = { ...ofCore, ...ofHttp }
export type HttpErrorCode = keyof typeof ofHttp
export type ProblemCode = keyof typeof problemCodes
export const problemTypeOf = (code: ProblemCode): string => `urn:quartermaster:problem:${code}`

export const problemTitles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Request timed out',
  409: 'Conflict',
  410: 'No longer available',
  412: 'Changed in the meantime',
  413: 'Too large',
  415: 'Unsupported media type',
  422: 'Not valid',
  428: 'Precondition required',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Temporarily unavailable',
}
