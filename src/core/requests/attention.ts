import { openStage, outOfReach, undecided, waitingFor } from '../approvals/index.ts'
import type { Person, RequestState } from '../shared/index.ts'
import { lateStep, nextStep, type Request } from './request.ts'

/** How long a request may stay in a state before it needs an admin, in seconds; null = without limit. */
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

/** Deadline of a site that Microsoft 365 takes long for: a poll may wait for an hour if the tenant asks for it. Seconds. */
const lateDeadline = 75 * 60

/** A step whose service fails it may be tried again for so long, in seconds, before an admin sees it. */
const triedFor = 20

/** Why an approver decides nothing: not in the directory, cannot sign in, no member of what was asked, or no card reaches them. */
export type WhyLost = 'gone' | 'blocked' | 'left' | 'unreached'
/** What is known of approvers of whom the directory was asked; who is not in it decides as ever. */
export type LostPeople = ReadonlyMap<string, Exclude<WhyLost, 'unreached'>>
const whyLost = ['gone', 'blocked', 'left', 'unreached'] as const satisfies readonly WhyLost[]

export type Remedy = 'retry' | 'look' | 'reassign' | 'override'
/** Why a request needs an admin, and what fixes it, the best first. Nothing fixes a request that is only slow. */
export interface Attention {
  readonly why: 'failed' | 'waitsFor' | 'notStarted' | 'standsStill' | 'notFound' | 'retrying' | 'late' | WhyLost
  /** Since when, ISO 8601. */
  readonly since: string
  readonly remedies: readonly Remedy[]
  /** Those who decide nothing, where that is why. */
  readonly people?: readonly Person[]
}

/**
 * Whether a request needs somebody, and why; undefined when all is as it should be. It does when it waits for people who cannot
 * decide (`lost`: what the directory says of them), when its step fails again and again or is late, and past the deadline of its
 * state.
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

/** SharePoint takes long, and polls go on by themselves. Another step that is late has a problem, which is what to show. */
function late(request: Request): Attention | undefined {
  const step = lateStep(request)
  if (step?.lateAt === undefined || (step.problem && step.name !== 'wait-for-site')) return undefined
  return { why: 'late', since: step.lateAt, remedies: [] }
}

/** The work fails at a service that may answer later, and is tried again by itself. */
function retrying(request: Request, now: Date): Attention | undefined {
  const step = request.status === 'provisioning' ? nextStep(request) : undefined
  if (!step?.problem || step.startedAt === undefined) return undefined
  if (now.getTime() - Date.parse(step.startedAt) < triedFor * 1000) return undefined
  return { why: 'retrying', since: step.startedAt, remedies: ['retry'] }
}

/**
 * The stage can only end with the word of somebody who cannot give it, and nobody stands in for them. Who was asked
 * since they did not decide is no loss.
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

/** Since when a request waits for whatever comes next; undefined when nothing more is to come. */
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
