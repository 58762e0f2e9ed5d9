import { type Actor, authorize } from './access.ts'
import { type Attention, attentionOf, sinceOf } from './attention.ts'
import { readDeadLetters } from './dead-letters.ts'
import type { Ports } from './ports.ts'
import { openStates, type Request, type RequestState } from './request.ts'
import type { OwnHealth, ServiceHealth } from './tenant-ports.ts'

/** A request in the admins' list: since when it waits, and why it needs somebody, if it does. */
export interface QueueEntry {
  readonly request: Request
  readonly since: string
  readonly attention: Attention | undefined
}
export interface Queue {
  readonly counts: { readonly waiting: number; readonly creating: number; readonly failed: number }
  /** Those that need somebody first, then the others, the oldest first. */
  readonly entries: readonly QueueEntry[]
}

/** The most of each state that is read: who has more in a state has a trouble that the first ones show. */
const mostOfEach = 50

/** What waits, is being made, has failed, or is made and was not found yet: all that is open in the tenant. */
export async function readQueue(ports: Ports, actor: Actor): Promise<Queue> {
  authorize(actor, 'queue.read')
  const { tenantId } = actor
  const count = await ports.requests.countByState(tenantId, openStates)
  const of = (states: readonly RequestState[]) =>
    ports.requests.list({ tenantId, status: states, limit: mostOfEach, oldestFirst: true })
  const open = await Promise.all([
    ...[of(['failed']), of(['queued', 'provisioning']), of(['pendingApproval'])],
    ports.requests.list({ tenantId, status: 'succeeded', unannounced: true, limit: mostOfEach, oldestFirst: true }),
  ])
  const now = ports.clock.now()
  const entries = open
    .flat()
    .flatMap((request) => {
      const since = sinceOf(request)
      return since === undefined ? [] : [{ request, since, attention: attentionOf(request, now) }]
    })
    .sort(byNeed)
  const counts = {
    waiting: count.pendingApproval ?? 0,
    creating: (count.queued ?? 0) + (count.provisioning ?? 0),
    failed: count.failed ?? 0,
  }
  return { counts, entries }
}

const byNeed = (one: QueueEntry, other: QueueEntry): number =>
  Number(other.attention !== undefined) - Number(one.attention !== undefined) || one.since.localeCompare(other.since)

/** Only what is past the deadline of its state. */
export async function readStuck(ports: Ports, actor: Actor): Promise<readonly QueueEntry[]> {
  return (await readQueue(ports, actor)).entries.filter(({ attention }) => attention !== undefined)
}

export interface HealthReport {
  readonly own: OwnHealth
  /** Jobs that were given up and that nobody has looked after. */
  readonly deadLetters: number
  readonly services: readonly ServiceHealth[]
  readonly at: Date
}

/** How the service and everything it needs do just now. A part that does not answer is told as such, and throws nothing. */
export async function readHealth(ports: Ports, actor: Actor): Promise<HealthReport> {
  authorize(actor, 'health.read')
  // When the store does not answer, which `own` tells, what it holds cannot be counted.
  const [own, services, letters] = await Promise.all([
    ports.vitals.own(),
    ports.tenant.health(),
    readDeadLetters(ports).catch(() => []),
  ])
  return { own, deadLetters: letters.length, services, at: ports.clock.now() }
}
