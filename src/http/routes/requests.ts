import { z } from 'zod'
import {
  type Actor,
  auditEntry,
  longestComment,
  type Permission,
  type Provisioning,
  type Request,
  requestState,
  requestView,
  resourceKind,
  viewOf,
} from '../../core/index.ts'
import { type ActorRoute, defineRoute } from '../define-route.ts'
import { paging } from './paging.ts'

const params = z.object({ requestId: z.uuid().toLowerCase() })
const decisionBody = z.strictObject({ comment: z.string().trim().max(longestComment).optional() }).default({})

/** The version counts every change of a request, and all that is shown comes from the request. */
const shown = (request: Request) =>
  ({ status: 200, headers: { ETag: `"${request.version}"` }, body: viewOf(request) }) as const

export const readRequest = defineRoute({
  method: 'GET',
  path: '/requests/v1/:requestId',
  summary: 'Read a request',
  permission: 'request.read',
  audience: 'any',
  params,
  answers: { 200: requestView },
  async handle({ actor, provisioning }, { params }) {
    return shown(await provisioning.read(actor, params.requestId))
  },
})

export const listRequests = defineRoute({
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
  answers: { 200: z.strictObject({ value: z.array(requestView), nextCursor: z.string().optional() }) },
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
  method: 'GET',
  path: '/requests/v1/:requestId/timeline',
  summary: 'Who did what, when, with which comment',
  permission: 'request.read',
  audience: 'any',
  params,
  answers: { 200: z.strictObject({ value: z.array(timelineEntry) }) },
  async handle({ actor, provisioning }, { params }) {
    const entries = await provisioning.timeline(actor, params.requestId)
    return { status: 200, body: { value: entries.map((entry) => timelineEntry.parse(entry)) } }
  },
})

type Decide = (
  provisioning: Provisioning,
  actor: Actor,
  requestId: string,
  comment: string | undefined,
  attempt: string,
) => Promise<Request>

function decisionRoute(verb: string, summary: string, permission: Permission, decide: Decide): ActorRoute {
  return defineRoute({
    method: 'POST',
    path: `/requests/v1/:requestId/${verb}`,
    summary,
    permission,
    audience: 'any',
    params,
    body: decisionBody,
    answers: { 200: requestView },
    idempotent: true,
    async handle({ actor, provisioning, requestId: attempt }, { params, body }) {
      return shown(await decide(provisioning, actor, params.requestId, body.comment, attempt))
    },
  })
}

export const approveRequest = decisionRoute('approve', 'Approve a request', 'request.decide', (to, ...call) =>
  to.approve(...call),
)
export const rejectRequest = decisionRoute('reject', 'Reject a request, saying why', 'request.decide', (to, ...call) =>
  to.reject(...call),
)
export const cancelRequest = decisionRoute('cancel', 'Cancel a request', 'request.cancel', (to, ...call) =>
  to.cancel(...call),
)
export const retryRequest = decisionRoute('retry', 'Continue a failed request', 'request.retry', (to, ...call) =>
  to.retry(...call),
)
