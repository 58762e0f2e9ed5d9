import type { ApprovalTimes, Person, RequestState } from '../shared/index.ts'
import type { ApprovalPolicy } from '../templates/index.ts'
import { type ApprovalStage, missing, openStage, type StageTimes, undecided, waitingFor } from './stage.ts'

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
}

/**
 * What is due of a stage now and was not done. What a later one makes pointless is not done any more; but nothing expires
 * of which nobody was warned, also when the service has stood still over all of it.
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

/** A stage of which both sides are warned now. Where less than half of the time for it is left, it gets all of it. */
export function warned(stage: ApprovalStage, at: string): ApprovalStage {
  const { times } = stage
  if (!times) return { ...stage, warnedAt: at }
  const forWarning = Date.parse(times.expiresAt) - Date.parse(times.warnAt)
  const isLate = Date.parse(times.expiresAt) - Date.parse(at) < forWarning / 2
  const expiresAt = isLate ? new Date(Date.parse(at) + forWarning).toISOString() : times.expiresAt
  return { ...stage, warnedAt: at, times: { ...times, expiresAt } }
}

/** Since when somebody is asked in a stage: since its turn came, or since they were asked in the place of another. */
export function askedSince(
  { approvers, openedAt = '', reassigned, standIns }: ApprovalStage,
  personId: string,
): string {
  const given = reassigned?.findLast(({ to }) => to.id === personId)?.at
  const standing = standIns?.filter(({ person }) => person.id === personId).map((one) => one.since)
  const since = approvers.some(({ id }) => id === personId) ? given : standing?.sort()[0]
  return since !== undefined && since > openedAt ? since : openedAt
}

/** From when on somebody who is asked and has no chat is taken for unreachable; undefined when the stage has no times. */
export function reachBy(stage: ApprovalStage, personId: string): string | undefined {
  if (!stage.times || stage.openedAt === undefined) return undefined
  const toReach = Date.parse(stage.times.reachBy) - Date.parse(stage.openedAt)
  return new Date(Date.parse(askedSince(stage, personId)) + toReach).toISOString()
}

/** When a stage should be looked at next; undefined when it has no times, as of requests from before there were any. */
export function nextLook(stage: ApprovalStage, at: string): string | undefined {
  return [...Object.values(stage.times ?? {}), ...waitingFor([stage]).map(({ id }) => reachBy(stage, id))]
    .filter((moment) => moment !== undefined && moment > at)
    .sort()[0]
}

/** Whatever has stages of approval: a request. */
interface WithStages {
  readonly approvals: readonly ApprovalStage[]
}

/** The stage that a request waits in, if it is this one. */
export function waitingStage(
  request: (WithStages & { readonly status: RequestState }) | undefined,
  stage: number,
): ApprovalStage | undefined {
  const open = request?.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  return open?.stage === stage ? open : undefined
}

/** Puts another stage in the place of the one with its number. */
export const withStage = <R extends WithStages>(request: R, stage: ApprovalStage): R => ({
  ...request,
  approvals: request.approvals.map((one) => (one.stage === stage.stage ? stage : one)),
})

/**
 * The approvers for whom somebody else has to be asked, since those who are asked cannot be told, or have let the time for it
 * pass: all whom nobody stands in for who can be told, if the others cannot end the stage alone. Where heads are counted and
 * everybody has a stand-in, but these are too few, all of them.
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
