import { z } from 'zod'
import {
  type ApprovalStage,
  type Delegation,
  type Due,
  dueOf,
  nextLook,
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

/** How long the timers wait for a directory that does not answer, in milliseconds. */
const untilItAnswers = 60_000
/**
 * Runs the timers of a waiting stage: reminds, asks others instead of approvers who do not decide or cannot be reached, warns, and
 * finally expires the request. Then orders the next run. A run makes up for everything that was missed. Doing
 * it twice is doing it once. Throws `PutOff` when the request moved on meanwhile, or when it has to be known who
 * stands in and the directory does not say; all else is done then.
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
  const { unheard, candidates, away, inDigest, trouble } = await findOut(context, request, stage, at)
  const hasMoved = await ports.work.transaction(async () => {
    const now = await ports.requests.lock(requestId)
    // What was found out is about a request that is not there any more.
    if (now?.version !== request.version) return true
    const due = dueOf(stage, at)
    const facts = { due: trouble ? { ...due, escalate: false } : due, unheard, candidates, inDigest, at }
    const change = timersOf(request, stage, facts)
    if (change) await changeRequest(context, requestId, () => change)
    const aligned = realignment(change?.request ?? request, away, at)
    if (aligned) await changeRequest(context, requestId, () => aligned)
    const after = waitingStage(aligned?.request ?? change?.request ?? request, number)
    if (after) await ports.jobs.enqueue(nextOf(request, after, at, !change && !aligned))
    return false
  })
  if (hasMoved) throw new PutOff('the request moved on while it was looked at', 500)
  if (trouble) throw trouble
}

/** A run that comes a little early finds nothing to do, so another one has to follow at the same moment. */
const early = 60_000
function nextOf(request: Request, stage: ApprovalStage, at: string, isIdle: boolean): JobOrder[] {
  const next = nextLook(stage, at)
  const isEarly = isIdle && next !== undefined && Date.parse(next) - Date.parse(at) < early
  return approvalTimer(request, stage, next, isEarly ? at : '')
}

interface FoundOut {
  readonly unheard: readonly Person[]
  readonly candidates: readonly StandInCandidate[]
  readonly away: readonly Delegation[]
  /** Who finds it in their summary of the day, and needs no reminder of its own. */
  readonly inDigest: ReadonlySet<string>
  /** Why it is not known who could be asked too. */
  readonly trouble?: PutOff
}

/** Everything that a run needs in addition to the request. */
async function findOut(
  context: SystemContext<DecisionPorts>,
  request: Request,
  stage: ApprovalStage,
  at: string,
): Promise<FoundOut> {
  const { ports } = context
  const due = dueOf(stage, at)
  const unheard = due.expire ? [] : await withoutChat(context, request, stage, at)
  const away = await delegationsOf(ports, request, at)
  const known = withUnreachable(stage, unheard, at)
  const silent = due.expire ? [] : due.escalate ? undecided(known) : outOfReach(known)
  const unreachable = new Set(known.unreachable?.map(({ person }) => person.id))
  const reminded = waitingFor([stage]).filter(({ id }) => due.remind && !unreachable.has(id))
  const inDigest = await havingDigest(
    context,
    request.tenantId,
    reminded.map(({ id }) => id),
  )
  if (silent.length === 0) return { unheard, candidates: [], away, inDigest }
  try {
    const candidates = await asking(() => standInCandidates(context, request, known, silent))
    return { unheard, candidates, away, inDigest }
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'unavailable') throw error
    const trouble = new PutOff('the directory does not say who stands in', untilItAnswers, error)
    return { unheard, candidates: [], away, inDigest, trouble }
  }
}

interface Facts {
  readonly due: Due
  readonly unheard: readonly Person[]
  readonly candidates: readonly StandInCandidate[]
  readonly inDigest: ReadonlySet<string>
  readonly at: string
}

/** The change that the timers bring; undefined if nothing is due. Pure. */
function timersOf(
  request: Request,
  stage: ApprovalStage,
  { due, unheard, candidates, inDigest, at }: Facts,
): Change | undefined {
  if (due.expire) {
    const ended = transition(request, 'expired', at)
    const data = { stage: stage.stage, waitedFor: waitingFor([stage]) }
    return { request: ended, audit: [entry(ended, system, 'expired', { data })], jobs: [notifyRequester(ended)] }
  }
  const reached = withUnreachable(stage, unheard, at)
  const extended = withCandidates(reached, candidates, due.escalate ? 'escalated' : 'unreachable', at)
  const timed = due.warn ? warned(extended, at) : extended
  const waiting = waitingFor([stage])
  const byCard = due.warn ? waiting : waiting.filter(({ id }) => !inDigest.has(id))
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
  const isHelpless = due.escalate && candidates.length === 0
  const jobs = [
    ...askApprovers(after),
    ...(due.remind || due.warn ? remindApprovers(after, next, byCard) : []),
    ...(due.warn ? [warnRequester(after, next)] : []),
    ...(reached === stage ? [] : [notifyAdminsOfStage(after, 'unreachable')]),
    ...(isHelpless ? [notifyAdminsOfStage(after, `escalated:${stage.stage}`)] : []),
  ]
  return { request: after, audit, jobs }
}

/** One line for each thing that was done. */
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

/** Those asked who have no chat with the bot that is open, although they had their time, and of whom it was not noted. */
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

/** One more card for each of these whose decision is waited for. It can be decided on like the first one. */
export function remindApprovers(
  { requestId }: Request,
  stage: ApprovalStage,
  people: readonly Person[] = waitingFor([stage]),
): JobOrder[] {
  const { reminders = [], reassigned = [], warnedAt } = stage
  const count = reminders.length + reassigned.length + (warnedAt === undefined ? 0 : 1)
  const card = `reminder:${stage.stage}:${count}` as const
  return people.map(({ id }) => notifyOrder(requestId, id, card))
}

const warnRequester = ({ requestId, requester }: Request, { stage }: ApprovalStage): JobOrder =>
  notifyOrder(requestId, requester.id, `warning:${stage}`)

/** Updates the admins' status cards, once for each `why`. */
const notifyAdminsOfStage = ({ requestId }: Request, why: string): JobOrder => ({
  name: 'notify-admins',
  payload: { v: 1, requestId, card: 'status' },
  id: jobId(why, requestId),
})

/** Those of these who have it, if they have a chat. */
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

/** When a request may be nudged: at once, or a day after those who have not decided were last reminded, by anybody. */
export function nudgeFrom(request: Request): string | undefined {
  const last = openStage(request.approvals)?.reminders?.findLast(({ inDigest }) => !inDigest)?.at
  return last === undefined ? undefined : new Date(Date.parse(last) + dayMilliseconds).toISOString()
}

/**
 * Reminds those who have not decided, once a day at most; a repeat of the same `attempt` does so no second time. Refuses as
 * `already-ended` or `nudged-already`.
 */
export const nudge = defineUseCase({
  permission: 'request.nudge',
  input: z.object({ requestId: z.uuid(), attempt: z.string().optional() }),
  handle(context: Context<DecisionPorts>, { requestId, attempt }): Promise<Request> {
    const { actor } = context
    return changeOnce(context, { requestId, attempt }, (request, at) => {
      authorize(actor, 'request.nudge', request)
      const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
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
