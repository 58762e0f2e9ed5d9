import type { ProblemBody } from '../server/problem.ts'
import { type ProblemCode, problemCodes, problemTitles, problemTypeOf } from '../server/problem-codes.ts'

type Said = readonly [instance: string, detail: string, errors?: ProblemBody['errors']]

const request = '/requests/v1/6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
const approve = `${request}/approve`
const template = '/templates/v1/5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55'
const sites = '/collab/v1/spo'

/** What each code is answered with: where, in which words, naming which fields. A test has the service say it. */
const said: Readonly<Record<ProblemCode, Said>> = {
  'validation-failed': [
    sites,
    'displayName is required.',
    [{ pointer: '#/displayName', code: 'required', detail: 'displayName is required.' }],
  ],
  'comment-required': [
    `${request}/reject`,
    'Please say why you reject it. The requester will read it.',
    [{ pointer: '#/comment', code: 'required', detail: 'A rejection needs a comment.' }],
  ],
  'name-taken': [
    sites,
    'apollo is taken. Try apollo-2.',
    [{ pointer: '#/alias', code: 'name-taken', detail: 'apollo is taken. Try apollo-2.', suggestion: 'apollo-2' }],
  ],
  'nudged-already': [
    `${request}/nudge`,
    'They were reminded within the last 24 hours. From 2026-11-21T09:31:00.000Z on they can be reminded again.',
  ],
  'not-found': [request, 'There is no such request, or you may not see it.'],
  forbidden: [`${request}/retry`, 'You may not do this. An admin can.'],
  'self-approval': [approve, 'You asked for this yourself, so somebody else has to decide.'],
  'second-admin-needed': [
    approve,
    'You reassigned this to yourself, or to a person you decide for. Another admin must decide it: Sam Roy.',
  ],
  'not-an-approver': [approve, 'You are not an approver of REQ-1042.'],
  'already-decided': [approve, 'Dana Fox has already approved it, on 2026-11-20T09:31:00.000Z.'],
  'already-ended': [`${request}/cancel`, 'REQ-1042 has already ended: it is cancelled.'],
  'illegal-transition': [
    `${request}/retry`,
    'REQ-1042 is pendingApproval; only a failed request, or one that stands still, can be tried again.',
  ],
  'stale-version': [template, 'The template has another version by now. Read it again.'],
  'too-many-open-requests': [
    sites,
    'You have 1 open requests, which is the most at a time. Wait for one to finish, or cancel one.',
  ],
  unavailable: [sites, 'The directory does not answer just now. Please try again in a minute.'],
  'link-refused': ['/exports/v1/…', 'The person who requested this link is not an admin now.'],
  'link-changed': [
    '/exports/v1/…',
    'This link is unknown: a part of it is missing, or it expired long ago. Ask the bot for a new one in Teams: type admin export, or admin export person.',
  ],
  'link-needs-post': ['/exports/v1/…', 'This link gives its file once, to a POST: curl -X POST -OJ and this address.'],
  'link-used': [
    '/exports/v1/…',
    'This link was used: it works once. Ask the bot for a new one in Teams: type admin export, or admin export person.',
  ],
  'link-expired': [
    '/exports/v1/…',
    'This link has expired: it worked for 15 minutes. Ask the bot for a new one in Teams: type admin export, or admin export person.',
  ],
  'malformed-request': [sites, 'The body ended before it was whole.'],
  'malformed-json': [sites, 'The body is not JSON.'],
  'duplicate-key': [
    sites,
    'The body has the key "alias" twice in one object.',
    [{ pointer: '#/alias', code: 'duplicate-key', detail: 'The body has the key "alias" twice in one object.' }],
  ],
  'too-deep': [
    sites,
    'The body nests deeper than 10 levels.',
    [{ pointer: '#/metadata/0/0/0/0/0/0/0/0/0', code: 'too-deep', detail: 'The body nests deeper than 10 levels.' }],
  ],
  'idempotency-key-malformed': [sites, 'Idempotency-Key is one header of 1 to 255 printable characters.'],
  unauthenticated: [sites, 'Send an access token as Authorization: Bearer.'],
  'invalid-token': [sites, 'The access token is not valid for this API.'],
  'invalid-signature': ['/webhooks/provisioning', 'The webhook is not signed by us, or too long ago.'],
  'insufficient-scope': [sites, 'Application permissions are not supported here: sign in on behalf of a person.'],
  'no-such-address': ['/requests/v1/1042', 'There is nothing at this address.'],
  'method-not-allowed': [sites, 'GET is not a method of this address.'],
  'not-acceptable': [sites, 'This API answers application/json.'],
  'request-timeout': ['', 'The request did not come in time.'],
  'idempotency-key-in-flight': [sites, 'The first request with this Idempotency-Key is still running.'],
  'body-too-large': [sites, 'The body may have at most 64 KiB.'],
  'unsupported-media-type': [sites, 'Send the body as application/json in UTF-8.'],
  'idempotency-key-reused': [sites, 'This Idempotency-Key was used for another request. Take a new one.'],
  'precondition-required': [
    template,
    'Send the ETag that you have read as If-Match, or If-None-Match: * for a new template.',
  ],
  'rate-limited': [sites, 'That is more than 60 writes a minute. Wait 1 s.'],
  'headers-too-large': ['', 'The headers are too large.'],
  internal: [sites, 'Something went wrong on our side. Please tell an admin this id: 4bf92f3577b34da6a3ce929d0e0e4736'],
  'keys-unreachable': [sites, 'Tokens cannot be checked just now.'],
  starting: [sites, 'The service is starting. Please try again in a moment.'],
  draining: [sites, 'The service is restarting. Please try again in a moment.'],
}

const exampleOf = (code: ProblemCode, [instance, detail, errors]: Said): ProblemBody => {
  const { status } = problemCodes[code]
  const title = problemTitles[status] ?? ''
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  return { type: problemTypeOf(code), title, status, detail, instance, code, traceId, ...(errors && { errors }) }
}

/** A problem with each code, as the service answers it. */
export const problemExamples: ReadonlyMap<ProblemCode, ProblemBody> = new Map(
  (Object.keys(problemCodes) as ProblemCode[]).map((code) => [code, exampleOf(code, said[code])]),
)
