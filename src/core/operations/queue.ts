import { z } from 'zod'
import { type ApprovalStage, openStage, personOrMembers, waitingFor } from '../approvals/index.ts'
import { type Attention, attentionOf, deadlines, type LostPeople, sinceOf } from '../decisions/index.ts'
import type { Request, RequestQuery } from '../requests/index.ts'
import { type Context, defineUseCase, openStates, type SystemContext, TenantError } from '../shared/index.ts'
import { countDeadLetters } from './dead-letters.ts'
import type { OperationPorts } from './ports.ts'

/** A request in the admins' list: when its wait started, and why it needs an admin, if it does. */
export interface QueueEntry {
  readonly request: Request
  readonly since: string
  readonly attention: Attention | undefined
  /** When its job is retried automatically, if known. */
  readonly nextTryAt?: Date | undefined
}
export interface Queue {
  readonly counts: { readonly waiting: number; readonly creating: number; readonly failed: number }
  /** The number of all open requests: those of `counts`, and created ones that are not announced yet. */
  readonly open: number
  /** First the requests that need an admin, then the others by state; the oldest first. Only the first of many. */
  readonly entries: readonly QueueEntry[]
  /** The directory did not answer, so the entries ignore departed approvers. */
  readonly isDirectorySilent?: boolean
}
/** Requests that need an admin: their number, and the first of them. */
export interface Stuck {
  readonly count: number
  readonly entries: readonly QueueEntry[]
  readonly isDirectorySilent?: boolean
  /** The number of open dead letters. */
  readonly deadLetters?: number
}

/** The maximum number of requests that are read for each status: the first ones show the problems of all. */
const maxOfEach = 50

/** The open requests of the tenant by state. A created request is open until its requester is notified. */
const openParts = [
  { status: 'failed' },
  { status: 'pendingApproval' },
  { status: 'queued' },
  { status: 'provisioning' },
  { status: 'succeeded', unannounced: true },
] as const
type Part = Omit<RequestQuery, 'tenantId' | 'limit'>

/** Returns all open requests of the tenant. */
export const readQueue = defineUseCase({
  permission: 'queue.read',
  input: z.object({}),
  async handle(context: Context<OperationPorts>): Promise<Queue> {
    const { requests } = context.ports
    const { tenantId } = context.actor
    const [{ stuck, others, isDirectorySilent }, count, unannounced] = await Promise.all([
      readOpen(context),
      requests.countByState(tenantId, openStates),
      requests.count({ tenantId, status: 'succeeded', unannounced: true }),
    ])
    const { pendingApproval = 0, queued = 0, provisioning = 0, failed = 0 } = count
    return {
      counts: { waiting: pendingApproval, creating: queued + provisioning, failed },
      open: pendingApproval + queued + provisioning + failed + unannounced,
      entries: [...stuck, ...others],
      isDirectorySilent,
    }
  },
})

/**
 * Returns requests that need an admin: past the deadline of their state, waiting for departed people, or retried often.
 */
export const readStuck = defineUseCase({
  permission: 'queue.read',
  input: z.object({}),
  async handle(context: Context<OperationPorts>): Promise<Stuck> {
    const { ports, actor } = context
    const { tenantId } = actor
    const now = ports.clock.now()
    const [{ stuck, onTime, isDirectorySilent }, late, deadLetters] = await Promise.all([
      readOpen(context, now),
      Promise.all(lateParts(now).map((part) => ports.requests.count({ tenantId, ...part }))),
      countDeadLetters(ports),
    ])
    const count = late.reduce((sum, one) => sum + one, onTime)
    return { count, entries: stuck, isDirectorySilent, deadLetters }
  },
})

/** The open requests that are past the deadline of their state. */
const lateParts = (now: Date): Part[] =>
  openParts.map((part) => ({ ...part, stoodSince: new Date(now.getTime() - deadlines[part.status] * 1000) }))

/** Reads the first open requests of each state. `onTime`: how many of the stuck ones are not past a deadline. */
async function readOpen(context: Context<OperationPorts>, now = context.ports.clock.now()) {
  const { ports, actor } = context
  const { tenantId } = actor
  const [lateOnes, open] = await Promise.all([
    listed(ports, tenantId, lateParts(now)),
    listed(ports, tenantId, openParts),
  ])
  const all = [...new Map([...lateOnes, ...open].map((one) => [one.requestId, one])).values()]
  const departed = await departedPeople(context, all)
  const entries = all.flatMap((request) => entryOf(request, now, departed?.get(request.requestId)))
  const isLate = new Set(lateOnes.map(({ requestId }) => requestId))
  const stuck = entries.filter(({ attention }) => attention !== undefined)
  return {
    stuck: (await withNextTry(ports, stuck)).sort(oldestFirst),
    others: entries.filter(({ attention }) => attention === undefined).sort(byState),
    onTime: stuck.filter(({ request }) => !isLate.has(request.requestId)).length,
    isDirectorySilent: departed === undefined,
  }
}

async function listed(ports: OperationPorts, tenantId: string, parts: readonly Part[]): Promise<Request[]> {
  const query = { tenantId, limit: maxOfEach, oldestFirst: true }
  return (await Promise.all(parts.map((part) => ports.requests.list({ ...part, ...query })))).flat()
}

function entryOf(request: Request, now: Date, lost: LostPeople | undefined): QueueEntry[] {
  const attention = attentionOf(request, now, lost)
  const since = attention?.since ?? sinceOf(request)
  return since === undefined ? [] : [{ request, since, attention }]
}

/** Adds the time of the next retry from the queue. */
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

/** How long the directory may take for one list, in milliseconds. */
const longestAnswer = 3000

type Membership = NonNullable<ApprovalStage['membership']>

/**
 * Returns, by request, the approvers who can no longer decide: they are not in the directory, are blocked, or have left the
 * group that made them approvers. Undefined when the directory does not answer in time. Uses few calls for all requests.
 */
async function departedPeople(
  context: SystemContext<OperationPorts>,
  requests: readonly Request[],
): Promise<ReadonlyMap<string, LostPeople> | undefined> {
  const waiting = requests.flatMap((request) => {
    const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
    return stage ? [{ requestId: request.requestId, stage, ids: waitingFor([stage]).map(({ id }) => id) }] : []
  })
  if (waiting.length === 0) return new Map()
  const answer = await inTime(() => lookUp(context, waiting))
  if (!answer) return undefined
  const { accounts, isStillIn } = answer
  return new Map(
    waiting.map(({ requestId, stage, ids }) => {
      const lost = ids.flatMap((id): [string, 'gone' | 'blocked' | 'left'][] => {
        const account = accounts.get(id)
        if (!account) return [[id, 'gone']]
        if (account.isBlocked) return [[id, 'blocked']]
        return isStillIn(stage.membership, id) ? [] : [[id, 'left']]
      })
      return [requestId, new Map(lost)]
    }),
  )
}

async function lookUp(
  { ports, settings }: SystemContext<OperationPorts>,
  waiting: readonly { readonly stage: ApprovalStage; readonly ids: readonly string[] }[],
) {
  const { directory } = ports
  const ids = [...new Set(waiting.flatMap((one) => one.ids))]
  const memberships = waiting.flatMap(({ stage }) => (stage.membership ? [stage.membership] : []))
  const members = (id: string) => directory.membersOf(id)
  const [accounts, groups, owned, admins] = await Promise.all([
    directory.people(ids),
    byId(
      memberships.flatMap((one) => one.groups),
      members,
    ),
    byId(
      memberships.flatMap((one) => one.owned ?? []),
      (id) => directory.ownersOf(id),
    ),
    byId(memberships.some((one) => one.admins) ? settings.admins : [], (id) => personOrMembers(ports, id)),
  ])
  const isIn = (lists: ReadonlyMap<string, ReadonlySet<string>>, of: readonly string[], id: string): boolean =>
    of.some((group) => lists.get(group)?.has(id))
  return {
    accounts: new Map(accounts.map((account) => [account.id, account])),
    isStillIn: (membership: Membership | undefined, id: string): boolean =>
      !membership?.people.includes(id) ||
      isIn(groups, membership.groups, id) ||
      isIn(owned, membership.owned ?? [], id) ||
      (membership.admins === true && isIn(admins, settings.admins, id)),
  }
}

async function byId(
  ids: readonly string[],
  read: (id: string) => Promise<readonly { readonly id: string }[]>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const lists = [...new Set(ids)].map(async (id) => [id, new Set((await read(id)).map((one) => one.id))] as const)
  return new Map(await Promise.all(lists))
}

/** Runs a lookup. Returns undefined when the tenant fails or is too slow: then the list is shown without its result. */
async function inTime<T>(lookup: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), longestAnswer)
  })
  try {
    return await Promise.race([lookup(), late])
  } catch (error) {
    if (error instanceof TenantError) return undefined
    throw error
  } finally {
    clearTimeout(timer)
  }
}
