import { z } from 'zod'
import { instant, type Person, person } from '../shared/index.ts'
import { judgedCondition } from '../templates/index.ts'

export const decision = z.object({
  by: person,
  decision: z.enum(['approved', 'rejected']),
  comment: z.string().optional(),
  at: instant,
  /** Those of the approvers for whom somebody else decided. */
  insteadOf: z.array(person).optional(),
  /** An admin decided over the heads of the approvers. */
  override: z.literal(true).optional(),
  /** By an admin who had reassigned it to themselves: there was no other admin, or a setting allows it. */
  ownReassignment: z.literal(true).optional(),
})
export type Decision = z.output<typeof decision>

/**
 * Somebody who may decide for some of a stage's approvers, who may still do so themselves: their delegate while they are
 * away (`delegated`, until the delegation ends), or whoever was asked since they did not decide (`escalated`) or could not be told
 * (`unreachable`): the policy's backup, their manager, or the admins.
 */
export const standIn = z.object({
  person,
  insteadOf: z.array(z.uuid()),
  why: z.enum(['delegated', 'escalated', 'unreachable']),
  as: z.enum(['delegate', 'backup', 'manager', 'admin']),
  /** Who is away, of a delegate. */
  by: person.optional(),
  since: instant,
  until: instant.optional(),
})
export type StandIn = z.output<typeof standIn>

/** When what is due if nobody decides; what is never due is left out. */
export const stageTimes = z.object({
  /** Who has no chat with the bot by then is taken for unreachable. */
  reachBy: instant,
  remindAt: instant.optional(),
  escalateAt: instant.optional(),
  warnAt: instant,
  expiresAt: instant,
})
export type StageTimes = z.output<typeof stageTimes>

/** One stage of a request's approval, with the people that the policy resolved to when it was submitted. */
export const approvalStage = z.object({
  stage: z.int().min(1),
  /** Its place in the template's policy, from 1: stages whose conditions do not hold are left out here. */
  place: z.int().min(1).optional(),
  rule: z.enum(['any', 'all', 'quorum']),
  quorum: z.int().optional(),
  approvers: z.array(person),
  decisions: z.array(decision),
  /**
   * Those of the approvers who were asked only as members of `groups`, as owners of `owned` ones, or as admins: who is none
   * of these any more decides no more.
   */
  membership: z
    .object({
      groups: z.array(z.string()),
      owned: z.array(z.string()).optional(),
      admins: z.boolean().optional(),
      people: z.array(z.string()),
    })
    .optional(),
  /** Whether who asks may decide it. */
  selfApproval: z.boolean().optional(),
  /** The admins were asked: in place of people of whom none was left, or beside too few. */
  resolvedTo: z.enum(['admins', 'peopleAndAdmins']).optional(),
  resolvedFor: z.enum(['noManager', 'onlyRequester', 'blocked', 'onlyGuests', 'nobodyFound', 'tooFew']).optional(),
  /** When its turn came; absent until then. */
  openedAt: instant.optional(),
  times: stageTimes.optional(),
  /**
   * Reminders to those who had not decided; by nobody = their time had come. `inDigest`: all of them find it in their summary of the
   * day, and got no card of its own.
   */
  reminders: z.array(z.object({ at: instant, by: person.nullable(), inDigest: z.literal(true).optional() })).optional(),
  escalatedAt: instant.optional(),
  warnedAt: instant.optional(),
  standIns: z.array(standIn).optional(),
  /** Who of those asked could not be told. */
  unreachable: z.array(z.object({ person, why: z.string(), at: instant })).optional(),
  /** Who was asked in whose place, by whom. The former ones decide no more. */
  reassigned: z
    .array(
      z.object({
        from: z.array(person),
        to: person,
        by: person,
        at: instant,
        comment: z.string().optional(),
        /** There were other admins, so whoever reassigned it does not decide it alone. */
        needsSecondAdmin: z.literal(true).optional(),
      }),
    )
    .optional(),
})
export type ApprovalStage = z.output<typeof approvalStage>

/** A stage of the template's policy as it was judged: its place there, and here; null = left out. Places count from 1. */
export const judgedStage = z.object({
  place: z.int(),
  stage: z.int().nullable(),
  conditions: z.array(judgedCondition),
})
export type JudgedStage = z.output<typeof judgedStage>

/** How many approvals end a stage. */
export function needed(stage: ApprovalStage): number {
  if (stage.rule === 'any') return 1
  return stage.rule === 'all' ? stage.approvers.length : Math.min(stage.quorum ?? 1, stage.approvers.length)
}

/** How many of them are still missing. One decision for several approvers counts for each of them where all are asked. */
export function missing(stage: ApprovalStage): number {
  const approved = stage.decisions.filter(({ decision }) => decision === 'approved')
  if (approved.some(({ override }) => override)) return 0
  if (stage.rule !== 'all') return Math.max(0, needed(stage) - approved.length)
  return stage.approvers.filter(({ id }) => !approved.some((one) => speaksFor(one, id))).length
}

const speaksFor = ({ by, insteadOf = [] }: Decision, id: string): boolean =>
  by.id === id || insteadOf.some((one) => one.id === id)

export const isApproved = (stage: ApprovalStage): boolean => missing(stage) === 0
export const isRejected = (stage: ApprovalStage): boolean =>
  stage.decisions.some(({ decision }) => decision === 'rejected')

/** What an admin decided over the heads of the approvers; of several stages, the last. */
export const overrideOf = (stages: readonly ApprovalStage[]): Decision | undefined =>
  stages.flatMap(({ decisions }) => decisions).findLast(({ override }) => override)

/** The stage whose turn it is; undefined when all are approved or one is rejected. */
export function openStage(stages: readonly ApprovalStage[]): ApprovalStage | undefined {
  if (stages.some(isRejected)) return undefined
  return stages.find((stage) => !isApproved(stage))
}

/** The approvers of a stage for whom nobody has decided yet. */
export const undecided = (stage: ApprovalStage): Person[] =>
  stage.approvers.filter(({ id }) => !stage.decisions.some((one) => speaksFor(one, id)))

/** A quorum counts heads: who has decided there decides for nobody else. */
const isHeard = ({ rule, decisions }: ApprovalStage, personId: string): boolean =>
  rule === 'quorum' && decisions.some(({ by }) => by.id === personId)

/** Those of the undecided for whom a person may decide, themselves among them. */
export function voicesOf(stage: ApprovalStage, personId: string, at: string): Person[] {
  if (isHeard(stage, personId)) return []
  const standing = (stage.standIns ?? []).filter(
    ({ person, until }) => person.id === personId && (until === undefined || until > at),
  )
  return undecided(stage).filter(
    ({ id }) => id === personId || standing.some(({ insteadOf }) => insteadOf.includes(id)),
  )
}

/** Those who can still decide now: the open stage's approvers who have not, and whoever stands in for them. */
export function waitingFor(stages: readonly ApprovalStage[]): Person[] {
  const stage = openStage(stages)
  if (!stage) return []
  const left = undecided(stage)
  const standing = (stage.standIns ?? []).filter(({ insteadOf }) => left.some(({ id }) => insteadOf.includes(id)))
  const people = [...left, ...standing.map(({ person }) => person)]
  return [...new Map(people.map((one) => [one.id, one])).values()].filter(({ id }) => !isHeard(stage, id))
}

/** Everybody who was ever asked: approvers, former ones, and who stands or stood in for them. They may read the request. */
export const everAsked = (stages: readonly ApprovalStage[]): Person[] =>
  stages.flatMap(({ approvers, standIns = [], decisions, reassigned = [] }) => [
    ...approvers,
    ...standIns.map(({ person }) => person),
    ...decisions.map(({ by }) => by),
    ...reassigned.flatMap(({ from }) => from),
  ])
