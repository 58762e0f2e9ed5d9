import type { Actor } from '../shared/index.ts'
import type { RequestPorts } from './ports.ts'
import type { Request } from './request.ts'
import type { RequestQuery } from './store.ts'

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
export const pageOfOwn = (ports: RequestPorts, actor: Actor, limit: number, at: PageAt): Promise<ListPage> =>
  pageOf(ports, { tenantId: actor.tenantId, requesterId: actor.id }, limit, at)

/** A page of what waits for this person's decision. */
export const pageOfApprovals = (ports: RequestPorts, actor: Actor, limit: number, at: PageAt): Promise<ListPage> =>
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
