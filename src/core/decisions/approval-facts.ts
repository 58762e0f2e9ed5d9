import { z } from 'zod'
import { likeness, similarFrom } from '../naming/index.ts'
import { type Request, readRequest } from '../requests/index.ts'
import { type Context, defineUseCase, type SystemContext } from '../shared/index.ts'
import { type AddressCheck, type CheckedBy, checkAddresses } from './address-conflict.ts'
import type { DecisionPorts } from './ports.ts'

/** The facts on an approver's card in addition to the request, read or checked a moment before. */
export interface ApprovalFacts {
  readonly address: AddressCheck
  /** The request that this one is based on, if its details still exist. */
  readonly earlier?: Request
  /** Other waiting requests of the same kind with a similar name: first the earlier ones, the newest first, then the later ones. */
  readonly duplicates: readonly Request[]
}

/** The facts of a card for which nothing was checked. */
export const nothingKnown: ApprovalFacts = { address: 'unknown', duplicates: [] }

/** The number of waiting requests that are compared with a request. */
const maxCompared = 30

/** A request and the facts of its approval card. */
export interface ForApproval {
  readonly request: Request
  readonly facts: ApprovalFacts
}

/**
 * Checks a waiting request for its approval cards, and returns it after the check: an address may be taken. Other requests have no
 * facts.
 */
export async function checkForApproval(
  context: SystemContext<DecisionPorts>,
  before: Request,
  by: CheckedBy = 'service',
): Promise<ForApproval> {
  if (before.status !== 'pendingApproval') return { request: before, facts: nothingKnown }
  const { ports } = context
  const { basedOn } = before
  const [{ request, address }, earlier, duplicates] = await Promise.all([
    checkAddresses(context, before, by),
    basedOn && ports.requests.find(basedOn.requestId),
    similarWaiting(context, before),
  ])
  const isReadable = earlier?.requester.id === request.requester.id && earlier.reducedAt === undefined
  return { request, facts: { address, ...(earlier && isReadable && { earlier }), duplicates } }
}

/** Returns the other waiting requests of the same kind with a similar name, among the latest before it and of all. */
export async function similarWaiting(
  { ports }: SystemContext<DecisionPorts>,
  { requestId, tenantId, kind, number, details }: Request,
): Promise<Request[]> {
  const query = { tenantId, kind, status: 'pendingApproval', limit: maxCompared } as const
  const [sentBefore, newest] = await Promise.all([
    ports.requests.list({ ...query, before: number }),
    ports.requests.list(query),
  ])
  const sentAfter = newest.filter((one) => one.number > number && one.requestId !== requestId)
  return [...sentBefore, ...sentAfter].filter(
    (one) => likeness(one.details.displayName, details.displayName) >= similarFrom,
  )
}

/** Returns a request that changed after its check, with the facts of that check. An answer to a conflict was checked itself. */
export function withKnownFacts(request: Request, { facts }: ForApproval): ForApproval {
  const unlessTaken = facts.address === 'unknown' ? 'unknown' : 'free'
  return { request, facts: { ...facts, address: request.addressConflict ? 'taken' : unlessTaken } }
}

/** Reads a request for its approval card. Throws `not-found`. */
export const readForApproval = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DecisionPorts>, { requestId }): Promise<ForApproval> {
    return checkForApproval(context, await readRequest.handle(context, { requestId }), 'person')
  },
})
