import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Delegation,
  type DelegationPage,
  isExcluded,
  mayTakePart,
  nextTimerRun,
  openStage,
  realigned,
  withStage,
} from '../approvals/index.ts'
import { auditAct, auditFact, system } from '../audit/index.ts'
import {
  approvalTimer,
  askApprovers,
  type Change,
  changeRequest,
  delegatedNow,
  type Request,
} from '../requests/index.ts'
import {
  type Account,
  asking,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type Fault,
  type FaultCode,
  fault,
  type JobOrder,
  jobId,
  type Person,
  type Reason,
  refuseFields,
  type SystemContext,
} from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/** The longest delegation, in days. */
const longestDays = 366
/** A person's own delegation, and the delegations to this person. */
export interface Delegations {
  readonly own: Delegation | undefined
  readonly toMe: readonly Delegation[]
}

export const readDelegations = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({}),
  async handle({ ports, actor }: Context<DecisionPorts>): Promise<Delegations> {
    const at = ports.clock.now().toISOString()
    const [own, toMe] = await Promise.all([
      ports.delegations.ofPerson(actor.tenantId, actor.id, at),
      ports.delegations.toPerson(actor.tenantId, actor.id, at),
    ])
    return { own, toMe }
  },
})

/** The waiting requests that a delegate can decide instead of the actor. `more`: there may be others. */
export interface DelegatedRequests {
  readonly requests: readonly Request[]
  readonly more: boolean
  /** Why waiting requests do not move: the delegate requested them, or can decide them anyway or not at all. Counts. */
  readonly notMoved: { readonly requested: number; readonly others: number }
}

/**
 * Reads the waiting requests that the actor's delegate can decide because of the delegation: not the delegate's own requests, and
 * none that the delegate decides anyway. Reads at most `limit` requests that wait for the actor.
 */
export const listDelegated = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({ limit: z.int() }),
  async handle({ ports, actor }: Context<DecisionPorts>, { limit }): Promise<DelegatedRequests> {
    const { tenantId, id } = actor
    const at = ports.clock.now().toISOString()
    const own = await ports.delegations.ofPerson(tenantId, id, at)
    const none = { requested: 0, others: 0 }
    if (!own) return { requests: [], more: false, notMoved: none }
    const [waiting, away] = await Promise.all([
      ports.requests.list({ tenantId, approverId: id, status: 'pendingApproval', limit: limit + 1 }),
      ports.delegations.reaching(tenantId, [id], at),
    ])
    const read = waiting.slice(0, limit)
    const requests = read.filter((request) => goesTo(request, own, away, at))
    const requested = read.filter(({ requester }) => requester.id === own.delegate.id).length
    const others = read.length - requests.length - requested
    return { requests, more: waiting.length > limit, notMoved: { requested, others } }
  },
})

/** Whether a delegation lets its delegate decide a waiting request. */
function goesTo(
  { approvals, requester }: Request,
  { person, delegate }: Delegation,
  away: readonly Delegation[],
  at: string,
): boolean {
  const stage = openStage(approvals)
  if (stage && isExcluded(stage, delegate.id)) return false
  const standIns = (stage && realigned(stage, away, requester.id, at).standIns) ?? []
  return standIns.some((one) => one.why === 'delegated' && one.person.id === delegate.id && one.by?.id === person.id)
}

/**
 * Starts a delegation: until its end, a colleague may decide all present and future requests of the actor. Replaces an earlier
 * delegation. Throws `validation-failed` for `/to` or `/until`.
 */
export const beginDelegation = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({ to: z.string(), until: z.string() }),
  async handle(context: Context<DecisionPorts>, { to, until }): Promise<Delegation> {
    const { ports, actor } = context
    const now = ports.clock.now()
    const end = Date.parse(until)
    const faults: Fault[] = []
    if (!(end > now.getTime())) faults.push(fault('/until', 'past', because('dayOver')))
    if (end > now.getTime() + longestDays * 86400000) faults.push(fault('/until', 'too-late', because('dayTooLate')))
    const colleague = await asking(() => colleagueOf(ports, actor, to, faults))
    if (!colleague || faults.length > 0) return refuseFields(faults)
    const { tenantId } = actor
    const delegation: Delegation = {
      delegationId: randomUUID(),
      tenantId,
      person: asPerson(actor),
      delegate: colleague,
      from: now.toISOString(),
      until: new Date(end).toISOString(),
      endedAt: null,
    }
    await auditExpiredDelegations(ports, tenantId)
    await ports.work.transaction(async () => {
      const former = await ports.delegations.put(delegation)
      if (former) await auditDelegationEnd(context, former, 'replaced')
      await noteStart(context, delegation)
      const over = new Date(end + clocksApart)
      await ports.jobs.enqueue([
        realignJob(delegation, 'begin'),
        { ...realignJob(delegation, 'end'), startAfter: over },
      ])
    })
    return delegation
  },
})

/** Ends the actor's delegation early and returns it; undefined without a delegation. */
export const endDelegation = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({}),
  async handle(context: Context<DecisionPorts>): Promise<Delegation | undefined> {
    const { ports, actor } = context
    const at = ports.clock.now().toISOString()
    await auditExpiredDelegations(ports, actor.tenantId)
    return ports.work.transaction(async () => {
      const own = await ports.delegations.end(actor.tenantId, actor.id, at)
      if (!own) return undefined
      await auditDelegationEnd(context, own, 'back')
      await ports.jobs.enqueue([realignJob(own, 'back')])
      return own
    })
  },
})

/** Returns the person with the id `to` if they can decide for `id`; else adds the fault. */
export async function colleagueOf(
  { directory }: Pick<DecisionPorts, 'directory'>,
  { id }: Pick<Person, 'id'>,
  to: string,
  faults: Fault[],
): Promise<Person | undefined> {
  const found = await directory.person(to)
  const refuse = (code: FaultCode, reason: Reason): undefined => {
    faults.push(fault('/to', code, reason))
  }
  if (!found) return refuse('unknown-person', because('colleagueUnknown'))
  if (found.id === id) return refuse('same-person', because('colleagueSelf'))
  if (!mayTakePart(found)) return refuse('cannot-decide', because('cannotDecide', { name: found.displayName }))
  const { displayName, userPrincipalName } = found
  return { id: found.id, displayName, userPrincipalName }
}

const realignJob = ({ tenantId, person, delegationId }: Delegation, why: 'begin' | 'end' | 'back'): JobOrder => ({
  name: 'realign-approvals',
  payload: { v: 1, tenantId, personId: person.id },
  id: jobId('realign-approvals', delegationId, why),
})
/** The job at the end of a delegation runs this much later, in milliseconds, because the clocks of processes differ. */
const clocksApart = 5000
/** The number of requests read at a time. */
const pageSize = 100
/** Returns a page of the current delegations in the organisation, for admins. */
export const listDelegations = defineUseCase({
  permission: 'delegation.list',
  input: z.object({ from: z.int(), most: z.int() }),
  handle: ({ ports, actor }: Context<DecisionPorts>, page): Promise<DelegationPage> =>
    ports.delegations.running(actor.tenantId, ports.clock.now().toISOString(), page),
})

/** Updates the delegates of all requests that wait for a person, and records the delegations that have ended. */
export async function realignApprovals(
  context: SystemContext<DecisionPorts>,
  { tenantId, personId }: { tenantId: string; personId: string },
): Promise<void> {
  const { ports } = context
  await auditExpiredDelegations(ports, tenantId)
  let before: number | undefined
  do {
    const page = await ports.requests.list({
      tenantId,
      approverId: personId,
      status: 'pendingApproval',
      limit: pageSize,
      ...(before !== undefined && { before }),
    })
    for (const { requestId } of page) await realign(context, requestId)
    before = page.length === pageSize ? page.at(-1)?.number : undefined
  } while (before !== undefined)
}

/** Updates the delegates of one request. A repeat has no effect. */
export async function realign(context: SystemContext<DecisionPorts>, requestId: string): Promise<void> {
  const { ports } = context
  await ports.work.transaction(async () => {
    const request = await ports.requests.lock(requestId)
    if (request?.status !== 'pendingApproval') return
    const at = ports.clock.now().toISOString()
    const away = await delegationsOf(ports, request, at)
    await changeRequest(context, requestId, () => realignment(request, away, at))
  })
}

/** Returns the delegations of the people in the open stage, including those of delegates. */
export async function delegationsOf(ports: DecisionPorts, request: Request, at: string): Promise<Delegation[]> {
  const stage = openStage(request.approvals)
  const people = [...(stage?.approvers ?? []), ...(stage?.standIns ?? []).map(({ person }) => person)]
  return people.length === 0
    ? []
    : ports.delegations.reaching(
        request.tenantId,
        people.map(({ id }) => id),
        at,
      )
}

/** Returns the change that updates a request's delegates; undefined if they are up to date or no stage is open. */
export function realignment(request: Request, away: readonly Delegation[], at: string): Change | undefined {
  const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  const next = stage && realigned(stage, away, request.requester.id, at)
  if (!stage || !next || next === stage) return undefined
  const changed = { ...withStage(request, next), updatedAt: at }
  const jobs = [...askApprovers(changed), ...approvalTimer(request, next, nextTimerRun(next, at))]
  return { request: changed, audit: [delegatedNow(changed, next)], jobs }
}

/**
 * Why a delegation ended: its time was over; its person was back, or chose another colleague; an admin ended it to erase a
 * person. `early`: a process of an earlier version ended it without a reason.
 */
export type EndOfDelegation = 'expired' | 'back' | 'replaced' | 'erasure' | 'early'

/** The maximum number of delegations that one run records. The next run, a minute later, records the others. */
const maxOfARun = 100

/** Records the start of a delegation in the organisation's audit chain. Call it in the transaction of the start. */
const noteStart = ({ ports, actor }: Context<DecisionPorts>, delegation: Delegation): Promise<void> =>
  auditAct(ports, actor, 'delegation-started', { ...aboutOf(delegation), until: delegation.until })

/** Records the early end of a delegation. Call it in the transaction of the end. */
export const auditDelegationEnd = (
  { ports, actor }: Context<DecisionPorts>,
  ended: Delegation,
  why: 'back' | 'replaced' | 'erasure',
): Promise<void> => auditAct(ports, actor, 'delegation-ended', endOf(ended, why))

/**
 * Records the ended delegations that have no entry yet, each once, even after a long stop of the service. The entry's time is the
 * time of recording; `endedAt` is the time of the end.
 */
export async function auditExpiredDelegations(ports: DecisionPorts, tenantId: string): Promise<void> {
  await ports.work.transaction(async () => {
    const at = ports.clock.now().toISOString()
    for (const one of await ports.delegations.takeEnded(tenantId, at, maxOfARun)) {
      const isExpired = one.endedAt === null || one.endedAt >= one.until
      await auditFact(ports, tenantId, system, 'delegation-ended', endOf(one, isExpired ? 'expired' : 'early'))
    }
  })
}

const endOf = (ended: Delegation, why: EndOfDelegation): Record<string, unknown> => ({
  ...aboutOf(ended),
  until: ended.until,
  endedAt: why === 'expired' ? ended.until : ended.endedAt,
  why,
})

const aboutOf = ({ delegationId, person, delegate, from }: Delegation): Record<string, unknown> => ({
  delegationId,
  person,
  delegate,
  from,
})

/**
 * Returns at most ten people of the organisation who can decide, by an object id, a sign-in name, a mail address or the
 * beginning of a name. Their order has no meaning.
 */
export const findColleagues = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({ typed: z.string() }),
  async handle({ ports: { directory } }: Context<DecisionPorts>, { typed }): Promise<Person[]> {
    const text = typed.trim()
    if (text === '') return []
    const found = await asking(() => lookUp(directory, text))
    return found
      .filter(mayTakePart)
      .map(({ id, displayName, userPrincipalName }) => ({ id, displayName, userPrincipalName }))
  },
})

async function lookUp(directory: DecisionPorts['directory'], text: string): Promise<Account[]> {
  if (!z.uuid().safeParse(text).success) return directory.findPeople(text)
  const person = await directory.person(text)
  return person ? [person] : []
}
