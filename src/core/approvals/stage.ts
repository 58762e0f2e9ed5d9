import { z } from 'zod'
import { instant, type Person, person } from '../shared/index.ts'
import { judgedCondition } from '../templates/index.ts'

export const decision = z.object({
  by: person,
  decision: z.enum(['approved', 'rejected']),
  comment: z.string().optional(),
  at: instant,
  /** The approvers on whose behalf this person decided. */
  insteadOf: z.array(person).optional(),
  /** An admin overrode the approvers. */
  override: z.literal(true).optional(),
  /** An admin decided a stage that they had reassigned to themselves: there was no other admin, or a setting allows it. */
  ownReassignment: z.literal(true).optional(),
})
export type Decision = z.output<typeof decision>

/**
 * A person who may decide on behalf of some approvers of a stage; these approvers may still decide themselves. `delegated`: a
 * delegate, until the delegation ends. `escalated` (the approvers did not decide) and `unreachable` (no card reached them): the
 * policy's backup, their manager, or an admin.
 */
export const standIn = z.object({
  person,
  insteadOf: z.array(z.uuid()),
  why: z.enum(['delegated', 'escalated', 'unreachable']),
  as: z.enum(['delegate', 'backup', 'manager', 'admin']),
  /** The absent person, if the stand-in is a delegate. */
  by: person.optional(),
  since: instant,
  until: instant.optional(),
})
export type StandIn = z.output<typeof standIn>

/** The times at which the timers of a stage act if nobody decides. A timer that is off has no time. */
const stageTimes = z.object({
  /** From this time on, an approver without a chat with the bot counts as unreachable. */
  reachBy: instant,
  remindAt: instant.optional(),
  escalateAt: instant.optional(),
  warnAt: instant,
  expiresAt: instant,
})
export type StageTimes = z.output<typeof stageTimes>

/** One stage of a request's approval, with the approvers that the policy named when the request was submitted. */
export const approvalStage = z.object({
  stage: z.int().min(1),
  /** The stage's position in the template's policy, from 1. The request has no stages whose conditions are false. */
  place: z.int().min(1).optional(),
  rule: z.enum(['any', 'all', 'quorum']),
  quorum: z.int().optional(),
  approvers: z.array(person),
  decisions: z.array(decision),
  /**
   * The approvers (`people`) who are approvers only as members of `groups`, as owners of the groups `owned`, or as admins.
   * They can decide only as long as this is true.
   */
  membership: z
    .object({
      groups: z.array(z.string()),
      owned: z.array(z.string()).optional(),
      admins: z.boolean().optional(),
      people: z.array(z.string()),
    })
    .optional(),
  /** Ids of the people who approved an earlier stage, if the policy requires different people. They cannot decide this one. */
  excluded: z.array(z.uuid()).optional(),
  /** Whether the requester may decide this stage. */
  selfApproval: z.boolean().optional(),
  /** The admins are approvers: instead of the policy's people if none can decide, or together with them if they are too few. */
  resolvedTo: z.enum(['admins', 'peopleAndAdmins']).optional(),
  resolvedFor: z.enum(['noManager', 'onlyRequester', 'blocked', 'onlyGuests', 'nobodyFound', 'tooFew']).optional(),
  /** When the stage opened; absent before. */
  openedAt: instant.optional(),
  times: stageTimes.optional(),
  /**
   * Reminders to the undecided approvers. `by` is null for the timer's reminder. `inDigest`: their digests show the request, so
   * they got no card.
   */
  reminders: z.array(z.object({ at: instant, by: person.nullable(), inDigest: z.literal(true).optional() })).optional(),
  escalatedAt: instant.optional(),
  warnedAt: instant.optional(),
  standIns: z.array(standIn).optional(),
  /** The approvers and stand-ins that no card has reached. */
  unreachable: z.array(z.object({ person, why: z.string(), at: instant })).optional(),
  /** The reassignments. The people in `from` can no longer decide. */
  reassigned: z
    .array(
      z.object({
        from: z.array(person),
        to: person,
        by: person,
        at: instant,
        comment: z.string().optional(),
        /** There were other admins, so the admin who reassigned the stage cannot decide it alone. */
        needsSecondAdmin: z.literal(true).optional(),
      }),
    )
    .optional(),
})
export type ApprovalStage = z.output<typeof approvalStage>

/**
 * The result of a policy stage's conditions. `place`: its position in the policy, from 1. `stage`: its number in the
 * request; null: skipped.
 */
export const judgedStage = z.object({
  place: z.int(),
  stage: z.int().nullable(),
  conditions: z.array(judgedCondition),
})
export type JudgedStage = z.output<typeof judgedStage>

/** Returns the number of approvals that complete a stage. */
export function needed(stage: ApprovalStage): number {
  if (stage.rule === 'any') return 1
  return stage.rule === 'all' ? stage.approvers.length : Math.min(stage.quorum ?? 1, stage.approvers.length)
}

/**
 * Returns the number of missing approvals. Under the rule `all`, one decision on behalf of several approvers counts for each
 * of them.
 */
export function missing(stage: ApprovalStage): number {
  const approved = stage.decisions.filter(({ decision }) => decision === 'approved')
  if (approved.some(({ override }) => override)) return 0
  if (stage.rule !== 'all') return Math.max(0, needed(stage) - approved.length)
  return stage.approvers.filter(({ id }) => !approved.some((one) => decidesFor(one, id))).length
}

const decidesFor = ({ by, insteadOf = [] }: Decision, id: string): boolean =>
  by.id === id || insteadOf.some((one) => one.id === id)

export const isApproved = (stage: ApprovalStage): boolean => missing(stage) === 0
export const isRejected = (stage: ApprovalStage): boolean =>
  stage.decisions.some(({ decision }) => decision === 'rejected')

/** Returns the last decision of an admin who overrode the approvers. */
export const overrideOf = (stages: readonly ApprovalStage[]): Decision | undefined =>
  stages.flatMap(({ decisions }) => decisions).findLast(({ override }) => override)

/** Returns the stage that waits for decisions; undefined if all stages are approved or one is rejected. */
export function openStage(stages: readonly ApprovalStage[]): ApprovalStage | undefined {
  if (stages.some(isRejected)) return undefined
  return stages.find((stage) => !isApproved(stage))
}

/** Returns the approvers of a stage whose decision is missing. */
export const undecided = (stage: ApprovalStage): Person[] =>
  stage.approvers.filter(({ id }) => !stage.decisions.some((one) => decidesFor(one, id)))

/** A quorum counts people: a person who has decided cannot decide again on behalf of somebody else. */
const hasDecidedInQuorum = ({ rule, decisions }: ApprovalStage, personId: string): boolean =>
  rule === 'quorum' && decisions.some(({ by }) => by.id === personId)

/** Whether a person approved an earlier stage and the policy requires different people. */
export const isExcluded = ({ excluded = [] }: Pick<ApprovalStage, 'excluded'>, personId: string): boolean =>
  excluded.includes(personId)

/** Returns the undecided approvers that a person represents, including this person. */
export function representedBy(stage: ApprovalStage, personId: string, at: string): Person[] {
  if (hasDecidedInQuorum(stage, personId) || isExcluded(stage, personId)) return []
  const standing = (stage.standIns ?? []).filter(
    ({ person, until }) => person.id === personId && (until === undefined || until > at),
  )
  return undecided(stage).filter(
    ({ id }) => id === personId || standing.some(({ insteadOf }) => insteadOf.includes(id)),
  )
}

/** Returns the people who can decide the open stage: its undecided approvers and their stand-ins. */
export function waitingFor(stages: readonly ApprovalStage[]): Person[] {
  const stage = openStage(stages)
  if (!stage) return []
  const left = undecided(stage)
  const standing = (stage.standIns ?? []).filter(({ insteadOf }) => left.some(({ id }) => insteadOf.includes(id)))
  const people = [...left, ...standing.map(({ person }) => person)]
  return [...new Map(people.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !hasDecidedInQuorum(stage, id) && !isExcluded(stage, id),
  )
}

/** Returns all current and former approvers and stand-ins. They may read the request. */
export const everAsked = (stages: readonly ApprovalStage[]): Person[] =>
  stages.flatMap(({ approvers, standIns = [], decisions, reassigned = [] }) => [
    ...approvers,
    ...standIns.map(({ person }) => person),
    ...decisions.map(({ by }) => by),
    ...reassigned.flatMap(({ from }) => from),
  ])
