import { z } from 'zod'
import { canonical, type KnownPerson, noteAct } from '../audit/index.ts'
import { noteEnd, noteExpired } from '../decisions/index.ts'
import {
  because,
  type Context,
  defineUseCase,
  type JobOrder,
  type JobPayload,
  jobId,
  ProvisioningError,
  type SystemContext,
  tellOrder,
} from '../shared/index.ts'
import { type Erasure, isCountedOn, readErasure } from './erasure-blocks.ts'
import { isErasureNoted } from './erasure-notes.ts'
import { knownPerson } from './known-person.ts'
import { requestWithout, tellsOf } from './person-redaction.ts'
import type { ErasureCounts, PrivacyPorts } from './ports.ts'
import { writeAside } from './retention.ts'

/** What came of a click: it was ordered; or their address was not typed; or they cannot be erased now. */
export type ErasureOrdered = { readonly state: 'ordered' | 'mismatch' | 'blocked'; readonly erasure: Erasure }

/**
 * Orders that a person is erased, once for each card that asked: `erasureId` is the card's. Nothing is
 * ordered without their address.
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
      if (await isErasureNoted(ports, actor.tenantId, 'erasure-ordered', id, erasureId)) return
      await noteAct(ports, actor, 'erasure-ordered', { personId: id, erasureId })
      await ports.jobs.enqueue([eraseJob({ tenantId: actor.tenantId, personId: id, by: actor.id, erasureId })])
    })
    return { state: 'ordered', erasure }
  },
})

const eraseJob = (of: Omit<JobPayload<'erase-person'>, 'v'>): JobOrder => ({
  name: 'erase-person',
  payload: { v: 1, ...of },
  id: jobId('erase-person', of.personId, of.erasureId),
})

/**
 * Removes a person from the store: what is theirs alone, their name in what is the organisation's, and all words of the audit that are
 * of them. Their id stays, since the chain is made of it. Each step can be taken twice; words of the audit come last, since they
 * still tell who it is. Who has begun something since the order is not erased: the admin is asked again.
 */
export async function erasePerson(system: SystemContext<PrivacyPorts>, order: ErasureOrder): Promise<void> {
  const { ports } = system
  const { tenantId, personId, by, erasureId } = order
  if ((await said(ports, order, 'person-erased')) || (await said(ports, order, 'erasure-stopped'))) return
  const admin = { id: by, displayName: '', userPrincipalName: '', tenantId, isAdmin: true }
  const context = { ...system, actor: admin }
  if (await isTooLate(context, order)) return end(context, order, 'erasure-stopped')
  // While it is known who delegated to whom.
  await noteExpired(ports, tenantId)
  const person = await knownPerson(ports, tenantId, personId)
  const forgotten = await forget(context, person, erasureId)
  let requests = 0
  for (const id of await ports.personData.requestsWith(tenantId, person)) requests += await takeOut(ports, id, person)
  const entries = await ports.audit.erase(person, ports.clock.now())
  await end(context, order, 'person-erased', { ...forgotten, requests, entries })
}

const said = (ports: PrivacyPorts, { tenantId, personId, erasureId }: ErasureOrder, action: ErasureAction) =>
  isErasureNoted(ports, tenantId, action, personId, erasureId)
type ErasureOrder = Omit<JobPayload<'erase-person'>, 'v'> & { readonly v?: 1 }
type ErasureAction = 'erasure-begun' | 'erasure-stopped' | 'person-erased'

/** What was begun is gone on with: half of it would help nobody. */
async function isTooLate(context: Context<PrivacyPorts>, order: ErasureOrder): Promise<boolean> {
  if (await said(context.ports, order, 'erasure-begun')) return false
  try {
    return (await readErasure.handle(context, { personId: order.personId })).isBlocked
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'not-found') return false
    throw error
  }
}

/** What came of it is told to whoever ordered it. */
async function end(
  { ports, actor }: Context<PrivacyPorts>,
  { tenantId, personId, by, erasureId }: ErasureOrder,
  action: 'erasure-stopped' | 'person-erased',
  removed?: ErasureCounts,
): Promise<void> {
  await ports.work.transaction(async () => {
    await noteAct(ports, actor, action, { personId, erasureId, ...(removed && { removed }) })
    await ports.jobs.enqueue([tellOrder(tenantId, by, `erased:${personId}:${erasureId}`)])
  })
}

/** How much was forgotten is written down with it, so that whoever goes on after a crash can tell of it. */
async function forget(
  { ports, actor }: Context<PrivacyPorts>,
  person: KnownPerson,
  erasureId: string,
): Promise<ErasureCounts> {
  const before = await isErasureNoted(ports, actor.tenantId, 'erasure-begun', person.id, erasureId)
  return ports.work.transaction(async () => {
    const forgotten = { ...(await ports.personData.forget(actor.tenantId, person)), requests: 0, entries: 0 }
    if (before?.removed) return before.removed
    await noteAct(ports, actor, 'erasure-begun', { personId: person.id, erasureId, removed: forgotten })
    return forgotten
  })
}

/**
 * 1 where they stood in it. Changed once: what is as it should be is left alone; and so is what they have begun since it was
 * ordered, which needs who they are.
 */
async function takeOut(ports: PrivacyPorts, requestId: string, person: KnownPerson): Promise<0 | 1> {
  return ports.work.transaction(async () => {
    const before = await ports.requests.lock(requestId)
    if (!before || isCountedOn(before, person.id)) return 0
    const after = requestWithout(before, person, ports.clock.now().toISOString())
    const isChanged = canonical(after) !== canonical(before)
    if (isChanged) await writeAside(ports, before, after, 'person-erased')
    if (after.reducedAt !== before.reducedAt) await ports.retention.forgetParts(requestId)
    return isChanged || tellsOf(after, person) ? 1 : 0
  })
}

/** Ends what somebody has delegated and what is delegated to them, so that they can be erased. */
export const endDelegationsOf = defineUseCase({
  permission: 'person.erase',
  input: z.object({ personId: z.string() }),
  async handle(context: Context<PrivacyPorts>, { personId }): Promise<Erasure> {
    const { ports, actor } = context
    const { tenantId } = actor
    const erasure = await readErasure.handle(context, { personId })
    const at = ports.clock.now().toISOString()
    if (erasure.isYou) throw new ProvisioningError('forbidden', because('erasureOfSelf'))
    await noteExpired(ports, tenantId)
    await ports.work.transaction(async () => {
      for (const { person, delegationId } of erasure.blocks.delegations) {
        const ended = await ports.delegations.end(tenantId, person.id, at)
        if (!ended) continue
        await noteEnd(context, ended, 'erasure')
        const payload = { v: 1, tenantId, personId: person.id } as const
        await ports.jobs.enqueue([
          { name: 'realign-approvals', payload, id: jobId('realign-approvals', delegationId, 'back') },
        ])
      }
    })
    return readErasure.handle(context, { personId })
  },
})
