import type { AuditEntry } from '../audit/index.ts'
import { type Actor, type Context, fault, notFound, refuseFields } from '../shared/index.ts'
import { authorize, may, refusedAction } from './access.ts'
import type { RequestPorts, RequestQuery } from './ports.ts'
import { type Request, referencePattern } from './request.ts'

/** A request that the actor may see; `not-found` also when it exists and is somebody else's. */
export async function read({ ports, actor }: Context<RequestPorts>, requestId: string): Promise<Request> {
  return visible(actor, await ports.requests.find(requestId))
}

/** The same by what people call it: `REQ-1042`, in any case. */
export async function readByReference({ ports, actor }: Context<RequestPorts>, reference: string): Promise<Request> {
  const number = referencePattern.exec(reference.trim())?.[1]
  return visible(
    actor,
    number === undefined ? undefined : await ports.requests.findByNumber(actor.tenantId, Number(number)),
  )
}

function visible(actor: Actor, request: Request | undefined): Request {
  if (!request) throw notFound()
  authorize(actor, 'request.read', request)
  return request
}

export async function timeline(context: Context<RequestPorts>, requestId: string): Promise<AuditEntry[]> {
  const { ports } = context
  await read(context, requestId)
  // Who tried and might not is for those who audit.
  return (await ports.audit.timeline(requestId)).filter(({ action }) => action !== refusedAction)
}

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
export async function list(
  { ports, actor }: Context<RequestPorts>,
  { cursor, limit, waitingForMe = false, ...filter }: ListFilter,
): Promise<Page> {
  authorize(actor, 'request.list')
  const own = may(actor, 'request.listAll') ? {} : { requesterId: actor.id }
  const mine = waitingForMe ? { approverId: actor.id } : own
  return page(ports, {
    ...filter,
    ...mine,
    tenantId: actor.tenantId,
    limit,
    ...(cursor !== undefined && { before: decodeCursor(cursor) }),
  })
}

/** Only what this person asked for, admin or not. */
export const listOwn = ({ ports, actor }: Context<RequestPorts>, limit: number): Promise<Page> =>
  page(ports, { tenantId: actor.tenantId, requesterId: actor.id, limit })

/** What waits for this person's decision. */
export async function listApprovals({ ports, actor }: Context<RequestPorts>, limit: number): Promise<Page> {
  return page(ports, { tenantId: actor.tenantId, approverId: actor.id, status: 'pendingApproval', limit })
}

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
  return refuseFields([fault('/cursor', 'invalid', 'cursor must be the nextCursor of an earlier page.')])
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
export const pageOfOwn = ({ ports, actor }: Context<RequestPorts>, limit: number, at: PageAt): Promise<ListPage> =>
  pageOf(ports, { tenantId: actor.tenantId, requesterId: actor.id }, limit, at)

/** A page of what waits for this person's decision. */
export const pageOfApprovals = (
  { ports, actor }: Context<RequestPorts>,
  limit: number,
  at: PageAt,
): Promise<ListPage> =>
  pageOf(ports, { tenantId: actor.tenantId, approverId: actor.id, status: 'pendingApproval' }, limit, at)

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
