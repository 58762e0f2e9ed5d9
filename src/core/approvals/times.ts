import type { ApprovalTimes, Person, RequestState } from '../shared/index.ts'
import type { ApprovalPolicy } from '../templates/index.ts'
import { type ApprovalStage, missing, needed, openStage, type StageTimes, undecided, waitingFor } from './stage.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** Requester and approvers are warned this long before a request expires; at most a fifth of its whole time. */
const longestWarning = 2 * day

/** Returns a stage as opened, with the times of its timers. */
export function opened(
  stage: ApprovalStage,
  policy: ApprovalPolicy | null,
  settings: ApprovalTimes,
  at: string,
): ApprovalStage {
  const own = policy?.stages[(stage.place ?? 0) - 1]
  const start = Date.parse(at)
  const expires = (policy?.expiresAfterDays ?? settings.expireAfterDays) * day
  const when = (milliseconds: number): string => new Date(start + milliseconds).toISOString()
  const before = (hours: number): string | undefined =>
    hours > 0 && hours * hour < expires ? when(hours * hour) : undefined
  const remindAt = before(own?.remindAfterHours ?? settings.remindAfterHours)
  const escalateAt = before(own?.escalateAfterHours ?? settings.escalateAfterHours)
  const times: StageTimes = {
    reachBy: when(settings.reachMinutes * minute),
    ...(remindAt && { remindAt }),
    ...(escalateAt && { escalateAt }),
    warnAt: when(expires - Math.min(longestWarning, expires / 5)),
    expiresAt: when(expires),
  }
  return { ...stage, openedAt: at, times }
}

/** The timers of a stage that are due. */
export interface Due {
  readonly expire: boolean
  readonly warn: boolean
  readonly remind: boolean
  readonly escalate: boolean
}

/**
 * Returns the timers that are due and have not run. A later timer cancels earlier ones: nobody is reminded after an escalation.
 * A request never expires without a warning, even if the service was stopped during all of its time.
 */
export function dueOf({ times, reminders, escalatedAt, warnedAt }: ApprovalStage, at: string): Due {
  const isPast = (moment: string | undefined): boolean => moment !== undefined && moment <= at
  const expire = isPast(times?.expiresAt) && warnedAt !== undefined
  const warn = isPast(times?.warnAt) && warnedAt === undefined
  const escalate = !expire && isPast(times?.escalateAt) && escalatedAt === undefined
  const own = reminders?.some(({ by }) => by === null) ?? false
  const isLater = warnedAt !== undefined || escalatedAt !== undefined
  const remind = !expire && !warn && !escalate && !isLater && isPast(times?.remindAt) && !own
  return { expire, warn, remind, escalate }
}

/** Returns a stage with its warning. If less than half of the warning time remains, the expiry moves to leave all of it. */
export function warned(stage: ApprovalStage, at: string): ApprovalStage {
  const { times } = stage
  if (!times) return { ...stage, warnedAt: at }
  const forWarning = Date.parse(times.expiresAt) - Date.parse(times.warnAt)
  const isLate = Date.parse(times.expiresAt) - Date.parse(at) < forWarning / 2
  const expiresAt = isLate ? new Date(Date.parse(at) + forWarning).toISOString() : times.expiresAt
  return { ...stage, warnedAt: at, times: { ...times, expiresAt } }
}

/** Returns since when a person can decide a stage: since it opened, or since they became an approver or stand-in. */
export function askedSince(
  { approvers, openedAt = '', reassigned, standIns }: ApprovalStage,
  personId: string,
): string {
  const handedAt = reassigned?.findLast(({ to }) => to.id === personId)?.at
  const standing = standIns?.filter(({ person }) => person.id === personId).map((one) => one.since)
  const since = approvers.some(({ id }) => id === personId) ? handedAt : standing?.sort()[0]
  return since !== undefined && since > openedAt ? since : openedAt
}

/** Returns when a person without a chat counts as unreachable; undefined if the stage has no times. */
export function reachBy(stage: ApprovalStage, personId: string): string | undefined {
  if (!stage.times || stage.openedAt === undefined) return undefined
  const toReach = Date.parse(stage.times.reachBy) - Date.parse(stage.openedAt)
  return new Date(Date.parse(askedSince(stage, personId)) + toReach).toISOString()
}

/** Returns when the timers of a stage run next; undefined for requests of earlier versions, which have no times. */
export function nextTimerRun(stage: ApprovalStage, at: string): string | undefined {
  return [...Object.values(stage.times ?? {}), ...waitingFor([stage]).map(({ id }) => reachBy(stage, id))]
    .filter((moment) => moment !== undefined && moment > at)
    .sort()[0]
}

interface WithStages {
  readonly approvals: readonly ApprovalStage[]
}

/** Returns the open stage of a waiting request if it has this number. */
export function waitingStage(
  request: (WithStages & { readonly status: RequestState }) | undefined,
  stage: number,
): ApprovalStage | undefined {
  const open = request?.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  return open?.stage === stage ? open : undefined
}

/** Replaces the stage with the same number. */
export const withStage = <R extends WithStages>(request: R, stage: ApprovalStage): R => ({
  ...request,
  approvals: request.approvals.map((one) => (one.stage === stage.stage ? stage : one)),
})

/**
 * Returns the approvers who need a stand-in: they are unreachable or did not decide before the escalation, they have no reachable
 * stand-in, and the other people cannot complete the stage. If all have a stand-in and these are too few for a quorum, returns
 * all of them.
 */
export function outOfReach(stage: ApprovalStage): Person[] {
  const unreachable = new Set(stage.unreachable?.map(({ person }) => person.id))
  const isSilent = (id: string): boolean =>
    stage.escalatedAt !== undefined && askedSince(stage, id) <= stage.escalatedAt
  const isStoodFor = (id: string): boolean =>
    stage.standIns?.some(({ person, insteadOf }) => insteadOf.includes(id) && !unreachable.has(person.id)) ?? false
  const left = undecided(stage)
  const gone = left.filter(({ id }) => unreachable.has(id) || isSilent(id))
  const lost = gone.filter(({ id }) => !isStoodFor(id))
  if (stage.rule === 'all') return lost
  const others = waitingFor([stage]).filter(({ id }) => !unreachable.has(id) && !gone.some((one) => one.id === id))
  if (others.length >= missing(stage)) return []
  return lost.length > 0 ? lost : gone
}

/**
 * Returns an opened stage without the people who approved an earlier one, if the policy requires different people. If too few
 * approvers remain, they stay in the stage, cannot decide, and the escalation is due at once: their stand-ins decide instead.
 */
export function withDifferentPeople(
  stage: ApprovalStage,
  stages: readonly ApprovalStage[],
  policy: ApprovalPolicy | null,
): ApprovalStage {
  if (!policy?.differentPeople) return stage
  const earlier = stages.filter((one) => one.stage < stage.stage).flatMap(({ decisions }) => decisions)
  const excluded = [...new Set(earlier.filter(({ decision }) => decision === 'approved').map(({ by }) => by.id))]
  if (excluded.length === 0) return stage
  const left = stage.approvers.filter(({ id }) => !excluded.includes(id))
  const least = stage.rule === 'quorum' ? needed(stage) : 1
  if (left.length >= least) return { ...stage, excluded, approvers: left }
  const { times, openedAt } = stage
  const isAtOnce = times !== undefined && openedAt !== undefined
  return { ...stage, excluded, ...(isAtOnce && { times: { ...times, escalateAt: openedAt } }) }
}
