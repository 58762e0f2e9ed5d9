import { z } from 'zod'
import { approvalStage } from '../approvals/index.ts'
import type { AuditEntry } from '../audit/index.ts'
import {
  mailboxDetails,
  mailboxResource,
  shownCheck,
  siteDetails,
  siteNames,
  siteResource,
} from '../resources/index.ts'
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
import { type FieldWarning, fieldWarningsOf, shownFieldWarning } from './field-warnings.ts'
import type { RequestPorts, RequestQuery } from './ports.ts'
import {
  addressConflict,
  basedOn,
  isForMailbox,
  type Request,
  referenceOf,
  referencePattern,
  requestStep,
  shownProblem,
  shownProblemOf,
} from './request.ts'

/** Reads a request. Throws `not-found` also for an existing request that the actor may not see. */
export const readRequest = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle({ ports, actor }: Context<RequestPorts>, { requestId }): Promise<Request> {
    return visible(actor, await ports.requests.find(requestId))
  },
})

/** Reads a request by its reference, `REQ-1042`, in any case. */
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
 * Returns the id of the request with this reference (`REQ-1042`, in any case), or undefined. Checks no right: pass the id to a
 * use case that does.
 */
export async function requestIdOf(
  { ports, settings }: SystemContext<RequestPorts>,
  reference: string,
): Promise<string | undefined> {
  const number = referencePattern.exec(reference)?.[1]
  if (number === undefined) return undefined
  return (await ports.requests.findByNumber(settings.tenantId, Number(number)))?.requestId
}

/** Returns the request. Throws if it does not exist or the actor may not see it. */
export function visible(actor: Actor, request: Request | undefined): Request {
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
    // Refused attempts are only for the audit.
    return (await ports.audit.timeline(requestId)).filter(({ action }) => action !== refusedAction)
  },
})

export interface Page {
  readonly requests: readonly Request[]
  readonly nextCursor?: string
}

/** Lists the actor's requests (for an admin: all requests), newest first. The opaque cursor comes from the previous page. */
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

/** Lists the requests of the actor, also for an admin: those in these states, or all. */
export const listOwnRequests = defineUseCase({
  permission: 'request.list',
  input: z.object({ limit: z.int(), status: z.array(requestState).readonly().exactOptional() }),
  handle: ({ ports, actor }: Context<RequestPorts>, query): Promise<Page> =>
    page(ports, { ...query, tenantId: actor.tenantId, requesterId: actor.id }),
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

/** The page to read: requests older (`before`) or newer (`after`) than this number; the first page without both. */
export interface PageAt {
  readonly before?: number | undefined
  readonly after?: number | undefined
}
/** The maximum count on either side of a page, because a person can have any number of old requests. */
export const maxCounted = 200
/** The requests of a page in the order of its list, and the counts on either side, up to {@link maxCounted}. */
export interface ListPage {
  readonly requests: readonly Request[]
  readonly newer: number
  readonly older: number
}

/** Reads a page of the actor's own requests, also for an admin. */
export const pageOfOwnRequests = defineUseCase({
  permission: 'request.list',
  input: z.object({ limit: z.int(), before: z.int().optional(), after: z.int().optional() }),
  handle: ({ ports, actor }: Context<RequestPorts>, { limit, ...at }): Promise<ListPage> =>
    pageOf(ports, { tenantId: actor.tenantId, requesterId: actor.id }, limit, 'newest', at),
})

/** Reads a page of the requests that wait for the actor's decision, oldest first: their requesters wait longest. */
export const pageOfApprovals = defineUseCase({
  permission: 'approval.list',
  input: z.object({ limit: z.int(), before: z.int().optional(), after: z.int().optional() }),
  handle: ({ ports, actor }: Context<RequestPorts>, { limit, ...at }): Promise<ListPage> =>
    approvalsOf(ports, actor, limit, at),
})

/** Reads a page of the requests that wait for a person's decision, oldest first. */
export const approvalsOf = (
  ports: Pick<RequestPorts, 'requests'>,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  limit: number,
  at: PageAt = {},
): Promise<ListPage> => pageOf(ports, { tenantId, approverId: id, status: 'pendingApproval' }, limit, 'oldest', at)

type Listed = Pick<RequestQuery, 'tenantId' | 'requesterId' | 'approverId' | 'status'>

/**
 * Reads a page by the number at its edge, so that new requests do not shift pages. Reads only this page; an index counts the
 * requests on either side.
 */
async function pageOf(
  ports: Pick<RequestPorts, 'requests'>,
  listed: Listed,
  limit: number,
  first: 'newest' | 'oldest',
  { before, after }: PageAt,
): Promise<ListPage> {
  const isFirst = before === undefined && after === undefined
  const isUpwards = after !== undefined || (isFirst && first === 'oldest')
  const edge = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
  const found = await ports.requests.list({ ...listed, ...edge, oldestFirst: isUpwards, limit })
  // Decisions remove requests from the list. If the page is now empty or starts the list, returns the first page.
  const isTowardsFirst = isUpwards === (first === 'newest')
  if (!isFirst && (found.length === 0 || (isTowardsFirst && found.length < limit)))
    return pageOf(ports, listed, limit, first, {})
  const numbers = found.map(({ number }) => number)
  const count = async (isEnd: boolean, side: Pick<RequestQuery, 'before' | 'after'>): Promise<number> =>
    isEnd || numbers.length === 0 ? 0 : ports.requests.count({ ...listed, ...side, limit: maxCounted })
  const isLast = found.length < limit
  const [newer, older] = await Promise.all([
    count((isFirst && !isUpwards) || (isUpwards && isLast), { after: Math.max(...numbers) }),
    count((isFirst && isUpwards) || (!isUpwards && isLast), { before: Math.min(...numbers) }),
  ])
  const isInOrder = isUpwards === (first === 'oldest')
  return { requests: isInOrder ? found : found.toReversed(), newer, older }
}

/** Returns the current versions of requests, to find those that have changed. */
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
  steps: z.array(requestStep.extend({ problem: shownProblem.optional() })),
  checks: z.array(shownCheck),
  problem: shownProblem.nullable(),
  addressConflict: addressConflict
    .optional()
    .describe('An address that another resource has taken during the wait. Nobody can approve until it is replaced.'),
  reducedAt: instant.optional().describe('The time when its details were removed. The audit data stays.'),
}

/**
 * The request in the API (DESIGN §5). `details` has the requested values, with the names and addresses by the naming policy.
 * Values that the tenant cannot store are only here.
 */
export const requestView = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: siteKind,
    details: siteDetails.extend({ reason }),
    resource: siteResource.nullable(),
    createdAs: siteNames
      .optional()
      .describe(
        'For team sites: the names in Entra ID. The tenant’s naming policy may have changed the requested names.',
      ),
  }),
  z.object({
    ...common,
    kind: mailboxKind,
    details: mailboxDetails.extend({ reason }),
    resource: mailboxResource.nullable(),
    warnings: z.array(shownFieldWarning).describe('The accepted fields without effect in Microsoft 365'),
  }),
])
export type RequestView = z.output<typeof requestView>
type MailboxView = Extract<RequestView, { warnings: unknown }>
/** The view of a request without texts: the API adds the `detail` of each warning. */
type CodedRequestView =
  | Exclude<RequestView, MailboxView>
  | (Omit<MailboxView, 'warnings'> & { readonly warnings: readonly FieldWarning[] })

export function viewOf(request: Request): CodedRequestView {
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
    steps: steps.map(({ problem, ...step }) => ({ ...step, ...(problem && { problem: shownProblemOf(problem) }) })),
    checks: checks.map(({ reason: _, ...shown }) => shown),
    problem: problem && shownProblemOf(problem),
    ...(request.addressConflict && { addressConflict: request.addressConflict }),
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
  const details = { ...request.details, name, domain, ...alias, ...reason }
  return { ...shared, kind, details, resource, warnings: fieldWarningsOf(request) }
}

/** Returns the request for a viewer: only admins see the wrong permission, host or setting, and Microsoft's codes. */
export function requestFor(request: Request, { isAdmin }: { readonly isAdmin: boolean }): Request {
  if (isAdmin) return request
  const steps = request.steps.map((step) =>
    step.problem ? { ...step, problem: problemForPeople(step.problem) } : step,
  )
  return { ...request, steps, problem: request.problem && problemForPeople(request.problem) }
}

export const viewFor = (request: Request, viewer: { readonly isAdmin: boolean }): CodedRequestView =>
  viewOf(requestFor(request, viewer))

/** Returns the data of a timeline's entry for a viewer. */
export function entryDataFor<T extends Readonly<Record<string, unknown>>>(
  data: T,
  { isAdmin }: { isAdmin: boolean },
): T {
  const { code, detail } = data
  if (isAdmin || typeof code !== 'string' || typeof detail !== 'string') return data
  return { ...data, ...shownProblemOf(problemForPeople({ code, detail })) }
}
