import { z } from 'zod'
import {
  type ApprovalStage,
  type Delegation,
  type Due,
  dueOf,
  nextTimerRun,
  openStage,
  outOfReach,
  reachBy,
  type StandInCandidate,
  standInCandidates,
  undecided,
  waitingFor,
  waitingStage,
  warned,
  withCandidates,
  withStage,
} from '../approvals/index.ts'
import { type AuditAction, type AuditEntry, system } from '../audit/index.ts'
import {
  approvalTimer,
  askApprovers,
  authorize,
  type Change,
  changeRequest,
  entry,
  notifyRequester,
  type Request,
  referenceOf,
  transition,
} from '../requests/index.ts'
import {
  asking,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type JobOrder,
  type JobPayload,
  jobId,
  notifyOrder,
  type Person,
  ProvisioningError,
  PutOff,
  type SystemContext,
} from '../shared/index.ts'
import { changeOnce } from './decision.ts'
import { delegationsOf, realignment } from './delegation.ts'
import type { DecisionPorts } from './ports.ts'
import { chatIfFound, withUnreachable } from './unreachable-people.ts'

/** Returns the due timers. While the requester has to choose another address, nobody is reminded and nothing is escalated. */
function dueNow({ addressConflict }: Request, stage: ApprovalStage, at: string): Due {
  const due = dueOf(stage, at)
  return addressConflict ? { ...due, remind: false, escalate: false } : due
}

/** The wait before the next run when the directory does not answer, in milliseconds. */
const directoryWait = 60_000
/**
 * Runs the timers of a waiting stage: reminds approvers, adds stand-ins for silent or unreachable ones, warns, and finally
 * expires the request. Then orders the next run. A run makes up for missed runs, and a repeated run has no effect. Throws
 * `PutOff` if the request changed meanwhile, or if the directory cannot name the stand-ins; all other timers have run then.
 */
export async function runApprovalTimers(
  context: SystemContext<DecisionPorts>,
  order: JobPayload<'tend-approval'>,
): Promise<void> {
  const { ports } = context
  const { requestId, stage: number } = order
  const request = await ports.requests.find(requestId)
  const stage = waitingStage(request, number)
  if (!request || !stage) return
  const at = ports.clock.now().toISOString()
  const { withoutOpenChat, candidates, away, inDigest, trouble } = await gatherFacts(context, request, stage, at)
  const hasMoved = await ports.work.transaction(async () => {
    const now = await ports.requests.lock(requestId)
    // The facts belong to an earlier version of the request.
    if (now?.version !== request.version) return true
    const due = dueNow(request, stage, at)
    const facts = { due: trouble ? { ...due, escalate: false } : due, withoutOpenChat, candidates, inDigest, at }
    const change = timersOf(request, stage, facts)
    if (change) await changeRequest(context, requestId, () => change)
    const aligned = realignment(change?.request ?? request, away, at)
    if (aligned) await changeRequest(context, requestId, () => aligned)
    const after = waitingStage(aligned?.request ?? change?.request ?? request, number)
    if (after) await ports.jobs.enqueue(nextOf(request, after, at, !change && !aligned))
    return false
  })
  if (hasMoved) throw new PutOff('the request changed during the run of its timers', 500)
  if (trouble) throw trouble
}

/** A run that is less than this early finds nothing to do, so another run is ordered for the same time. In milliseconds. */
const early = 60_000
function nextOf(request: Request, stage: ApprovalStage, at: string, isIdle: boolean): JobOrder[] {
  const next = nextTimerRun(stage, at)
  const isEarly = isIdle && next !== undefined && Date.parse(next) - Date.parse(at) < early
  return approvalTimer(request, stage, next, isEarly ? at : '')
}

interface GatheredFacts {
  readonly withoutOpenChat: readonly Person[]
  readonly candidates: readonly StandInCandidate[]
  readonly away: readonly Delegation[]
  /** The people whose digest shows the request, so they need no reminder. */
  readonly inDigest: ReadonlySet<string>
  /** Why the stand-ins are unknown. */
  readonly trouble?: PutOff
}

/** Finds the facts that a run needs in addition to the request. */
async function gatherFacts(
  context: SystemContext<DecisionPorts>,
  request: Request,
  stage: ApprovalStage,
  at: string,
): Promise<GatheredFacts> {
  const { ports } = context
  const due = dueNow(request, stage, at)
  const withoutOpenChat = due.expire ? [] : await withoutChat(context, request, stage, at)
  const away = await delegationsOf(ports, request, at)
  const known = withUnreachable(stage, withoutOpenChat, at)
  const silent = due.expire ? [] : due.escalate ? undecided(known) : outOfReach(known)
  const unreachable = new Set(known.unreachable?.map(({ person }) => person.id))
  const reminded = waitingFor([stage]).filter(({ id }) => due.remind && !unreachable.has(id))
  const inDigest = await havingDigest(
    context,
    request.tenantId,
    reminded.map(({ id }) => id),
  )
  if (silent.length === 0) return { withoutOpenChat, candidates: [], away, inDigest }
  try {
    const candidates = await asking(() => standInCandidates(context, request, known, silent))
    return { withoutOpenChat, candidates, away, inDigest }
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'unavailable') throw error
    const trouble = new PutOff('the directory does not answer, so the stand-ins are unknown', directoryWait, error)
    return { withoutOpenChat, candidates: [], away, inDigest, trouble }
  }
}

interface TimerFacts {
  readonly due: Due
  readonly withoutOpenChat: readonly Person[]
  readonly candidates: readonly StandInCandidate[]
  readonly inDigest: ReadonlySet<string>
  readonly at: string
}

/** Returns the change that the timers make; undefined if no timer is due. Pure. */
function timersOf(
  request: Request,
  stage: ApprovalStage,
  { due, withoutOpenChat, candidates, inDigest, at }: TimerFacts,
): Change | undefined {
  if (due.expire) {
    const ended = transition(request, 'expired', at)
    const data = { stage: stage.stage, waitedFor: waitingFor([stage]) }
    return { request: ended, audit: [entry(ended, system, 'expired', { data })], jobs: [notifyRequester(ended)] }
  }
  const reached = withUnreachable(stage, withoutOpenChat, at)
  const extended = withCandidates(reached, candidates, due.escalate ? 'escalated' : 'unreachable', at)
  const timed = due.warn ? warned(extended, at) : extended
  const waiting = waitingFor([stage])
  const notified = request.addressConflict ? [] : waiting
  const byCard = due.warn ? notified : notified.filter(({ id }) => !inDigest.has(id))
  const next: ApprovalStage = {
    ...timed,
    ...(due.escalate && { escalatedAt: at }),
    ...(due.remind && {
      reminders: [
        ...(extended.reminders ?? []),
        { at, by: null, ...(byCard.length === 0 && { inDigest: true as const }) },
      ],
    }),
  }
  const after = { ...withStage(request, next), updatedAt: at }
  const audit = timelineOf(after, stage, next, candidates, due, byCard)
  if (audit.length === 0) return undefined
  const hasNoStandIn = due.escalate && candidates.length === 0
  const jobs = [
    ...askApprovers(after),
    ...(due.remind || due.warn ? remindApprovers(after, next, byCard) : []),
    ...(due.warn ? [warnRequester(after, next)] : []),
    ...(reached === stage ? [] : [notifyAdminsOfStage(after, 'unreachable')]),
    ...(hasNoStandIn ? [notifyAdminsOfStage(after, `escalated:${stage.stage}`)] : []),
  ]
  return { request: after, audit, jobs }
}

/** Returns one audit entry for each effect of the timers. */
function timelineOf(
  request: Request,
  before: ApprovalStage,
  { stage, unreachable = [], times }: ApprovalStage,
  candidates: readonly StandInCandidate[],
  due: Due,
  byCard: readonly Person[],
): AuditEntry[] {
  const line = (action: AuditAction, data: Record<string, unknown>): AuditEntry =>
    entry(request, system, action, { data: { stage, ...data } })
  const people = waitingFor([before])
  const inDigest = people.filter((person) => !byCard.includes(person))
  const known = new Set(before.unreachable?.map(({ person }) => person.id))
  const lost = unreachable.filter(({ person }) => !known.has(person.id))
  const others = [...new Map(candidates.map(({ person, as }) => [person.id, { ...person, as }])).values()]
  return [
    ...lost.map(({ person, why }) => line('not-told', { person, card: `approval:${stage}`, why })),
    ...(due.escalate || others.length > 0
      ? [line('escalated', { why: due.escalate ? 'time' : 'unreachable', to: others })]
      : []),
    ...(due.remind ? [line('reminded', { people: byCard, ...(inDigest.length > 0 && { inDigest }) })] : []),
    ...(due.warn ? [line('warned', { people, expiresAt: times?.expiresAt })] : []),
  ]
}

/** Returns the people who can decide but had no open chat with the bot in time, and are not recorded as unreachable yet. */
async function withoutChat(
  context: SystemContext<DecisionPorts>,
  request: Request,
  stage: ApprovalStage,
  at: string,
): Promise<Person[]> {
  const known = new Set(stage.unreachable?.map(({ person }) => person.id))
  const hadTime = (id: string): boolean => (reachBy(stage, id) ?? at) <= at
  const people = waitingFor([stage]).filter(({ id }) => !known.has(id) && hadTime(id))
  const chats = await Promise.all(people.map(({ id }) => chatIfFound(context, request.tenantId, id)))
  return people.filter((_, index) => chats[index] === undefined || chats[index].closed !== undefined)
}

/** Orders one more approval card for each of these people. They can decide on it as on the first one. */
export function remindApprovers(
  { requestId, addressChanges = [] }: Request,
  stage: ApprovalStage,
  people: readonly Person[] = waitingFor([stage]),
): JobOrder[] {
  const { reminders = [], reassigned = [], warnedAt } = stage
  // A change of an address can remove a warning. It counts twice, so that no number is used again.
  const count = reminders.length + reassigned.length + 2 * addressChanges.length + (warnedAt === undefined ? 0 : 1)
  const card = `reminder:${stage.stage}:${count}` as const
  return people.map(({ id }) => notifyOrder(requestId, id, card))
}

/** A stage warns again only after a change of an address. */
const warnRequester = ({ requestId, requester, addressChanges = [] }: Request, { stage }: ApprovalStage): JobOrder => {
  const changes = addressChanges.length
  return notifyOrder(requestId, requester.id, changes === 0 ? `warning:${stage}` : `warning:${stage}:${changes}`)
}

/** Updates the admins' status cards, once for each `why`. */
const notifyAdminsOfStage = ({ requestId }: Request, why: string): JobOrder => ({
  name: 'notify-admins',
  payload: { v: 1, requestId, card: 'status' },
  id: jobId(why, requestId),
})

/** Returns the people of these who get the digest if they have a chat. */
export async function havingDigest(
  { ports, settings }: SystemContext<DecisionPorts>,
  tenantId: string,
  personIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!settings.digest || personIds.length === 0) return new Set()
  const without = await ports.digests.without(tenantId, personIds)
  return new Set(personIds.filter((id) => !without.has(id)))
}

const dayMilliseconds = 86_400_000

/** Returns the earliest time of the next nudge, a day after the last reminder of any kind; undefined: now. */
export function nudgeFrom(request: Request): string | undefined {
  const last = openStage(request.approvals)?.reminders?.findLast(({ inDigest }) => !inDigest)?.at
  return last === undefined ? undefined : new Date(Date.parse(last) + dayMilliseconds).toISOString()
}

/**
 * Reminds the people who can decide, at most once a day. A repeat of the same `attempt` has no effect. Throws `already-ended` or
 * `nudged-already`.
 */
export const nudge = defineUseCase({
  permission: 'request.nudge',
  input: z.object({ requestId: z.uuid(), attempt: z.string().optional() }),
  handle(context: Context<DecisionPorts>, { requestId, attempt }): Promise<Request> {
    const { actor } = context
    return changeOnce(context, { requestId, attempt }, (request, at) => {
      authorize(actor, 'request.nudge', request)
      const isWaiting = request.status === 'pendingApproval' && !request.addressConflict
      const stage = isWaiting ? openStage(request.approvals) : undefined
      if (!stage)
        throw new ProvisioningError('already-ended', because('noDecisionPending', { reference: referenceOf(request) }))
      const from = nudgeFrom(request)
      if (from !== undefined && from > at)
        throw new ProvisioningError('nudged-already', because('remindedRecently', { from }), { context: { at: from } })
      const reminders = [...(stage.reminders ?? []), { at, by: asPerson(actor) }]
      const next = { ...withStage(request, { ...stage, reminders }), updatedAt: at }
      const data = { stage: stage.stage, people: waitingFor(request.approvals) }
      const audit = [entry(next, actor, 'reminded', { data })]
      return { request: next, audit, jobs: remindApprovers(next, { ...stage, reminders }) }
    })
  },
})
