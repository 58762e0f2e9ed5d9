import { z } from 'zod'
import { nextTimerRun, openStage, waitingFor, withStage } from '../approvals/index.ts'
import { system } from '../audit/index.ts'
import { inTime, mailboxNameFree, mailboxNames, namesFor, siteNameFree, takenFault } from '../naming/index.ts'
import {
  aliasInstead,
  anotherAlias,
  anotherName,
  approvalTimer,
  authorize,
  type Change,
  changeRequest,
  entry,
  inquirerOf,
  isForMailbox,
  type Request,
  type RequestForMailbox,
  referenceOf,
  takenAddresses,
} from '../requests/index.ts'
import { mailboxRequest, siteRequest } from '../resources/index.ts'
import {
  asking,
  because,
  type Context,
  defineUseCase,
  fault,
  faultsOf,
  notifyOrder,
  ProvisioningError,
  refuseFields,
  type SystemContext,
} from '../shared/index.ts'
import { remindApprovers } from './approval-timers.ts'
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
 * asks the requester for another address. Ends a conflict whose address is free again. Each of these changes updates cards, and each
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

/**
 * Returns a request without its conflict. The times of the open stage move by the time of the conflict. If the warning moves into
 * the future, it is due again.
 */
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
  return withStage(next, { ...stage, times, warnedAt: times.warnAt > at ? undefined : stage.warnedAt })
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
function changed(
  request: Request,
  from: string | undefined,
  chosen: string | undefined,
  at: string,
): Change | undefined {
  const isSame = request.addressConflict?.taken === from
  if (from === undefined || chosen === undefined || !isSame) return undefined
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

/**
 * Returns the address that a waiting request gets instead of a taken one, by the naming policy of its template: an alias of a site,
 * or a mail address. Throws `validation-failed` if the requester cannot have the typed address. An empty text removes an additional
 * address.
 */
async function chosenAddress(
  context: SystemContext<DecisionPorts>,
  request: Request,
  taken: string,
  typed: string,
): Promise<string> {
  if (isForMailbox(request) && taken === request.aliasAddress) return chosenAlias(context, request, typed)
  const { template, typedName, details } = request
  const inquirer = inquirerOf(context, request)
  const domain = isForMailbox(request) ? domainOf(request.address) : ''
  const address = localPartOf(typed, domain)
  if (address === '') refuseFields([fault('/alias', 'required', because('fieldRequired', { field: 'address' }))])
  const schema = isForMailbox(request)
    ? mailboxRequest.pick({ name: true, displayName: true })
    : siteRequest.pick({ alias: true, displayName: true })
  const body = { displayName: details.displayName, ...(isForMailbox(request) ? { name: address } : { alias: address }) }
  const parsed: z.ZodSafeParseResult<unknown> = schema.safeParse(body)
  if (!parsed.success) refuseFields(faultsOf(parsed.error, body))
  const names = await namesFor(
    { ...inquirer, isSubmission: true, crowded: false },
    template,
    { displayName: typedName ?? details.displayName, address },
    details,
    isForMailbox(request)
      ? mailboxNameFree(inquirer, domain, template.naming)
      : siteNameFree(inquirer, template.naming),
    (name) => (domain === '' ? name : `${name}@${domain}`),
  )
  // The name for people is already approved and does not change.
  const faults = names.faults.filter(({ pointer }) => pointer !== '/displayName')
  if (faults.length > 0) refuseFields(faults)
  return domain === '' ? names.name : `${names.name}@${domain}`
}

async function chosenAlias(
  context: SystemContext<DecisionPorts>,
  request: RequestForMailbox,
  typed: string,
): Promise<string> {
  const body = { alias: typed.trim() }
  if (body.alias === '') return ''
  const parsed = mailboxRequest.pick({ alias: true }).safeParse(body)
  if (!parsed.success) refuseFields(faultsOf(parsed.error, body))
  const { address, faults } = await aliasInstead(context, request, body.alias)
  if (faults.length > 0) refuseFields(faults)
  if (address !== '') return address
  // The mailbox's own address. A submission ignores it, but here it would remove the additional address.
  const suggestion = await anotherAlias(context, request)
  return refuseFields([takenFault('/alias', request.address, { why: 'taken', suggestion })])
}

const domainOf = (address: string): string => address.slice(address.indexOf('@') + 1)

/** Returns a typed address in lower case, without the domain of the mailbox. */
function localPartOf(typed: string, domain: string): string {
  const text = typed.trim().toLowerCase()
  return domain !== '' && text.endsWith(`@${domain.toLowerCase()}`) ? text.slice(0, text.indexOf('@')) : text
}

/** Returns a request with one of its addresses replaced, also in the answers that a later copy starts with. */
function withAddress(request: Request, from: string, to: string): Request {
  if (!isForMailbox(request)) return { ...request, alias: to, details: { ...request.details, alias: to } }
  const local = to.split('@')[0] ?? ''
  if (from === request.address) return { ...request, address: to, details: { ...request.details, name: local } }
  const { alias: _, ...details } = request.details
  return { ...request, aliasAddress: to, details: { ...details, ...(to !== '' && { alias: to }) } }
}
