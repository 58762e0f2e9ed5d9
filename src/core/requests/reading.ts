import { z } from 'zod'
import type { AuditEntry } from '../audit/index.ts'
import {
  type Actor,
  because,
  type Context,
  defineUseCase,
  fault,
  notFound,
  refuseFields,
  requestState,
  resourceKind,
  type SystemContext,
} from '../shared/index.ts'
import { authorize, may, refusedAction } from './access.ts'
import type { RequestPorts, RequestQuery } from './ports.ts'
import { type Request, referencePattern } from './request.ts'

/** A request that the actor may see; `not-found` also when it exists and is somebody else's. */
export const readRequest = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle({ ports, actor }: Context<RequestPorts>, { requestId }): Promise<Request> {
    return visible(actor, await ports.requests.find(requestId))
  },
})

/** The same by what people call it: `REQ-1042`, in any case. */
export const readRequestByReference = defineUseCase({
  permission: 'request.read',
  input: z.object({ reference: z.string() }),
  async handle({ ports, actor }: Context<RequestPorts>, { reference }): Promise<Request> {
    const number = referencePattern.exec(reference.trim())?.[1]
    return visible(
      actor,
      number === undefined ? undefined : await ports.requests.findByNumber(actor.tenantId, Number(number)),
    )
  },
})

function visible(actor: Actor, request: Request | undefined): Request {
  if (!request) throw notFound()
  authorize(actor, 'request.read', request)
  return request
}

export const readTimeline = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<RequestPorts>, { requestId }): Promise<AuditEntry[]> {
    const { ports } = context
    await readRequest.handle(context, { requestId })
    // Who tried and might not is for those who audit.
    return (await ports.audit.timeline(requestId)).filter(({ action }) => action !== refusedAction)
  },
})

export type ListFilter = Pick<RequestQuery, 'status' | 'kind'> & {
  readonly limit: number
  readonly cursor?: string
  /** Only what waits for this person's decision, whoever asked for it. */
  readonly waitingForMe?: boolean
}
export interface Page {
  readonly requests: readonly Request[]
  readonly nextCursor?: string
}

/** Own requests (an admin: everybody's), newest first. The cursor is opaque: it comes from the page before. */
export const listRequests = defineUseCase({
  permission: 'request.list',
  input: z.object({
    limit: z.int(),
    cursor: z.string().exactOptional(),
    status: z.union([requestState, z.array(requestState)]).exactOptional(),
    kind: resourceKind.exactOptional(),
    waitingForMe: z.boolean().optional(),
  }),
  async handle(
    { ports, actor }: Context<RequestPorts>,
    { cursor, limit, waitingForMe = false, ...filter },
  ): Promise<Page> {
    const own = may(actor, 'request.listAll') ? {} : { requesterId: actor.id }
    const mine = waitingForMe ? { approverId: actor.id } : own
    return page(ports, {
      ...filter,
      ...mine,
      tenantId: actor.tenantId,
      limit,
      ...(cursor !== undefined && { before: decodeCursor(cursor) }),
    })
  },
})

/** Only what this person asked for, admin or not. */
export const listOwnRequests = defineUseCase({
  permission: 'request.list',
  input: z.object({ limit: z.int() }),
  handle: ({ ports, actor }: Context<RequestPorts>, { limit }): Promise<Page> =>
    page(ports, { tenantId: actor.tenantId, requesterId: actor.id, limit }),
})

/** What waits for this person's decision. */
export const listApprovals = defineUseCase({
  permission: 'approval.list',
  input: z.object({ limit: z.int() }),
  async handle({ ports, actor }: Context<RequestPorts>, { limit }): Promise<Page> {
    return page(ports, { tenantId: actor.tenantId, approverId: actor.id, status: 'pendingApproval', limit })
  },
})

async function page(ports: RequestPorts, query: RequestQuery): Promise<Page> {
  const found = await ports.requests.list({ ...query, limit: query.limit + 1 })
  const requests = found.slice(0, query.limit)
  const last = requests.at(-1)
  return found.length > query.limit && last ? { requests, nextCursor: encodeCursor(last.number) } : { requests }
}

const encodeCursor = (number: number): string => Buffer.from(`v1:${number}`).toString('base64url')

function decodeCursor(cursor: string): number {
  const number = /^v1:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  if (number !== undefined) return Number(number)
  return refuseFields([fault('/cursor', 'invalid', because('cursorInvalid'))])
}

/** Which page: the newest; what is older than the request of this number; or what is newer than it. */
export interface PageAt {
  readonly before?: number | undefined
  readonly after?: number | undefined
}
/** How many are counted on either side of a page: somebody's past has no end, and nobody reads a larger number. */
export const mostCounted = 200
/** The requests of a page, newest first, and how many there are on either side of them, up to {@link mostCounted}. */
export interface ListPage {
  readonly requests: readonly Request[]
  readonly newer: number
  readonly older: number
}

/** A page of what this person asked for, admin or not. */
export const pageOfOwnRequests = defineUseCase({
  permission: 'request.list',
  input: z.object({ limit: z.int(), before: z.int().optional(), after: z.int().optional() }),
  handle: ({ ports, actor }: Context<RequestPorts>, { limit, ...at }): Promise<ListPage> =>
    pageOf(ports, { tenantId: actor.tenantId, requesterId: actor.id }, limit, at),
})

/** A page of what waits for this person's decision. */
export const pageOfApprovals = defineUseCase({
  permission: 'approval.list',
  input: z.object({ limit: z.int(), before: z.int().optional(), after: z.int().optional() }),
  handle: ({ ports, actor }: Context<RequestPorts>, { limit, ...at }): Promise<ListPage> =>
    pageOf(ports, { tenantId: actor.tenantId, approverId: actor.id, status: 'pendingApproval' }, limit, at),
})

type Listed = Pick<RequestQuery, 'tenantId' | 'requesterId' | 'approverId' | 'status'>

/**
 * Pages are found by the number at their edge, so that what comes new meanwhile moves nobody's page. Only a page is read;
 * what is beside it is counted by an index.
 */
async function pageOf(
  ports: RequestPorts,
  listed: Listed,
  limit: number,
  { before, after }: PageAt,
): Promise<ListPage> {
  const edge = after === undefined ? { ...(before !== undefined && { before }) } : { after, oldestFirst: true }
  const found = await ports.requests.list({ ...listed, ...edge, limit })
  const isFirst = before === undefined && after === undefined
  // Of what waited, some may be decided by now: a page that is gone, or that others move up into, is the first one.
  if (!isFirst && (found.length === 0 || (after !== undefined && found.length < limit)))
    return pageOf(ports, listed, limit, {})
  const requests = after === undefined ? found : found.toReversed()
  const [newest, oldest] = [requests[0]?.number, requests.at(-1)?.number]
  const count = (beside: Pick<RequestQuery, 'before' | 'after'>): Promise<number> =>
    ports.requests.count({ ...listed, ...beside, limit: mostCounted })
  const [newer, older] = await Promise.all([
    isFirst || newest === undefined ? 0 : count({ after: newest }),
    found.length < limit || oldest === undefined ? 0 : count({ before: oldest }),
  ])
  return { requests, newer, older }
}

/** The present versions of requests, to know which have changed. It tells nothing else about them. */
export const readVersions = ({ ports }: SystemContext<RequestPorts>, requestIds: readonly string[]) =>
  ports.requests.versions(requestIds)
