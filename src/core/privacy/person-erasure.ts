import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Delegation } from '../approvals/index.ts'
import { auditAct, canonical, type KnownPerson, type OrganisationAction } from '../audit/index.ts'
import { auditDelegationEnd, auditExpiredDelegations } from '../decisions/index.ts'
import { isForMailbox, type Request } from '../requests/index.ts'
import {
  asking,
  because,
  type Context,
  defineUseCase,
  isTerminal,
  type JobPayload,
  jobId,
  noticeOrder,
  openStates,
  type Person,
  ProvisioningError,
  type SystemContext,
} from '../shared/index.ts'
import { knownPerson, personOf } from './known-person.ts'
import { mentions, requestWithout } from './person-redaction.ts'
import { type ErasureCounts, erasureCounts, type PrivacyPorts } from './ports.ts'
import { writeAside } from './retention.ts'

/** The open work that blocks the erasure of a person. */
interface ErasureBlocks {
  readonly open: readonly Request[]
  readonly waiting: readonly Request[]
  /** Requests of others that have not ended and would make them an owner, or give them access. */
  readonly named: readonly Request[]
  readonly delegations: readonly Delegation[]
  readonly batches: number
}
/** A person, and whether they can be erased. */
export interface Erasure {
  readonly person: Person
  /** Admins cannot erase themselves: nobody could read the result. */
  readonly isYou: boolean
  readonly isBlocked: boolean
  readonly blocks: ErasureBlocks
  /** The text that the admin must type: the person's address, or their id if they no longer have an address. */
  readonly confirmWith: string
  /** The id of the order: a second click on the same card is the same order. */
  readonly erasureId: string
  /** Names of the templates that name the person: an admin removes them there. */
  readonly templates: readonly string[]
}

const maxListed = 50

/** Returns the person to erase, and the open work that blocks it. Throws `not-found`. */
export const readErasure = defineUseCase({
  permission: 'person.erase',
  input: z.object({ personId: z.string() }),
  async handle(context: Context<PrivacyPorts>, { personId }): Promise<Erasure> {
    const { ports, actor } = context
    const person = await personOf(context, personId)
    const { tenantId } = actor
    const at = ports.clock.now().toISOString()
    const { id } = person
    const [open, waiting, openIds, own, toThem, batches, templates, known] = await Promise.all([
      ports.requests.list({ tenantId, requesterId: id, status: openStates, limit: maxListed }),
      ports.requests.list({ tenantId, approverId: id, status: 'pendingApproval', limit: maxListed }),
      ports.personData.openWith(tenantId, id),
      ports.delegations.ofPerson(tenantId, id, at),
      ports.delegations.toPerson(tenantId, id, at),
      ports.batches.countRunning(tenantId, id),
      ports.templates.list(tenantId),
      asking(() => knownPerson(ports, tenantId, id)),
    ])
    const others = await Promise.all(openIds.map((one) => ports.requests.find(one)))
    const named = others.filter((one) => one !== undefined)
    const blocks = { open, waiting, named, delegations: [...(own ? [own] : []), ...toThem], batches }
    return {
      person,
      isYou: id === actor.id,
      isBlocked: open.length + waiting.length + named.length + blocks.delegations.length + batches > 0,
      blocks,
      confirmWith: person.userPrincipalName || id,
      erasureId: randomUUID(),
      templates: templates.filter((one) => mentions(one, known)).map(({ name }) => name),
    }
  },
})

/** Whether an open request belongs to the person or uses their account: it needs their address until it ends. */
function needsPerson(request: Request, personId: string): boolean {
  if (isTerminal(request.status)) return false
  const { requester, details } = request
  const named = isForMailbox(request) ? request.people : [...request.owners, ...(request.people ?? [])]
  return (
    [requester, ...named].some(({ id }) => id === personId) || JSON.stringify(details).toLowerCase().includes(personId)
  )
}

/** The result of a click: `mismatch`: the address was not typed; `blocked`: the person cannot be erased now. */
type ErasureOrdered = { readonly state: 'ordered' | 'mismatch' | 'blocked'; readonly erasure: Erasure }

/**
 * Orders the erasure of a person, once for each card: `erasureId` is the card's. Orders nothing without the person's
 * address.
 */
export const orderErasure = defineUseCase({
  permission: 'person.erase',
  input: z.object({ personId: z.string(), address: z.string(), erasureId: z.uuid() }),
  async handle(context: Context<PrivacyPorts>, { personId, address, erasureId }): Promise<ErasureOrdered> {
    const { ports, actor } = context
    const erasure = await readErasure.handle(context, { personId })
    if (erasure.isYou || erasure.isBlocked) return { state: 'blocked', erasure }
    if (address.trim().toLowerCase() !== erasure.confirmWith.toLowerCase()) return { state: 'mismatch', erasure }
    const { id } = erasure.person
    await ports.work.transaction(async () => {
      const order = { tenantId: actor.tenantId, personId: id, by: actor.id, erasureId }
      if (await erasureEntry(ports, order, 'erasure-ordered')) return
      await auditAct(ports, actor, 'erasure-ordered', { personId: id, erasureId })
      const job = {
        name: 'erase-person',
        payload: { v: 1, ...order },
        id: jobId('erase-person', id, erasureId),
      } as const
      await ports.jobs.enqueue([job])
    })
    return { state: 'ordered', erasure }
  },
})

/**
 * Removes a person from the store: their own data, their name in data of the organisation, and all texts of the audit
 * about them. Their id stays, because the hashes of the chain contain it. Each step can run twice. The audit comes
 * last, because its texts identify the person. A person who has started something since the order is not erased: the
 * admin gets a card.
 */
export async function erasePerson(system: SystemContext<PrivacyPorts>, order: ErasureOrder): Promise<void> {
  const { ports } = system
  const { tenantId, personId, by } = order
  if (await erasureEntry(ports, order, 'person-erased')) return
  if (await erasureEntry(ports, order, 'erasure-stopped')) return
  const admin = { id: by, displayName: '', userPrincipalName: '', tenantId, isAdmin: true }
  const context = { ...system, actor: admin }
  if (await isBlockedNow(context, order)) return end(context, order, 'erasure-stopped')
  // First, while the names of the people in delegations are still stored.
  await auditExpiredDelegations(ports, tenantId)
  const person = await knownPerson(ports, tenantId, personId)
  const forgotten = await forget(context, person, order)
  let requests = 0
  for (const id of await ports.personData.requestsWith(tenantId, person))
    requests += await removeFrom(ports, id, person)
  const entries = await ports.audit.erase(person, ports.clock.now())
  await end(context, order, 'person-erased', { ...forgotten, requests, entries })
}

type ErasureOrder = Omit<JobPayload<'erase-person'>, 'v'> & { readonly v?: 1 }

/** Whether open work blocks the erasure now. An erasure that has started is always completed. */
async function isBlockedNow(context: Context<PrivacyPorts>, order: ErasureOrder): Promise<boolean> {
  if (await erasureEntry(context.ports, order, 'erasure-begun')) return false
  try {
    return (await readErasure.handle(context, { personId: order.personId })).isBlocked
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'not-found') return false
    throw error
  }
}

/** Records the result and orders the card about it to the admin who ordered the erasure. */
async function end(
  { ports, actor }: Context<PrivacyPorts>,
  { tenantId, personId, by, erasureId }: ErasureOrder,
  action: 'erasure-stopped' | 'person-erased',
  removed?: ErasureCounts,
): Promise<void> {
  await ports.work.transaction(async () => {
    await auditAct(ports, actor, action, { personId, erasureId, ...(removed && { removed }) })
    await ports.jobs.enqueue([noticeOrder(tenantId, by, `erased:${personId}:${erasureId}`)])
  })
}

/** Removes the person's own data. Records the counts with it, so that a run after a crash can report them. */
async function forget(
  { ports, actor }: Context<PrivacyPorts>,
  person: KnownPerson,
  order: ErasureOrder,
): Promise<ErasureCounts> {
  const before = await erasureEntry(ports, order, 'erasure-begun')
  return ports.work.transaction(async () => {
    const forgotten = { ...(await ports.personData.forget(actor.tenantId, person)), requests: 0, entries: 0 }
    if (before?.removed) return before.removed
    const { personId, erasureId } = order
    await auditAct(ports, actor, 'erasure-begun', { personId, erasureId, removed: forgotten })
    return forgotten
  })
}

/**
 * Removes the person from a request; returns 1 if the request named them. Leaves open requests unchanged that were
 * submitted since the order: they still need the person.
 */
async function removeFrom(ports: PrivacyPorts, requestId: string, person: KnownPerson): Promise<0 | 1> {
  return ports.work.transaction(async () => {
    const before = await ports.requests.lock(requestId)
    if (!before || needsPerson(before, person.id)) return 0
    const after = requestWithout(before, person, ports.clock.now().toISOString())
    const isChanged = canonical(after) !== canonical(before)
    if (isChanged) await writeAside(ports, before, after, 'person-erased')
    if (after.reducedAt !== before.reducedAt) await ports.retention.forgetParts(requestId)
    return isChanged || mentions(after, person) ? 1 : 0
  })
}

/** Ends all delegations from and to a person, so that they can be erased. */
export const endDelegationsOf = defineUseCase({
  permission: 'person.erase',
  input: z.object({ personId: z.string() }),
  async handle(context: Context<PrivacyPorts>, { personId }): Promise<Erasure> {
    const { ports, actor } = context
    const { tenantId } = actor
    const erasure = await readErasure.handle(context, { personId })
    const at = ports.clock.now().toISOString()
    if (erasure.isYou) throw new ProvisioningError('forbidden', because('erasureOfSelf'))
    await auditExpiredDelegations(ports, tenantId)
    await ports.work.transaction(async () => {
      for (const { person, delegationId } of erasure.blocks.delegations) {
        const ended = await ports.delegations.end(tenantId, person.id, at)
        if (!ended) continue
        await auditDelegationEnd(context, ended, 'erasure')
        const payload = { v: 1, tenantId, personId: person.id } as const
        await ports.jobs.enqueue([
          { name: 'realign-approvals', payload, id: jobId('realign-approvals', delegationId, 'back') },
        ])
      }
    })
    return readErasure.handle(context, { personId })
  },
})

const erasureData = z.object({ personId: z.uuid(), erasureId: z.uuid(), removed: erasureCounts.optional() })
type ErasureId = Pick<ErasureOrder, 'tenantId' | 'personId' | 'erasureId'>

/** Returns the data of an erasure's entry in the organisation's chain; undefined without such an entry. */
async function erasureEntry(
  ports: Pick<PrivacyPorts, 'audit'>,
  { tenantId, personId, erasureId }: ErasureId,
  action: OrganisationAction,
) {
  const entries = (await ports.audit.timeline(tenantId)).filter((entry) => entry.action === action)
  return entries
    .map((entry) => erasureData.safeParse(entry.data).data)
    .find((data) => data?.personId === personId && data.erasureId === erasureId)
}

/**
 * The card about an erasure for the admin who ordered it: the removed data, or the open work that blocks the erasure.
 */
export type ErasureNotice =
  | { readonly kind: 'erased'; readonly personId: string; readonly removed: ErasureCounts }
  | { readonly kind: 'not-erased'; readonly erasure: Erasure }

/** Returns the content of an admin's card about an erasure; undefined if the chain does not record its end. */
export async function erasureNotice(
  context: SystemContext<PrivacyPorts>,
  { tenantId, personId: adminId }: { readonly tenantId: string; readonly personId: string },
  { personId, erasureId }: { readonly personId: string; readonly erasureId: string },
): Promise<ErasureNotice | undefined> {
  const { ports } = context
  const id = { tenantId, personId, erasureId }
  const end = await erasureEntry(ports, id, 'person-erased')
  if (end?.removed) return { kind: 'erased', personId, removed: end.removed }
  if (!(await erasureEntry(ports, id, 'erasure-stopped'))) return undefined
  const admin = { id: adminId, displayName: '', userPrincipalName: '', tenantId, isAdmin: true }
  return { kind: 'not-erased', erasure: await readErasure.handle({ ...context, actor: admin }, { personId }) }
}
