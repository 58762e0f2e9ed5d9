import { z } from 'zod'
import { nextTimerRun, openStage, waitingFor, withStage } from '../approvals/index.ts'
import { system } from '../audit/index.ts'
import { inTime, mailboxNames } from '../naming/index.ts'
import {
  anotherAlias,
  anotherName,
  approvalTimer,
  authorize,
  type Change,
  changeRequest,
  entry,
  isForMailbox,
  type Request,
  referenceOf,
  takenAddresses,
} from '../requests/index.ts'
import {
  asking,
  because,
  type Context,
  defineUseCase,
  fault,
  notifyOrder,
  ProvisioningError,
  refuseFields,
  type SystemContext,
} from '../shared/index.ts'
import { remindApprovers } from './approval-timers.ts'
import { chosenAddress, withAddress } from './chosen-address.ts'
import { changeOnce } from './decision.ts'
import type { DecisionPorts } from './ports.ts'

/** Whether the addresses of a waiting request are free in the tenant. `unknown`: the directory did not answer in time. */
export type AddressCheck = 'free' | 'taken' | 'unknown'

/** The starter of a check: a person reads or approves the request, or the service updates a card. */
export type CheckedBy = 'person' | 'service'

/** The time in which the service does not end a conflict without a person. In milliseconds. */
const settling = 600_000

/**
 * Checks the addresses of a waiting request. Records an address that another resource has taken, with a free suggestion, and
 * asks the requester for another one. Ends a conflict whose address is free again. Each of these changes updates cards, and each
 * update checks again, while the servers of the directory may report different states. So a check of the service replaces no
 * conflict, and ends none in its first ten minutes.
 */
export async function checkAddresses(
  context: SystemContext<DecisionPorts>,
  request: Request,
  by: CheckedBy,
): Promise<{ readonly request: Request; readonly address: AddressCheck }> {
  const taken = await inTime(() => takenAddresses(context.ports, request))
  if (taken === undefined) return { request, address: 'unknown' }
  const [first] = taken
  const known = request.addressConflict
  const age = known ? context.ports.clock.now().getTime() - Date.parse(known.at) : 0
  if (known && by === 'service' && (first !== undefined || age < settling)) return { request, address: 'taken' }
  if (first === undefined) return { request: known ? await endConflict(context, request) : request, address: 'free' }
  if (known && taken.includes(known.taken)) return { request, address: 'taken' }
  const suggestion = (await inTime(() => freeInstead(context, request, first))) ?? ''
  return { request: await recordConflict(context, request, { taken: first, suggestion }), address: 'taken' }
}

/** Finds a free address similar to a taken one, or `''`. */
async function freeInstead(context: SystemContext<DecisionPorts>, request: Request, taken: string): Promise<string> {
  if (!isForMailbox(request)) return anotherName(context, request)
  if (taken === request.aliasAddress) return anotherAlias(context, request)
  const name = await anotherName(context, request)
  return name && `${name}${request.address.slice(request.address.indexOf('@'))}`
}

async function recordConflict(
  context: SystemContext<DecisionPorts>,
  before: Request,
  conflict: { readonly taken: string; readonly suggestion: string },
): Promise<Request> {
  const after = await changeRequest(context, before.requestId, (request, at) => {
    const isKnown = request.addressConflict?.taken === conflict.taken
    if (request.status !== 'pendingApproval' || isKnown || !hasAddress(request, conflict.taken)) return undefined
    // The stage has paused since the first conflict.
    const since = request.addressConflict?.at ?? at
    const next = { ...request, addressConflict: { ...conflict, at: since }, updatedAt: at }
    return {
      request: next,
      audit: [entry(next, system, 'address-taken', { data: conflict })],
      jobs: [notifyOrder(request.requestId, request.requester.id, `address:${at}`)],
    }
  })
  return after ?? before
}

async function endConflict(context: SystemContext<DecisionPorts>, before: Request): Promise<Request> {
  const after = await changeRequest(context, before.requestId, (request, at) => {
    const conflict = request.addressConflict
    if (request.status !== 'pendingApproval' || !conflict) return undefined
    const { taken } = conflict
    const addressChanges = [...(request.addressChanges ?? []), { from: taken, to: taken, at }]
    const next = { ...resumed(request, at), addressChanges }
    const audit = [entry(next, system, 'address-free', { data: { taken } })]
    return { request: next, audit, jobs: jobsOfResumed(next, at) }
  })
  return after ?? before
}

const hasAddress = (request: Request, address: string): boolean =>
  isForMailbox(request) ? [request.address, request.aliasAddress].includes(address) : request.alias === address

/** Returns a request without its conflict. The times of the open stage move by the time of the conflict. */
function resumed(request: Request, at: string): Request {
  const { addressConflict, ...rest } = request
  const next: Request = { ...rest, updatedAt: at }
  const stage = openStage(next.approvals)
  if (!addressConflict || !stage?.times) return next
  const waited = Date.parse(at) - Date.parse(addressConflict.at)
  const later = (moment: string): string => new Date(Date.parse(moment) + waited).toISOString()
  const { remindAt, escalateAt, warnAt, expiresAt, reachBy } = stage.times
  const times = {
    reachBy,
    ...(remindAt !== undefined && { remindAt: later(remindAt) }),
    ...(escalateAt !== undefined && { escalateAt: later(escalateAt) }),
    warnAt: later(warnAt),
    expiresAt: later(expiresAt),
  }
  return withStage(next, { ...stage, times })
}

/** Returns the orders of a new card for each approver and of the next timer. */
function jobsOfResumed(request: Request, at: string) {
  const stage = openStage(request.approvals)
  if (!stage) return []
  const people = waitingFor(request.approvals)
  return [...remindApprovers(request, stage, people), ...approvalTimer(request, stage, nextTimerRun(stage, at), at)]
}

/** Throws `name-taken` if another resource has an address of the request, so that nobody approves it. */
export async function refuseTakenAddress(context: SystemContext<DecisionPorts>, before: Request): Promise<void> {
  const { request } = await checkAddresses(context, before, 'person')
  const { addressConflict, requester } = request
  if (!addressConflict || request.status !== 'pendingApproval') return
  const reason = because('addressTakenMeanwhile', { address: addressConflict.taken, name: requester.displayName })
  throw new ProvisioningError('name-taken', reason)
}

/**
 * Gives a waiting request another address, because its own is taken. The approvers get a new card. Without a conflict nothing
 * changes, so a second click has no effect. Throws `validation-failed` with a free suggestion if the address cannot be used.
 */
export const changeAddress = defineUseCase({
  permission: 'request.address',
  input: z.object({ requestId: z.uuid(), address: z.string(), attempt: z.string().optional() }),
  async handle(context: Context<DecisionPorts>, { requestId, address, attempt }): Promise<Request> {
    const { ports, actor } = context
    const before = await ports.requests.find(requestId)
    if (before) authorize(actor, 'request.address', before)
    const taken = before?.addressConflict?.taken
    if (before?.status === 'pendingApproval' && taken === undefined) return before
    const chosen =
      before && taken !== undefined ? await asking(() => chosenAddress(context, before, taken, address)) : undefined
    return ports.work.transaction(() =>
      changeOnce(context, { requestId, attempt }, (request, at) => {
        authorize(actor, 'request.address', request)
        if (request.status !== 'pendingApproval')
          throw new ProvisioningError(
            'already-ended',
            because('noDecisionPending', { reference: referenceOf(request) }),
          )
        return changed(request, taken, chosen, at)
      }).then(async (request) => {
        if (chosen !== undefined) await hold(context, request)
        return request
      }),
    )
  },
})

/** Changes the address `from`, unless the conflict about it has ended: an answer is never applied to another conflict. */
function changed(request: Request, from: string | undefined, chosen: string | undefined, at: string): Change {
  const isSame = request.addressConflict?.taken === from
  if (from === undefined || chosen === undefined || !isSame) return { request, audit: [] }
  const moved = withAddress(resumed(request, at), from, chosen)
  const next = { ...moved, addressChanges: [...(request.addressChanges ?? []), { from, to: chosen, at }] }
  const audit = [entry(next, request.requester, 'address-changed', { data: { taken: from, address: chosen } })]
  return { request: next, audit, jobs: jobsOfResumed(next, at) }
}

/** Reserves the addresses of a request instead of its former ones. Throws `name-taken` if another request has just taken one. */
async function hold({ ports }: SystemContext<DecisionPorts>, request: Request): Promise<void> {
  const { requestId, tenantId } = request
  const names = isForMailbox(request)
    ? [...mailboxNames(request.address), ...(request.aliasAddress === '' ? [] : [request.aliasAddress])]
    : [request.alias]
  await ports.reservations.release(requestId)
  const [lost] = await ports.reservations.reserve(tenantId, names, requestId)
  if (lost !== undefined)
    refuseFields([fault('/alias', 'name-taken', because('nameLost', { name: lost }), '')], 'name-taken')
}
