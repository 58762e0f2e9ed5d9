import { z } from 'zod'
import { approvalStage } from '../approvals/index.ts'
import type { AuditEntry } from '../audit/index.ts'
import { check, mailboxDetails, mailboxResource, siteDetails, siteNames, siteResource } from '../resources/index.ts'
import {
  type Actor,
  because,
  type Context,
  defineUseCase,
  fault,
  instant,
  mailboxKind,
  notFound,
  person,
  problemForPeople,
  refuseFields,
  requestState,
  resourceKind,
  type SystemContext,
  siteKind,
} from '../shared/index.ts'
import { authorize, may, refusedAction } from './access.ts'
import type { RequestPorts, RequestQuery } from './ports.ts'
import { basedOn, isForMailbox, problem, type Request, referenceOf, referencePattern, requestStep } from './request.ts'

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

/**
 * Returns the id of the request with this number (`REQ-1042`, in any case), or undefined. Checks no right: pass the id to a use
 * case that does.
 */
export async function requestIdOf(
  { ports, settings }: SystemContext<RequestPorts>,
  reference: string,
): Promise<string | undefined> {
  const number = referencePattern.exec(reference)?.[1]
  if (number === undefined) return undefined
  return (await ports.requests.findByNumber(settings.tenantId, Number(number)))?.requestId
}

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

const reason = z.string().optional()
const common = {
  requestId: z.uuid(),
  reference: z.string(),
  tenantId: z.uuid(),
  templateId: z.uuid(),
  status: requestState,
  approvalRequired: z.boolean(),
  requester: person,
  basedOn: basedOn.optional(),
  submittedAt: instant,
  updatedAt: instant,
  approvals: z.array(approvalStage.omit({ membership: true, place: true })),
  steps: z.array(requestStep),
  checks: z.array(check),
  problem: problem.nullable(),
  reducedAt: instant.optional().describe('When its details were removed; what is left is what the audit needs.'),
}

/**
 * The request as the API shows it (DESIGN §5). Its details are what was asked for, with the names and addresses that the
 * naming policy made of it; what the tenant has no place for is kept here alone.
 */
export const requestView = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: siteKind,
    details: siteDetails.extend({ reason }),
    resource: siteResource.nullable(),
    createdAs: siteNames
      .optional()
      .describe('Team sites: the names in Entra ID. The naming policy of the tenant may have changed those requested.'),
  }),
  z.object({
    ...common,
    kind: mailboxKind,
    details: mailboxDetails.extend({ reason }),
    resource: mailboxResource.nullable(),
  }),
])
export type RequestView = z.output<typeof requestView>

export function viewOf(request: Request): RequestView {
  const { requestId, tenantId, status, requester, submittedAt, updatedAt, approvals, steps, checks, problem } = request
  const shared = {
    requestId,
    reference: referenceOf(request),
    tenantId,
    templateId: request.template.id,
    status,
    approvalRequired: approvals.length > 0,
    requester,
    ...(request.basedOn && { basedOn: request.basedOn }),
    submittedAt,
    updatedAt,
    approvals: approvals.map(({ membership: _, place: __, ...stage }) => stage),
    steps,
    checks,
    problem,
    ...(request.reducedAt !== undefined && { reducedAt: request.reducedAt }),
  }
  const reason = request.reason && { reason: request.reason }
  if (!isForMailbox(request)) {
    const { kind, resource, alias } = request
    const { createdAs } = request.progress
    const owners = request.owners.map(({ id }) => id)
    return {
      ...shared,
      kind,
      details: { ...request.details, alias, owners, ...reason },
      resource,
      ...(createdAs && { createdAs }),
    }
  }
  const { kind, resource, aliasAddress } = request
  const [name = '', domain = ''] = request.address.split('@')
  const alias = aliasAddress && { alias: aliasAddress }
  return { ...shared, kind, details: { ...request.details, name, domain, ...alias, ...reason }, resource }
}

/** The request as this person may see it: only admins read which permission, host or setting is wrong, and Microsoft's codes. */
export function requestFor(request: Request, { isAdmin }: { readonly isAdmin: boolean }): Request {
  if (isAdmin) return request
  const steps = request.steps.map((step) =>
    step.problem ? { ...step, problem: problemForPeople(step.problem) } : step,
  )
  return { ...request, steps, problem: request.problem && problemForPeople(request.problem) }
}

export const viewFor = (request: Request, viewer: { readonly isAdmin: boolean }): RequestView =>
  viewOf(requestFor(request, viewer))

/** The data of a timeline's entry as this person may see it. */
export function entryDataFor<T extends Readonly<Record<string, unknown>>>(
  data: T,
  { isAdmin }: { isAdmin: boolean },
): T {
  const { code, detail } = data
  if (isAdmin || typeof code !== 'string' || typeof detail !== 'string') return data
  return { ...data, ...problemForPeople({ code, detail }) }
}
