import { z } from 'zod'
import {
  type Attention,
  attentionOf,
  deadlines,
  type LostPeople,
  type Request,
  type RequestQuery,
  sinceOf,
} from '../requests/index.ts'
import { type Context, defineUseCase, openStates } from '../shared/index.ts'
import { countDeadLetters } from './dead-letters.ts'
import { lostPeople } from './departed-people.ts'
import type { OperationPorts } from './ports.ts'

/** A request in the admins' list: since when it waits, and why it needs somebody, if it does. */
export interface QueueEntry {
  readonly request: Request
  readonly since: string
  readonly attention: Attention | undefined
  /** When its work is tried again by itself, where that is known. */
  readonly nextTryAt?: Date | undefined
}
export interface Queue {
  readonly counts: { readonly waiting: number; readonly creating: number; readonly failed: number }
  /** All that is open: those counted above, and what is made and was not told of yet. */
  readonly open: number
  /** Those that need somebody first, then the others, state by state; each the oldest first. Of many only the first. */
  readonly entries: readonly QueueEntry[]
  /** The directory did not say who is still there: nobody is left out for it. */
  readonly isDirectorySilent?: boolean
}
/** What needs somebody: how much, and the first of it. */
export interface Stuck {
  readonly count: number
  readonly entries: readonly QueueEntry[]
  readonly isDirectorySilent?: boolean
  /** Jobs that were given up, and that nobody has looked after. */
  readonly deadLetters?: number
}

/** The most of each state that is read: who has more in a state has a trouble that the first ones show. */
const mostOfEach = 50

/** All that is open in the tenant, state by state; what is made is open until its requester was told. */
const openParts = [
  { status: 'failed' },
  { status: 'pendingApproval' },
  { status: 'queued' },
  { status: 'provisioning' },
  { status: 'succeeded', unannounced: true },
] as const
type Part = Omit<RequestQuery, 'tenantId' | 'limit'>

/** What waits, is being made, has failed, or is made and was not found yet: all that is open in the tenant. */
export const readQueue = defineUseCase({
  permission: 'queue.read',
  input: z.object({}),
  async handle(context: Context<OperationPorts>): Promise<Queue> {
    const { ports, actor } = context
    const { stuck, others, isDirectorySilent } = await readOpen(context)
    const { tenantId } = actor
    const count = await ports.requests.countByState(tenantId, openStates)
    const unannounced = await ports.requests.count({ tenantId, status: 'succeeded', unannounced: true })
    const { pendingApproval = 0, queued = 0, provisioning = 0, failed = 0 } = count
    return {
      counts: { waiting: pendingApproval, creating: queued + provisioning, failed },
      open: pendingApproval + queued + provisioning + failed + unannounced,
      entries: [...stuck, ...others],
      isDirectorySilent,
    }
  },
})

/** Only what needs somebody: past the deadline of its state, or in vain waiting for people, or tried again and again. */
export const readStuck = defineUseCase({
  permission: 'queue.read',
  input: z.object({}),
  async handle(context: Context<OperationPorts>): Promise<Stuck> {
    const { ports } = context
    const [{ stuck, count, isDirectorySilent }, deadLetters] = await Promise.all([
      readOpen(context),
      countDeadLetters(ports),
    ])
    return { count, entries: stuck, isDirectorySilent, deadLetters }
  },
})

async function readOpen(context: Context<OperationPorts>) {
  const { ports, actor } = context
  const { tenantId } = actor
  const now = ports.clock.now()
  const late = openParts.map((part): Part => {
    return { ...part, stoodSince: new Date(now.getTime() - deadlines[part.status] * 1000) }
  })
  const [counts, lateOnes, open] = await Promise.all([
    Promise.all(late.map((part) => ports.requests.count({ tenantId, ...part }))),
    listed(ports, tenantId, late),
    listed(ports, tenantId, openParts),
  ])
  const all = [...new Map([...lateOnes, ...open].map((one) => [one.requestId, one])).values()]
  const lost = await lostPeople(context, all)
  const entries = all.flatMap((request) => entryOf(request, now, lost?.get(request.requestId)))
  const isLate = new Set(lateOnes.map(({ requestId }) => requestId))
  const stuck = entries.filter(({ attention }) => attention !== undefined)
  const more = stuck.filter(({ request }) => !isLate.has(request.requestId))
  return {
    stuck: (await withNextTry(ports, stuck)).sort(oldestFirst),
    others: entries.filter(({ attention }) => attention === undefined).sort(byState),
    count: counts.reduce((sum, one) => sum + one, 0) + more.length,
    isDirectorySilent: lost === undefined,
  }
}

async function listed(ports: OperationPorts, tenantId: string, parts: readonly Part[]): Promise<Request[]> {
  const query = { tenantId, limit: mostOfEach, oldestFirst: true }
  return (await Promise.all(parts.map((part) => ports.requests.list({ ...part, ...query })))).flat()
}

function entryOf(request: Request, now: Date, lost: LostPeople | undefined): QueueEntry[] {
  const attention = attentionOf(request, now, lost)
  const since = attention?.since ?? sinceOf(request)
  return since === undefined ? [] : [{ request, since, attention }]
}

/** With when their work is tried again: the queue knows. */
async function withNextTry(ports: OperationPorts, entries: readonly QueueEntry[]): Promise<QueueEntry[]> {
  const tried = entries.filter(({ attention }) => attention?.why === 'retrying')
  if (tried.length === 0) return [...entries]
  const ids = tried.map(({ request }) => request.requestId)
  const due = await ports.jobs.dueAt('provision', ids)
  return entries.map((entry) => {
    const nextTryAt = entry.attention?.why === 'retrying' ? due.get(entry.request.requestId) : undefined
    return nextTryAt === undefined ? entry : { ...entry, nextTryAt }
  })
}

const oldestFirst = (one: QueueEntry, other: QueueEntry): number => one.since.localeCompare(other.since)
const placeOf = ({ request }: QueueEntry): number => openParts.findIndex(({ status }) => status === request.status)
const byState = (one: QueueEntry, other: QueueEntry): number => placeOf(one) - placeOf(other) || oldestFirst(one, other)
