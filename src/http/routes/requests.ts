import { z } from 'zod'
import { auditEntry, requestState, requestView, resourceKind, viewOf } from '../../core/index.ts'
import { defineRoute } from '../define-route.ts'
import { listRequestsExamples, readRequestExamples, readTimelineExamples } from '../examples/requests.ts'
import { listOf, paging } from './paging.ts'
import { readWaiting } from './read-waiting.ts'
import { ofOneRequest, showing } from './shown-request.ts'

export const readRequest = defineRoute({
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
  examples: readRequestExamples,
  handle: (scope, { params }) => readWaiting(scope, params.requestId),
})

export const listRequests = defineRoute({
  id: 'listRequests',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1',
  summary: 'List own requests, newest first; an admin sees all',
  permission: 'request.list',
  audience: 'any',
  query: z.strictObject({
    status: requestState.optional(),
    kind: resourceKind.optional(),
    ...paging,
  }),
  answers: { 200: { says: 'A page of the list.', body: listOf(requestView) } },
  refusals: [],
  examples: listRequestsExamples,
  async handle({ actor, provisioning }, { query: { status, kind, limit, cursor } }) {
    const { requests, nextCursor } = await provisioning.list(actor, {
      limit,
      ...(status && { status }),
      ...(kind && { kind }),
      ...(cursor && { cursor }),
    })
    return { status: 200, body: { value: requests.map(viewOf), ...(nextCursor && { nextCursor }) } }
  },
})

/** A line of the timeline: the request is in the address already. */
const timelineEntry = auditEntry.omit({ requestId: true, tenantId: true, attempt: true })

export const readTimeline = defineRoute({
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
  examples: readTimelineExamples,
  async handle({ actor, provisioning }, { params }) {
    const entries = await provisioning.timeline(actor, params.requestId)
    return { status: 200, body: { value: entries.map((entry) => timelineEntry.parse(entry)) } }
  },
})
