/** Requests: submit, preview, list, read, and wait for a change. Decisions about them have their own room. */
import { z } from 'zod'
import {
  auditEntry,
  type Core,
  waitingFor as decidersOf,
  entryDataFor,
  fieldWarningsOf,
  isTerminal,
  mailboxRequest,
  ProvisioningError,
  type Request,
  readsOf,
  requestState,
  requestView,
  resourceKind,
  shownFieldWarning,
  simulatedPreview,
  siteRequest,
  withoutAbsent,
} from '../../../core/index.ts'
import { type ActorScope, checkedByCore, checkedWhole, defineRoute } from '../../server/define-route.ts'
import { errorsOf } from '../../server/problem.ts'
import { hasEntity } from '../../server/respond.ts'
import { preferredWait, type WaitEnd } from '../../server/waiting.ts'
import { bodyOf, listOf, ofOneRequest, paging, showing, shown, warningsWithTexts } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

/** API document, "creation response (queued request)" of either resource, with the status of the request. */
export const accepted = z.strictObject({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  approvalRequired: z.boolean(),
  status: requestState,
})
/** The answer to a mailbox request, with the accepted fields that have no effect. */
export const acceptedMailbox = accepted.extend({
  warnings: z.array(shownFieldWarning).describe('The accepted fields without effect in Microsoft 365'),
})

const accepting = {
  description:
    'Accepted: queued, or waiting for approval. Poll `Location` after `Retry-After`, then every ten seconds.',
  body: accepted,
  headers: ['Location', 'Retry-After'],
} as const

/** The answer to an accepted request: where to read it, and the seconds before the first poll. */
function acceptance({ requestId, tenantId, status, approvals }: Request, { settings }: Core) {
  return {
    status: 202,
    headers: { Location: `/requests/v1/${requestId}`, 'Retry-After': String(settings.followUp.firstSeconds) },
    body: { requestId, tenantId, approvalRequired: approvals.length > 0, status },
  } as const
}

/** A call with a key is a new request unless the key was used; a call without one may be a repeat whose answer was lost. */
const anotherQuery = z.strictObject({
  another: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      '`true`: create another request, although the same body was sent within 24 hours. An Idempotency-Key has the same effect.',
    ),
})
const wantsAnother = (headers: ActorScope['headers'], { another }: z.output<typeof anotherQuery>): boolean =>
  another === 'true' || headers['idempotency-key'] !== undefined

/**
 * `POST {base_url}/collab/v1/spo/` (API document, "Create the service site"): queues a site. The template fills in
 * omitted fields, so core reads the body itself.
 */
const createSite = defineRoute({
  id: 'createSite',
  tag: 'Sites',
  method: 'POST',
  path: '/collab/v1/spo',
  endsWithSlash: true,
  summary: 'Request a site',
  description:
    'Checks the body against its template, holds the name and queues the site, or asks the approvers first. Poll the request, or let a webhook notify you.',
  permission: 'request.create',
  audience: 'collab',
  query: anotherQuery,
  body: checkedWhole(siteRequest, (body) => withoutAbsent('site', body)),
  answers: { 202: accepting },
  refusals: ['duplicate-request', 'name-taken', 'too-many-open-requests', 'not-found'],
  examples: examples.createSite,
  idempotent: true,
  async handle({ actor, core, requestId, headers }, { body, query }) {
    const refusesRepeats = !wantsAnother(headers, query)
    return acceptance(await core.submitSite(actor, { body, requestId, refusesRepeats }), core)
  },
})

/**
 * `POST {base_url}/mail/v1/mailboxes/` (API document, "Create mailbox"): queues a mailbox. The meaning of a field
 * depends on the template's kind, so core reads the body itself and reports all faults at once.
 */
const createMailbox = defineRoute({
  id: 'createMailbox',
  tag: 'Mailboxes',
  method: 'POST',
  path: '/mail/v1/mailboxes',
  endsWithSlash: true,
  summary: 'Request a mailbox',
  description:
    'Checks the body against its template, holds the address and queues the mailbox, or asks the approvers first. `warnings` lists accepted fields without effect.',
  permission: 'request.create',
  audience: 'mail',
  query: anotherQuery,
  body: checkedByCore(mailboxRequest),
  answers: { 202: { ...accepting, body: acceptedMailbox } },
  refusals: ['duplicate-request', 'name-taken', 'too-many-open-requests', 'not-found'],
  examples: examples.createMailbox,
  idempotent: true,
  async handle({ actor, core, requestId, headers, services }, { body, query }) {
    const refusesRepeats = !wantsAnother(headers, query)
    const request = await core.submitMailbox(actor, { body, requestId, refusesRepeats })
    const { body: answer, ...others } = acceptance(request, core)
    const warnings = warningsWithTexts(fieldWarningsOf(request), services.texts)
    return { ...others, body: { ...answer, warnings } }
  },
})

/**
 * `POST {base_url}/requests/v1/preview`: returns what a creation would do with a body, and its faults. Nothing is
 * written, so a form can call it while a person fills it in.
 */
const previewRequest = defineRoute({
  id: 'previewRequest',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/preview',
  summary: 'Preview a request without sending it',
  description:
    'Checks a body as its creation would, and returns names, approvers, defaults, warnings and all errors. Stores nothing and holds no name.',
  permission: 'request.create',
  audience: 'any',
  query: z.strictObject({
    as: z.uuid().toLowerCase().optional().describe('User id of another requester; for admins'),
  }),
  body: checkedByCore(z.looseObject({}).describe('The body of `POST /collab/v1/spo/` or `POST /mail/v1/mailboxes/`.')),
  answers: {
    200: {
      description: 'The preview, with all errors.',
      body: simulatedPreview.partial({ simulated: true }),
    },
  },
  refusals: [],
  examples: examples.previewRequest,
  onlyReads: true,
  extraReads: (body) => readsOf(body) - 1,
  async handle({ actor, core, services }, { query: { as }, body }) {
    const { outlook: _, ...preview } =
      as === undefined
        ? await core.previewRequest(actor, { body })
        : await core.previewRequestAs(actor, { personId: as, body })
    const warnings = preview.warnings.map(({ reason, ...warning }) => ({
      ...warning,
      detail: services.texts.reason(reason),
    }))
    return { status: 200, body: { ...preview, warnings, errors: errorsOf(services.texts, preview.errors) } }
  },
})

export const submissionRoutes = [createSite, createMailbox, previewRequest] as const

const readRequest = defineRoute({
  id: 'readRequest',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1/:requestId',
  summary: 'Read a request, or wait until it changes',
  description:
    'Returns the request with its details, approvals, steps and resource. `Prefer: wait=30` waits up to 30 seconds for the next change.',
  permission: 'request.read',
  audience: 'any',
  params: ofOneRequest,
  headers: ['Prefer'],
  answers: { 200: { ...showing, sometimes: ['Preference-Applied'] } },
  refusals: ['not-found'],
  examples: examples.readRequest,
  handle: (scope, { params }) => readWaiting(scope, params.requestId),
})

const listRequests = defineRoute({
  id: 'listRequests',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1',
  summary: 'List the caller’s requests, newest first (for admins: all), or the requests that wait for the caller',
  description: 'Returns one page of requests. `nextCursor` of the answer is the `cursor` of the next page.',
  permission: 'request.list',
  audience: 'any',
  query: z.strictObject({
    status: requestState.optional(),
    kind: resourceKind.optional(),
    reference: z
      .string()
      .regex(/^REQ-\d{1,9}$/i, { error: 'a reference such as REQ-1042' })
      .optional()
      .describe('Only the request with this reference, from any requester, if the caller may see it'),
    waitingFor: z
      .literal('me')
      .optional()
      .describe('Only requests that wait for the caller’s decision, from all requesters'),
    ...paging,
  }),
  answers: { 200: { description: 'A page of the list.', body: listOf(requestView) } },
  refusals: [],
  examples: examples.listRequests,
  async handle(scope, { query: { reference, waitingFor, ...page } }) {
    const { actor, core } = scope
    if (reference !== undefined) {
      const found = await oneOf(core.readRequestByReference(actor, { reference }))
      const { status, kind } = page
      const isMeant = (one: Request) =>
        (!status || one.status === status) &&
        (!kind || one.kind === kind) &&
        (!waitingFor || isWaitingFor(one, actor.id))
      return { status: 200, body: { value: found.filter(isMeant).map((one) => bodyOf(one, scope)) } }
    }
    const { requests, nextCursor } = await core.listRequests(actor, {
      ...page,
      ...(waitingFor && { waitingForMe: true }),
    })
    return { status: 200, body: { value: requests.map((one) => bodyOf(one, scope)), nextCursor } }
  },
})

const isWaitingFor = ({ status, approvals }: Request, personId: string): boolean =>
  status === 'pendingApproval' && decidersOf(approvals).some(({ id }) => id === personId)

/** Returns a list of one request, or an empty list for an unknown reference. */
async function oneOf(reading: Promise<Request>): Promise<Request[]> {
  try {
    return [await reading]
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'not-found') return []
    throw error
  }
}

/** An entry of the timeline, without the request, which the address names. */
const timelineEntry = auditEntry.omit({ requestId: true, tenantId: true, attempt: true })

const readTimeline = defineRoute({
  id: 'readTimeline',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1/:requestId/timeline',
  summary: 'Read the timeline of a request: actions, people, times and comments',
  description: 'Returns every action on the request with its person, time and comment, the oldest first.',
  permission: 'request.read',
  audience: 'any',
  params: ofOneRequest,
  answers: {
    200: {
      description: 'The timeline, the oldest entry first.',
      body: z.strictObject({ value: z.array(timelineEntry) }),
    },
  },
  refusals: ['not-found'],
  examples: examples.readTimeline,
  async handle({ actor, core }, { params }) {
    const entries = await core.readTimeline(actor, { requestId: params.requestId })
    const shownTo = ({ data, ...entry }: (typeof entries)[number]) =>
      timelineEntry.parse({ ...entry, ...(data && { data: entryDataFor(data, actor) }) })
    return { status: 200, body: { value: entries.map(shownTo) } }
  },
})

/** Returns the request, or its next version if the caller wants to wait and the server has a place for the call. */
async function readWaiting(scope: ActorScope, requestId: string) {
  const { actor, core, request } = scope
  const found = await core.readRequest(actor, { requestId })
  const seconds = preferredWait([request.headers['prefer'] ?? []].flat().join())
  if (seconds === 0) return shown(found, scope)
  const ended = hasNews(scope, found) ? 'changed' : await hold(scope, found, seconds)
  if (ended === undefined) return shown(found, scope)
  // The request and the caller's rights may have changed during the wait.
  const current = ended === 'gone' ? found : await core.readRequest(actor, { requestId })
  if (ended === 'stopping') return shown(current, scope)
  const { headers, ...answer } = shown(current, scope)
  return { ...answer, headers: { ...headers, 'Preference-Applied': `wait=${seconds}` } }
}

/** Whether to answer at once: the caller has an older version, or no other version will come. */
function hasNews(scope: ActorScope, found: Request): boolean {
  const { request } = scope
  if (isTerminal(found.status)) return true
  return request.headers['if-none-match'] !== undefined && !hasEntity(request, shown(found, scope).headers.ETag)
}

async function hold(
  { services, actor, response }: ActorScope,
  { requestId, version }: Request,
  seconds: number,
): Promise<WaitEnd | undefined> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  response.once('close', leave)
  if (response.destroyed) leave()
  try {
    return await services.waiting.hold({ requestId, version, personId: actor.id, seconds, gone: gone.signal })
  } finally {
    response.off('close', leave)
  }
}

export const readingRoutes = [listRequests, readRequest, readTimeline] as const
