import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Delegation,
  type DelegationPage,
  mayTakePart,
  nextLook,
  openStage,
  realigned,
  withStage,
} from '../approvals/index.ts'
import { noteAct, noteFact, system } from '../audit/index.ts'
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

/** How far ahead somebody can be away, in days. */
const longestDays = 366
/** What a person's delegations come to: who decides for them, and for whom they decide. */
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

/**
 * Lets a colleague decide what waits, and will wait, for the actor until a moment to come; it replaces an earlier one. Refuses as
 * `validation-failed`, at `/to` or `/until`.
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
    await noteExpired(ports, tenantId)
    await ports.work.transaction(async () => {
      const former = await ports.delegations.put(delegation)
      if (former) await noteEnd(context, former, 'replaced')
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

/** Ends what the actor has delegated, before its time; undefined when there was nothing to end. */
export const endDelegation = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({}),
  async handle(context: Context<DecisionPorts>): Promise<Delegation | undefined> {
    const { ports, actor } = context
    const at = ports.clock.now().toISOString()
    await noteExpired(ports, actor.tenantId)
    return ports.work.transaction(async () => {
      const own = await ports.delegations.end(actor.tenantId, actor.id, at)
      if (!own) return undefined
      await noteEnd(context, own, 'back')
      await ports.jobs.enqueue([realignJob(own, 'back')])
      return own
    })
  },
})

/** Somebody who can decide in another's place: an account of our own that can sign in. */
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
/** How far clocks may be apart, in milliseconds. The job at the end of a delegation runs so much later. */
const clocksApart = 5000
/** How many requests are read at a time. */
const pageSize = 100
/** The delegations that run in the organisation, for admins. */
export const listDelegations = defineUseCase({
  permission: 'delegation.list',
  input: z.object({ from: z.int(), most: z.int() }),
  handle: ({ ports, actor }: Context<DecisionPorts>, page): Promise<DelegationPage> =>
    ports.delegations.running(actor.tenantId, ports.clock.now().toISOString(), page),
})

/** Brings all requests that wait for a person in line with who is away just now, and records the delegations that are over. */
export async function realignApprovals(
  context: SystemContext<DecisionPorts>,
  { tenantId, personId }: { tenantId: string; personId: string },
): Promise<void> {
  const { ports } = context
  await noteExpired(ports, tenantId)
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

/** The same for one request. Doing it twice is doing it once. */
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

/** The delegations that matter to the stage that a request waits in, those of delegates too. */
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

/** A request whose stand-ins are those who are delegates now; undefined when they are already, and when it waits for nobody. */
export function realignment(request: Request, away: readonly Delegation[], at: string): Change | undefined {
  const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  const next = stage && realigned(stage, away, request.requester.id, at)
  if (!stage || !next || next === stage) return undefined
  const changed = { ...withStage(request, next), updatedAt: at }
  const jobs = [...askApprovers(changed), ...approvalTimer(request, next, nextLook(next, at))]
  return { request: changed, audit: [delegatedNow(changed, next)], jobs }
}

/**
 * Why a delegation ended: its time was over; its person was back, or has chosen another colleague; an admin ended it so that
 * somebody can be erased. `early`: by a process of an earlier version, which did not say why.
 */
export type EndOfDelegation = 'expired' | 'back' | 'replaced' | 'erasure' | 'early'

/** The most that one run records. The next run, a minute later, records the others. */
const mostOfARun = 100

/** Records the start of a delegation in the organisation's chain; to be called in its transaction. */
const noteStart = ({ ports, actor }: Context<DecisionPorts>, delegation: Delegation): Promise<void> =>
  noteAct(ports, actor, 'delegation-started', { ...aboutOf(delegation), until: delegation.until })

/** Records that somebody has ended a delegation before its time; to be called in its transaction. */
export const noteEnd = (
  { ports, actor }: Context<DecisionPorts>,
  ended: Delegation,
  why: 'back' | 'replaced' | 'erasure',
): Promise<void> => noteAct(ports, actor, 'delegation-ended', endOf(ended, why))

/**
 * Records the delegations that are over by now and of whose end no entry tells yet, each once, however long the service was
 * stopped. The entry's own time is when the end was recorded; `endedAt` is when it was.
 */
export async function noteExpired(ports: DecisionPorts, tenantId: string): Promise<void> {
  await ports.work.transaction(async () => {
    const at = ports.clock.now().toISOString()
    for (const one of await ports.delegations.takeEnded(tenantId, at, mostOfARun)) {
      const isExpired = one.endedAt === null || one.endedAt >= one.until
      await noteFact(ports, tenantId, system, 'delegation-ended', endOf(one, isExpired ? 'expired' : 'early'))
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
 * People of the organisation who can decide here, by what somebody typed of them: an object id, a sign-in name, a mail address or the
 * beginning of a name. Several are in no order that means anything; ten at most.
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
