import type { AuditEntry } from '../audit/index.ts'
import { type Actor, fault, notFound, refuseFields } from '../shared/index.ts'
import { authorize, may } from './access.ts'
import type { RequestPorts } from './ports.ts'
import { refusedAction } from './refusals.ts'
import { type Request, referencePattern } from './request.ts'
import type { RequestQuery } from './store.ts'

/** A request that the actor may see; `not-found` also when it exists and is somebody else's. */
export async function read(ports: RequestPorts, actor: Actor, requestId: string): Promise<Request> {
  return visible(actor, await ports.requests.find(requestId))
}

/** The same by what people call it: `REQ-1042`, in any case. */
export async function readByReference(ports: RequestPorts, actor: Actor, reference: string): Promise<Request> {
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

export async function timeline(ports: RequestPorts, actor: Actor, requestId: string): Promise<AuditEntry[]> {
  await read(ports, actor, requestId)
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
  ports: RequestPorts,
  actor: Actor,
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
export const listOwn = (ports: RequestPorts, actor: Actor, limit: number): Promise<Page> =>
  page(ports, { tenantId: actor.tenantId, requesterId: actor.id, limit })

/** What waits for this person's decision. */
export async function listApprovals(ports: RequestPorts, actor: Actor, limit: number): Promise<Page> {
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
