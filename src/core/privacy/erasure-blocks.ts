import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Delegation } from '../approvals/index.ts'
import { isForMailbox, type Request } from '../requests/index.ts'
import { asking, type Context, defineUseCase, isTerminal, openStates, type Person } from '../shared/index.ts'
import { knownPerson } from './known-person.ts'
import { personOf } from './person-data.ts'
import { tellsOf } from './person-redaction.ts'
import type { PrivacyPorts } from './ports.ts'

/** What keeps somebody from being erased: others count on them, or something is under way for them. */
export interface ErasureBlocks {
  readonly open: readonly Request[]
  readonly waiting: readonly Request[]
  /** Requests of others that have not ended and would make them an owner, or give them access. */
  readonly named: readonly Request[]
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
      ports.requests.list({ tenantId, requesterId: id, status: openStates, limit: mostListed }),
      ports.requests.list({ tenantId, approverId: id, status: 'pendingApproval', limit: mostListed }),
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
      templates: templates.filter((one) => tellsOf(one, known)).map(({ name }) => name),
    }
  },
})

/** Whether an open request is theirs, or is made with their account: it needs their address until it has ended. */
export function isCountedOn(request: Request, personId: string): boolean {
  if (isTerminal(request.status)) return false
  const { requester, details } = request
  const named = isForMailbox(request) ? request.people : [...request.owners, ...(request.people ?? [])]
  return (
    [requester, ...named].some(({ id }) => id === personId) || JSON.stringify(details).toLowerCase().includes(personId)
  )
}
