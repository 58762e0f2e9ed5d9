import type { ErrorCode } from '../../core/index.ts'
import type { AnswerHeader } from './answers.ts'

/** The status of a code, its meaning, and what the caller can do. */
interface ProblemCodeEntry {
  readonly status: number
  readonly means: string
  readonly remedy: string
  /** Headers that are always present, in addition to those of all answers. */
  readonly headers: readonly AnswerHeader[]
  /** Headers that are sometimes present. */
  readonly sometimes?: readonly AnswerHeader[]
}
const code = (status: number, means: string, remedy: string, ...headers: AnswerHeader[]): ProblemCodeEntry => ({
  status,
  means,
  remedy,
  headers,
})

const again = 'Wait as long as Retry-After says and send the call again, under the same Idempotency-Key.'
const token =
  '`tokenClaims` has each claim that is wrong and the value that is expected. Get a new access token for this API and send the call again.'

/** Refusals by the core (DESIGN §5). */
const ofCore = {
  'validation-failed': code(
    422,
    'One or more fields are not valid, or go against a rule of the template.',
    'Correct the fields that `errors` names; each has a JSON pointer, and perhaps a suggestion.',
  ),
  'comment-required': code(422, 'A rejection needs a comment, for the requester reads it.', 'Send a comment.'),
  'nudged-already': code(
    409,
    'Those who have not decided were reminded within the last 24 hours.',
    'Wait until a day has passed since then.',
  ),
  'duplicate-request': code(
    409,
    'The caller sent an equal body without an Idempotency-Key within the last 24 hours, and that request is open or has succeeded.',
    'Read the request that `requestId` and Location name. To create another one, send an Idempotency-Key or `?another=true`.',
    'Location',
  ),
  'name-taken': code(
    409,
    'Somebody else has the name or address.',
    'Take the name that `errors` suggests, or another.',
  ),
  'not-found': code(
    404,
    'There is no such thing, or the caller may not see it.',
    'Check the id, and that you are signed in as the right person.',
  ),
  forbidden: code(403, 'The caller may not do this.', 'Ask an admin, or somebody whose request it is.'),
  'second-admin-needed': code(
    403,
    'An admin reassigned the decision to themselves, and there are other admins.',
    'Another admin has to decide: `detail` names one or two.',
  ),
  'self-approval': code(403, 'Nobody decides their own request.', 'Another approver has to decide.'),
  'not-an-approver': code(
    403,
    'The caller sees the request, and is not an approver of it.',
    'An approver has to decide.',
  ),
  'already-decided': code(409, 'The request has been decided.', 'Read the request: it says who decided, and when.'),
  'already-ended': code(409, 'The request has ended.', 'Read the request for its state.'),
  'illegal-transition': code(
    409,
    'What is asked does not go with the present state.',
    'Read the present state, and decide anew.',
  ),
  'stale-version': code(
    412,
    'Somebody else has changed it since it was read.',
    'Read it again and repeat the change with its new ETag.',
  ),
  'too-many-open-requests': code(
    429,
    'The caller has as many open requests, or batches, as one person may have.',
    'Wait for one of them to end, or cancel one.',
    'Retry-After',
  ),
  unavailable: code(503, 'The store or Microsoft 365 does not answer just now.', again, 'Retry-After'),
} as const satisfies Record<ErrorCode, ProblemCodeEntry>

/** Refusals by the HTTP layer. */
const ofHttp = {
  'malformed-request': code(
    400,
    'The request target is no address, there is not one Host that we answer to, or the body ended before it was whole.',
    'Correct the request.',
  ),
  'malformed-json': code(400, 'The body is not JSON in UTF-8, or there is none.', 'Send one JSON value in UTF-8.'),
  'duplicate-key': code(400, 'The body has the same key twice in one object.', 'Send each key once.'),
  'too-deep': code(400, 'The body nests deeper than any documented one.', 'Send the documented form.'),
  'idempotency-key-malformed': code(
    400,
    'Idempotency-Key is not one header of 1 to 255 printable ASCII characters.',
    'Send a new random UUID.',
  ),
  unauthenticated: code(
    401,
    'There is no access token.',
    'Send an access token as Authorization: Bearer.',
    'WWW-Authenticate',
  ),
  'invalid-token': code(401, 'The access token is not valid for this API, or any more.', token, 'WWW-Authenticate'),
  'invalid-signature': code(
    401,
    'The webhook is not signed with our secret, or was signed more than five minutes ago.',
    'Sign each attempt anew, by Standard Webhooks.',
    'WWW-Authenticate',
  ),
  'insufficient-scope': code(
    403,
    'The token lacks the scope or role, or is an application’s where a person is needed.',
    'Request the scope that WWW-Authenticate names. An application without a person needs its client id in MAIL_APP_CLIENTS.',
    'WWW-Authenticate',
  ),
  'no-such-address': code(404, 'There is nothing at this address.', 'Check the path and the ids in it.'),
  'method-not-allowed': code(
    405,
    'The address has not got this method.',
    'Use one of those that Allow names.',
    'Allow',
  ),
  'not-acceptable': code(406, 'Accept excludes application/json.', 'Accept application/json.'),
  'request-timeout': code(408, 'The request came too slowly, or not whole.', 'Send it again over a better connection.'),
  'idempotency-key-in-flight': code(
    409,
    'The first call under this Idempotency-Key is still being answered.',
    again,
    'Retry-After',
  ),
  'link-refused': code(403, 'The person who requested the link is not an admin now.', 'Have an admin request a link.'),
  'link-changed': code(
    404,
    'The link was not issued, or its key has changed, or it ended more than a day ago.',
    'Copy the whole link, or ask the bot for a new one.',
  ),
  'link-needs-post': code(
    405,
    'The link gives its file to a POST. A GET gives browsers a page with a button.',
    'Send POST to the same address: `curl -X POST -OJ <link>`.',
    'Allow',
  ),
  'link-used': code(410, 'The link was used: it works once.', 'Ask the bot for a new one: `admin export`.'),
  'link-expired': code(410, 'The link worked for a quarter of an hour.', 'Ask the bot for a new one: `admin export`.'),
  'body-too-large': code(413, 'The body has more bytes than are taken.', 'Send less; the limit is in `detail`.'),
  'unsupported-media-type': {
    ...code(415, 'The body is not application/json in UTF-8, or has a content coding.', 'Send plain application/json.'),
    sometimes: ['Accept', 'Accept-Encoding'],
  },
  'idempotency-key-reused': code(
    422,
    'This Idempotency-Key came with another body before.',
    'Use a new key for a new request, the same key only to repeat one.',
  ),
  'precondition-required': code(
    428,
    'A template is written only by who has read it.',
    'Send the ETag as If-Match, or If-None-Match: * for a new template.',
  ),
  'rate-limited': {
    ...code(429, 'These are more calls than the limits of use allow.', again, 'Retry-After'),
    sometimes: ['WWW-Authenticate'],
  },
  'headers-too-large': code(431, 'The headers have more than 16 KiB.', 'Send fewer or shorter headers.'),
  internal: code(
    500,
    'Something does not work on our side. It has been logged under the `traceId`.',
    'Tell an admin the `traceId`. Repeat it under the same Idempotency-Key only.',
  ),
  'keys-unreachable': code(503, 'The keys that tokens are checked with cannot be had just now.', again, 'Retry-After'),
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
  408: 'Too slow',
  409: 'Conflict',
  410: 'No longer there',
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
