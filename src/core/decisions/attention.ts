import { openStage, outOfReach, undecided, waitingFor } from '../approvals/index.ts'
import { lateStep, nextStep, type Request } from '../requests/index.ts'
import type { Person, RequestState } from '../shared/index.ts'

/** The time in a state after which a request needs an admin, in seconds; null = no limit. */
export const deadlines = {
  pendingApproval: 3 * 86_400,
  queued: 5 * 60,
  provisioning: 20 * 60,
  failed: 0,
  // Created but not announced: after the fast polls.
  succeeded: 5 * 60,
  rejected: null,
  expired: null,
  cancelled: null,
} as const satisfies Record<RequestState, number | null>

/** The deadline of a late step, in seconds: the tenant may require a wait of an hour between polls. */
const lateDeadline = 75 * 60

/** The time in seconds for which a failing step is retried before an admin sees it. */
const retriedFor = 20

/** Why an approver cannot decide: not in the directory, blocked, not in the approving group any more, or no card reaches them. */
export type WhyLost = 'gone' | 'blocked' | 'left' | 'unreached'
/** Approvers who cannot decide, by the directory. All other approvers can. */
export type LostPeople = ReadonlyMap<string, Exclude<WhyLost, 'unreached'>>
const whyLost = ['gone', 'blocked', 'left', 'unreached'] as const satisfies readonly WhyLost[]

export type Remedy = 'retry' | 'look' | 'reassign' | 'override'
/** Why a request needs an admin, and the remedies, the best first. A request that is only slow has no remedies. */
export interface Attention {
  readonly why: 'failed' | 'waitsFor' | 'notStarted' | 'standsStill' | 'notFound' | 'retrying' | 'late' | WhyLost
  /** ISO 8601. */
  readonly since: string
  readonly remedies: readonly Remedy[]
  /** The approvers who cannot decide, if they are the reason. */
  readonly people?: readonly Person[]
}

/**
 * Returns why a request needs an admin; undefined if it does not. Reasons: it waits for people who cannot decide (`lost`: their
 * status in the directory), its step fails repeatedly or is late, or its state is past the deadline.
 */
export function attentionOf(request: Request, now: Date, lost: LostPeople = new Map()): Attention | undefined {
  return blockedByPeople(request, lost) ?? pastDeadline(request, now) ?? late(request) ?? retrying(request, now)
}

function pastDeadline(request: Request, now: Date): Attention | undefined {
  const deadline = lateStep(request) ? lateDeadline : deadlines[request.status]
  const since = sinceOf(request)
  if (deadline === null || since === undefined || now.getTime() - Date.parse(since) < deadline * 1000) return undefined
  switch (request.status) {
    case 'failed':
      return { why: 'failed', since, remedies: ['retry'] }
    case 'pendingApproval':
      return waitingFor(request.approvals).length > 0
        ? { why: 'waitsFor', since, remedies: ['reassign', 'override'] }
        : undefined
    case 'queued':
      return { why: 'notStarted', since, remedies: ['retry'] }
    case 'provisioning':
      return { why: 'standsStill', since, remedies: ['retry'] }
    default:
      return { why: 'notFound', since, remedies: ['look'] }
  }
}

/** SharePoint takes long, and polls continue. For any other late step with a problem, the problem is the reason. */
function late(request: Request): Attention | undefined {
  const step = lateStep(request)
  if (step?.lateAt === undefined || (step.problem && step.name !== 'wait-for-site')) return undefined
  return { why: 'late', since: step.lateAt, remedies: [] }
}

/** A service fails the current step, which is retried automatically. */
function retrying(request: Request, now: Date): Attention | undefined {
  const step = request.status === 'provisioning' ? nextStep(request) : undefined
  if (!step?.problem || step.startedAt === undefined) return undefined
  if (now.getTime() - Date.parse(step.startedAt) < retriedFor * 1000) return undefined
  return { why: 'retrying', since: step.startedAt, remedies: ['retry'] }
}

/**
 * The stage needs the decision of a person who cannot decide and has no delegate. People who were added by an escalation do not
 * count.
 */
function blockedByPeople({ status, approvals, submittedAt }: Request, lost: LostPeople): Attention | undefined {
  const stage = status === 'pendingApproval' ? openStage(approvals) : undefined
  if (!stage) return undefined
  const unreached = (stage.unreachable ?? []).map(({ person }) => person.id)
  const why = (id: string): WhyLost | undefined => lost.get(id) ?? (unreached.includes(id) ? 'unreached' : undefined)
  const known = stage.unreachable ?? []
  const others = waitingFor([stage]).filter(({ id }) => lost.has(id) && !unreached.includes(id))
  const at = stage.openedAt ?? submittedAt
  const tried = { ...stage, unreachable: [...known, ...others.map((person) => ({ person, why: '', at }))] }
  const undecidedIds = new Set(undecided(stage).map(({ id }) => id))
  const people = outOfReach(tried).filter(({ id }) => undecidedIds.has(id) && why(id) !== undefined)
  const first = whyLost.find((one) => people.some(({ id }) => why(id) === one))
  if (first === undefined) return undefined
  const since = known.find(({ person }) => person.id === people[0]?.id)?.at ?? at
  return { why: first, since, remedies: ['reassign', 'override'], people: people.filter(({ id }) => why(id) === first) }
}

/** Returns the time since which a request waits for its next step; undefined for a completed request. */
export function sinceOf({
  status,
  followUp,
  updatedAt,
  submittedAt,
  queuedAt,
  finishedAt,
}: Request): string | undefined {
  if (status === 'succeeded') return followUp.state === 'announced' ? undefined : (finishedAt ?? updatedAt)
  if (status === 'pendingApproval') return submittedAt
  if (status === 'queued') return queuedAt ?? submittedAt
  return updatedAt
}
