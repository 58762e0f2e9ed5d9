import { type Actor, authorize } from './access.ts'
import { type Attention, attentionOf, deadlines, sinceOf } from './attention.ts'
import type { Ports } from './ports.ts'
import { openStates, type Request } from './request.ts'
import type { RequestQuery } from './store-ports.ts'

/** A request in the admins' list: since when it waits, and why it needs somebody, if it does. */
export interface QueueEntry {
  readonly request: Request
  readonly since: string
  readonly attention: Attention | undefined
}
export interface Queue {
  readonly counts: { readonly waiting: number; readonly creating: number; readonly failed: number }
  /** All that is open: those counted above, and what is made and was not told of yet. */
  readonly open: number
  /** Those that need somebody first, then the others, the oldest first. Of many only the first. */
  readonly entries: readonly QueueEntry[]
}
/** What is past the deadline of its state: how much, and the first of it. */
export interface Stuck {
  readonly count: number
  readonly entries: readonly QueueEntry[]
}

/** The most of each state that is read: who has more in a state has a trouble that the first ones show. */
const mostOfEach = 50

/** All that is open in the tenant, state by state; what is made is open until its requester was told. */
const openParts = [
  { status: 'failed' },
  { status: 'provisioning' },
  { status: 'queued' },
  { status: 'pendingApproval' },
  { status: 'succeeded', unannounced: true },
] as const

/** What waits, is being made, has failed, or is made and was not found yet: all that is open in the tenant. */
export async function readQueue(ports: Ports, actor: Actor): Promise<Queue> {
  const stuck = await readStuck(ports, actor)
  const { tenantId } = actor
  const count = await ports.requests.countByState(tenantId, openStates)
  const unannounced = await ports.requests.count({ tenantId, status: 'succeeded', unannounced: true })
  const known = new Set(stuck.entries.map(({ request }) => request.requestId))
  const others = (await entriesOf(ports, tenantId, openParts)).filter(({ request }) => !known.has(request.requestId))
  const { pendingApproval = 0, queued = 0, provisioning = 0, failed = 0 } = count
  return {
    counts: { waiting: pendingApproval, creating: queued + provisioning, failed },
    open: pendingApproval + queued + provisioning + failed + unannounced,
    entries: [...stuck.entries, ...others].sort(byNeed),
  }
}

async function entriesOf(
  ports: Ports,
  tenantId: string,
  parts: readonly Omit<RequestQuery, 'tenantId' | 'limit'>[],
): Promise<QueueEntry[]> {
  const query = { tenantId, limit: mostOfEach, oldestFirst: true }
  const found = await Promise.all(parts.map((part) => ports.requests.list({ ...part, ...query })))
  const now = ports.clock.now()
  return found.flat().flatMap((request) => {
    const since = sinceOf(request)
    return since === undefined ? [] : [{ request, since, attention: attentionOf(request, now) }]
  })
}

const byNeed = (one: QueueEntry, other: QueueEntry): number =>
  Number(other.attention !== undefined) - Number(one.attention !== undefined) || one.since.localeCompare(other.since)

/** Only what is past the deadline of its state. */
export async function readStuck(ports: Ports, actor: Actor): Promise<Stuck> {
  authorize(actor, 'queue.read')
  const { tenantId } = actor
  const now = ports.clock.now().getTime()
  const late = openParts.map((part) => {
    const seconds = deadlines[part.status]
    return { ...part, stoodSince: new Date(now - seconds * 1000) }
  })
  const counts = await Promise.all(late.map((part) => ports.requests.count({ tenantId, ...part })))
  const entries = (await entriesOf(ports, tenantId, late)).filter(({ attention }) => attention !== undefined)
  return { count: counts.reduce((sum, one) => sum + one, 0), entries: entries.sort(byNeed) }
}
