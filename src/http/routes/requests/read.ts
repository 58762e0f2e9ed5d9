import { z } from 'zod'
import {
  auditEntry,
  entryDataFor,
  isTerminal,
  ProvisioningError,
  type Request,
  requestState,
  requestView,
  resourceKind,
  viewFor,
} from '../../../core/index.ts'
import { type ActorScope, defineRoute } from '../../server/define-route.ts'
import { hasEntity } from '../../server/respond.ts'
import { type WaitEnd, waitWished } from '../../server/waiting.ts'
import { listOf, ofOneRequest, paging, showing, shown } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const readRequest = defineRoute({
  id: 'readRequest',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1/:requestId',
  summary: 'Read a request, or wait until it changes',
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
  summary: 'List own requests, newest first (an admin: all), or those that wait for the caller',
  permission: 'request.list',
  audience: 'any',
  query: z.strictObject({
    status: requestState.optional(),
    kind: resourceKind.optional(),
    reference: z
      .string()
      .regex(/^REQ-\d{1,9}$/i, { error: 'a reference such as REQ-1042' })
      .optional()
      .describe('The one request that people call so, if the caller may see it, whoever asked for it'),
    waitingFor: z
      .literal('me')
      .optional()
      .describe('Those that wait for a decision of the caller, whoever asked for them'),
    ...paging,
  }),
  answers: { 200: { says: 'A page of the list.', body: listOf(requestView) } },
  refusals: [],
  examples: examples.listRequests,
  async handle({ actor, provisioning }, { query: { status, kind, reference, waitingFor, limit, cursor } }) {
    if (reference !== undefined) {
      const found = await oneOf(provisioning.readRequestByReference(actor, { reference }))
      const isMeant = (one: Request) => (!status || one.status === status) && (!kind || one.kind === kind)
      return { status: 200, body: { value: found.filter(isMeant).map((one) => viewFor(one, actor)) } }
    }
    const { requests, nextCursor } = await provisioning.listRequests(actor, {
      limit,
      ...(status && { status }),
      ...(kind && { kind }),
      ...(cursor && { cursor }),
      ...(waitingFor && { waitingForMe: true }),
    })
    return {
      status: 200,
      body: { value: requests.map((one) => viewFor(one, actor)), ...(nextCursor && { nextCursor }) },
    }
  },
})

/** A list of what is there and may be seen: a list is never a refusal. */
async function oneOf(reading: Promise<Request>): Promise<Request[]> {
  try {
    return [await reading]
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'not-found') return []
    throw error
  }
}

/** A line of the timeline: the request is in the address already. */
const timelineEntry = auditEntry.omit({ requestId: true, tenantId: true, attempt: true })

const readTimeline = defineRoute({
  id: 'readTimeline',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1/:requestId/timeline',
  summary: 'Who did what, when, with which comment',
  permission: 'request.read',
  audience: 'any',
  params: ofOneRequest,
  answers: {
    200: { says: 'The timeline, the oldest entry first.', body: z.strictObject({ value: z.array(timelineEntry) }) },
  },
  refusals: ['not-found'],
  examples: examples.readTimeline,
  async handle({ actor, provisioning }, { params }) {
    const entries = await provisioning.readTimeline(actor, { requestId: params.requestId })
    const shownTo = ({ data, ...entry }: (typeof entries)[number]) =>
      timelineEntry.parse({ ...entry, ...(data && { data: entryDataFor(data, actor) }) })
    return { status: 200, body: { value: entries.map(shownTo) } }
  },
})

/** The request, or its next version when the caller wants to wait for it and there is a place to wait. */
async function readWaiting(scope: ActorScope, requestId: string) {
  const { actor, provisioning, request } = scope
  const found = await provisioning.readRequest(actor, { requestId })
  const seconds = waitWished([request.headers['prefer'] ?? []].flat().join())
  if (seconds === 0) return shown(found, actor)
  const ended = hasNews(scope, found) ? 'changed' : await hold(scope, found, seconds)
  if (ended === undefined) return shown(found, actor)
  // What may be read, and by whom, is decided anew.
  const current = ended === 'gone' ? found : await provisioning.readRequest(actor, { requestId })
  if (ended === 'stopping') return shown(current, actor)
  const { headers, ...answer } = shown(current, actor)
  return { ...answer, headers: { ...headers, 'Preference-Applied': `wait=${seconds}` } }
}

/** Whether there is something to tell at once: another version than the caller knows, or that no other will come. */
function hasNews({ actor, request }: ActorScope, found: Request): boolean {
  if (isTerminal(found.status)) return true
  return request.headers['if-none-match'] !== undefined && !hasEntity(request, shown(found, actor).headers.ETag)
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
