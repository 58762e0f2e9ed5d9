import { z } from 'zod'
import { inTime, likeness, similarFrom } from '../naming/index.ts'
import { type Request, readRequest, takenAddresses } from '../requests/index.ts'
import { type Context, defineUseCase, type SystemContext } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/** What an approver's card shows in addition to the request, read or checked a moment before. */
export interface ApprovalFacts {
  /** Whether the addresses of the request are free in the tenant. `unknown`: the directory did not answer in time. */
  readonly address: 'free' | 'taken' | 'unknown'
  /** The request that this one is based on, if its details still exist. */
  readonly earlier?: Request
  /** Waiting requests of the same kind with a similar name that were sent before this one, the newest first. */
  readonly duplicates: readonly Request[]
}

/** The facts of a card for which nothing was checked. */
export const nothingKnown: ApprovalFacts = { address: 'unknown', duplicates: [] }

/** The number of waiting requests that are compared with a request. */
const maxCompared = 30

/** Returns the facts of a waiting request now; `nothingKnown` for other requests, whose cards show no facts. */
export async function approvalFactsOf(
  { ports }: Pick<SystemContext<DecisionPorts>, 'ports'>,
  request: Request,
): Promise<ApprovalFacts> {
  if (request.status !== 'pendingApproval') return nothingKnown
  const { tenantId, kind, number: before, basedOn, details } = request
  const [taken, earlier, waiting] = await Promise.all([
    inTime(() => takenAddresses(ports, request)),
    basedOn && ports.requests.find(basedOn.requestId),
    ports.requests.list({ tenantId, kind, status: 'pendingApproval', before, limit: maxCompared }),
  ])
  const duplicates = waiting.filter((one) => likeness(one.details.displayName, details.displayName) >= similarFrom)
  const isReadable = earlier?.requester.id === request.requester.id && earlier.reducedAt === undefined
  return {
    address: taken === undefined ? 'unknown' : taken.length > 0 ? 'taken' : 'free',
    ...(earlier && isReadable && { earlier }),
    duplicates,
  }
}

/** A request and the facts of its approval card. */
export interface ForApproval {
  readonly request: Request
  readonly facts: ApprovalFacts
}

/** Reads a request for its approval card. Throws `not-found`. */
export const readForApproval = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DecisionPorts>, { requestId }): Promise<ForApproval> {
    const request = await readRequest.handle(context, { requestId })
    return { request, facts: await approvalFactsOf(context, request) }
  },
})
