import type { ApprovalPolicy } from './approval-policy.ts'
import { type ApprovalStage, openStage, type StageTimes, undecided, waitingFor } from './approval-stage.ts'
import type { Request } from './request.ts'
import type { Person } from './resource.ts'

/** When something is done for want of a decision, counted from the moment that a stage's turn came; 0 = never. */
export interface ApprovalTimes {
  /** From then on somebody without a chat is taken for unreachable. */
  readonly reachMinutes: number
  readonly remindAfterHours: number
  readonly escalateAfterHours: number
  /** Never 0. */
  readonly expireAfterDays: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** Both sides are warned this long before the end, or for the last fifth of a shorter time. */
const longestWarning = 2 * day

/** A stage whose turn has come, with the moments at which something follows if nobody decides. */
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

/** What a stage's time has come for. */
export interface Due {
  readonly expire: boolean
  readonly warn: boolean
  readonly remind: boolean
  readonly escalate: boolean
  readonly reach: boolean
}

/** What is due of a stage now and was not done. What a later one makes pointless is not done any more. */
export function dueOf({ times, reminders, escalatedAt, warnedAt }: ApprovalStage, at: string): Due {
  const isPast = (moment: string | undefined): boolean => moment !== undefined && moment <= at
  const expire = isPast(times?.expiresAt)
  const warn = !expire && isPast(times?.warnAt) && warnedAt === undefined
  const escalate = !expire && isPast(times?.escalateAt) && escalatedAt === undefined
  const own = reminders?.some(({ by }) => by === null) ?? false
  const isLater = warnedAt !== undefined || escalatedAt !== undefined
  const remind = !expire && !warn && !escalate && !isLater && isPast(times?.remindAt) && !own
  return { expire, warn, remind, escalate, reach: !expire && isPast(times?.reachBy) }
}

/** When a stage should be looked at next; undefined when it has no times, as of requests from before there were any. */
export function nextLook({ times }: ApprovalStage, at: string): string | undefined {
  return Object.values(times ?? {})
    .filter((moment) => moment !== undefined && moment > at)
    .sort()[0]
}

/**
 * When somebody who is asked is taken for unreachable if they have no chat: who was asked later than the stage's turn came has
 * as long as the first ones.
 */
export function reachableBy(stage: ApprovalStage, personId: string): string | undefined {
  const { times, standIns = [], reassigned = [] } = stage
  const asked = [
    ...standIns.filter(({ person }) => person.id === personId).map(({ since }) => since),
    ...reassigned.filter(({ to }) => to.id === personId).map(({ at }) => at),
  ]
  const moments = asked.map((at) => reachLookAt(stage, at)).filter((moment) => moment !== undefined)
  return [times?.reachBy, ...moments]
    .filter((moment) => moment !== undefined)
    .sort()
    .at(-1)
}

/** When those who are asked at a moment, after the stage's turn came, should have a chat; undefined of a stage without times. */
export function reachLookAt({ times, openedAt }: ApprovalStage, at: string): string | undefined {
  if (!times || openedAt === undefined) return undefined
  const patience = Date.parse(times.reachBy) - Date.parse(openedAt)
  return new Date(Date.parse(at) + patience).toISOString()
}

/** The stage that a request waits in, if it is this one. */
export function waitingStage(request: Request | undefined, stage: number): ApprovalStage | undefined {
  const open = request?.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  return open?.stage === stage ? open : undefined
}

/** Puts another stage in the place of the one with its number. */
export const withStage = <R extends Request>(request: R, stage: ApprovalStage): R => ({
  ...request,
  approvals: request.approvals.map((one) => (one.stage === stage.stage ? stage : one)),
})

/**
 * The approvers for whom somebody else has to be asked since they cannot be told: all whom nobody reachable stands in for,
 * if those who can be reached cannot end the stage alone.
 */
export function outOfReach(stage: ApprovalStage): Person[] {
  const unreachable = new Set(stage.unreachable?.map(({ person }) => person.id))
  const isStoodFor = (id: string): boolean =>
    stage.standIns?.some(({ person, insteadOf }) => insteadOf.includes(id) && !unreachable.has(person.id)) ?? false
  const left = undecided(stage)
  const lost = left.filter(({ id }) => unreachable.has(id) && !isStoodFor(id))
  const reachable = waitingFor([stage]).filter(({ id }) => !unreachable.has(id)).length
  if (stage.rule === 'all') return lost
  const short = stage.rule === 'any' ? 1 : Math.min(stage.quorum ?? 1, stage.approvers.length) - stage.decisions.length
  return reachable < short ? lost : []
}
