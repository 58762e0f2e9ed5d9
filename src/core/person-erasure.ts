import { randomUUID } from 'node:crypto'
import type { Actor } from './access.ts'
import { canonical } from './audit.ts'
import type { Delegation } from './delegation.ts'
import { noted } from './erasure-notes.ts'
import { ProvisioningError } from './errors.ts'
import { type JobOrder, type JobPayload, jobId } from './events.ts'
import { tellOrder } from './notices.ts'
import { noteAct } from './organisation-audit.ts'
import { type ErasureCounts, erasedName, personOf } from './person-data.ts'
import { requestWithout, shortestName } from './person-redaction.ts'
import type { Ports } from './ports.ts'
import { openStates, type Request } from './request.ts'
import type { Person } from './resource.ts'
import { writeAside } from './retention.ts'

/** What keeps somebody from being erased: others count on them, or something is under way for them. */
export interface ErasureBlocks {
  readonly open: readonly Request[]
  readonly waiting: readonly Request[]
  readonly delegations: readonly Delegation[]
  readonly batches: number
}
/** Somebody, and whether they can be erased. */
export interface Erasure {
  readonly person: Person
  /** Nobody erases themselves: somebody has to be told what came of it. */
  readonly isYou: boolean
  readonly isBlocked: boolean
  readonly blocks: ErasureBlocks
  /** What has to be typed: their address; of who has none any more, their id. */
  readonly confirmWith: string
  /** What the order will be known by: a second click on the same card is the same order. */
  readonly erasureId: string
  /** Names of the templates that name them: an admin takes them out there. */
  readonly templates: readonly string[]
}

const mostListed = 50

/** Who would be erased, and what keeps them from it. Throws `not-found`. */
export async function readErasure(ports: Ports, actor: Actor, personId: string): Promise<Erasure> {
  const person = await personOf(ports, actor, personId)
  const { tenantId } = actor
  const at = ports.clock.now().toISOString()
  const { id } = person
  const [open, waiting, own, toThem, batches, templates] = await Promise.all([
    ports.requests.list({ tenantId, requesterId: id, status: openStates, limit: mostListed }),
    ports.requests.list({ tenantId, approverId: id, status: 'pendingApproval', limit: mostListed }),
    ports.delegations.ofPerson(tenantId, id, at),
    ports.delegations.toPerson(tenantId, id, at),
    ports.batches.countRunning(tenantId, id),
    ports.templates.list(tenantId),
  ])
  const blocks = { open, waiting, delegations: [...(own ? [own] : []), ...toThem], batches }
  return {
    person,
    isYou: id === actor.id,
    isBlocked: open.length + waiting.length + blocks.delegations.length + batches > 0,
    blocks,
    confirmWith: person.userPrincipalName || id,
    erasureId: randomUUID(),
    templates: templates.filter((one) => JSON.stringify(one).includes(id)).map(({ name }) => name),
  }
}

/** What came of a click: it was ordered; or their address was not typed; or they cannot be erased now. */
export type ErasureOrdered = { readonly state: 'ordered' | 'mismatch' | 'blocked'; readonly erasure: Erasure }

/**
 * Orders that a person is erased, once for each card that asked: `erasureId` is the card's. Nothing is
 * ordered without their address.
 */
export async function orderErasure(
  ports: Ports,
  actor: Actor,
  personId: string,
  { address, erasureId }: { readonly address: string; readonly erasureId: string },
): Promise<ErasureOrdered> {
  const erasure = await readErasure(ports, actor, personId)
  if (erasure.isYou || erasure.isBlocked) return { state: 'blocked', erasure }
  if (address.trim().toLowerCase() !== erasure.confirmWith.toLowerCase()) return { state: 'mismatch', erasure }
  const { id } = erasure.person
  await ports.work.transaction(async () => {
    if (await noted(ports, actor.tenantId, 'erasure-ordered', id, erasureId)) return
    await noteAct(ports, actor, 'erasure-ordered', { personId: id, erasureId })
    await ports.jobs.enqueue([eraseJob({ tenantId: actor.tenantId, personId: id, by: actor.id, erasureId })])
  })
  return { state: 'ordered', erasure }
}

const eraseJob = (of: Omit<JobPayload<'erase-person'>, 'v'>): JobOrder => ({
  name: 'erase-person',
  payload: { v: 1, ...of },
  id: jobId('erase-person', of.personId, of.erasureId),
})

/**
 * Removes a person from the store: what is theirs alone, their name in what is the organisation's, and all words of the audit that are
 * of them. Their id stays, since the chain is made of it. Each step can be taken twice; words of the audit come last, since they
 * still tell who it is.
 */
export async function erasePerson(
  ports: Ports,
  { tenantId, personId, by, erasureId }: JobPayload<'erase-person'>,
): Promise<void> {
  if (await noted(ports, tenantId, 'person-erased', personId, erasureId)) return
  const person = await named(ports, tenantId, personId)
  const admin = { id: by, displayName: '', userPrincipalName: '', tenantId, isAdmin: true }
  const forgotten = await forget(ports, admin, person, erasureId)
  const requestIds = await ports.personData.requestsWith(tenantId, person)
  for (const requestId of requestIds) await takeOut(ports, requestId, person)
  const names = [person.userPrincipalName, person.displayName].filter((name) => name.length >= shortestName)
  const entries = await ports.audit.erase(personId, ports.clock.now(), names)
  const removed: ErasureCounts = { ...forgotten, requests: requestIds.length, entries }
  await ports.work.transaction(async () => {
    await noteAct(ports, admin, 'person-erased', { personId, erasureId, removed })
    await ports.jobs.enqueue([tellOrder(tenantId, by, `erased:${personId}:${erasureId}`)])
  })
}

/** By the store first: what stands there is what has to go. A run before this one may have left no name. */
async function named(ports: Ports, tenantId: string, id: string): Promise<Person> {
  const stored = await ports.personData.known(tenantId, id)
  const known = stored.find(({ displayName }) => displayName !== erasedName) ?? (await ports.directory.person(id))
  return { id, displayName: known?.displayName ?? '', userPrincipalName: known?.userPrincipalName ?? '' }
}

/** How much was forgotten is written down with it, so that whoever goes on after a crash can tell of it. */
async function forget(ports: Ports, admin: Actor, person: Person, erasureId: string): Promise<ErasureCounts> {
  const before = await noted(ports, admin.tenantId, 'erasure-begun', person.id, erasureId)
  return ports.work.transaction(async () => {
    const forgotten = { ...(await ports.personData.forget(admin.tenantId, person)), requests: 0, entries: 0 }
    if (before?.removed) return before.removed
    await noteAct(ports, admin, 'erasure-begun', { personId: person.id, erasureId, removed: forgotten })
    return forgotten
  })
}

/** Changed once: what is as it should be is left alone. */
async function takeOut(ports: Ports, requestId: string, person: Person): Promise<void> {
  await ports.work.transaction(async () => {
    const before = await ports.requests.lock(requestId)
    if (!before) return
    const after = requestWithout(before, person, ports.clock.now().toISOString())
    if (canonical(after) === canonical(before)) return
    await writeAside(ports, before, after, 'person-erased')
    if (after.reducedAt !== before.reducedAt) await ports.retention.forgetParts(requestId)
  })
}

/** Ends what somebody has delegated and what is delegated to them, so that they can be erased. */
export async function endDelegationsOf(ports: Ports, actor: Actor, personId: string): Promise<Erasure> {
  const { tenantId } = actor
  const erasure = await readErasure(ports, actor, personId)
  const at = ports.clock.now().toISOString()
  if (erasure.isYou) throw new ProvisioningError('forbidden', 'Nobody erases themselves.')
  await ports.work.transaction(async () => {
    for (const { person, delegationId } of erasure.blocks.delegations) {
      if (!(await ports.delegations.end(tenantId, person.id, at))) continue
      await noteAct(ports, actor, 'delegation-ended', { delegationId, personId })
      const payload = { v: 1, tenantId, personId: person.id } as const
      await ports.jobs.enqueue([
        { name: 'realign-approvals', payload, id: jobId('realign-approvals', delegationId, 'back') },
      ])
    }
  })
  return readErasure(ports, actor, personId)
}
