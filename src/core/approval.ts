import { z } from 'zod'
import type { Approver, StagePolicy } from './approval-policy.ts'
import { judgedCondition } from './condition.ts'
import { ProvisioningError } from './errors.ts'
import { instant, type Person, person } from './resource.ts'

export const decision = z.object({
  by: person,
  decision: z.enum(['approved', 'rejected']),
  comment: z.string().optional(),
  at: instant,
})
export type Decision = z.output<typeof decision>

/** One stage of a request's approval, with the people that the policy resolved to when it was submitted. */
export const approvalStage = z.object({
  stage: z.int().min(1),
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
})
export type ApprovalStage = z.output<typeof approvalStage>

/** A stage of the template's policy as it was judged: its place there, and here; null = left out. Places count from 1. */
export const judgedStage = z.object({
  place: z.int(),
  stage: z.int().nullable(),
  conditions: z.array(judgedCondition),
})
export type JudgedStage = z.output<typeof judgedStage>

/** A person as the directory knows them now. */
export interface Account extends Person {
  readonly isBlocked?: true
  readonly isGuest?: true
}
/** Whom one line of a policy, or of the admins' setting, comes to. */
export interface Found {
  readonly by: Approver | { readonly admins: string }
  readonly people: readonly Account[]
}

/**
 * One stage of a request. Blocked accounts and guests decide nothing; who asks only where the policy says so. Everybody is asked once, by however many ways. When nobody is left the admins stand in, any one of them for
 * "all"; when fewer are left than a quorum needs, the admins are asked beside them. Undefined when there are no admins either.
 */
export function stageOf(
  stage: number,
  policy: StagePolicy,
  found: readonly Found[],
  admins: readonly Found[],
  requesterId: string,
): ApprovalStage | undefined {
  const { rule, quorum, selfApproval } = policy
  const own = eligible(found, selfApproval ? undefined : requesterId)
  const ownPeople = distinct(own)
  const isShort = rule === 'quorum' && ownPeople.length < (quorum ?? 1)
  const asked = ownPeople.length > 0 && !isShort ? own : [...own, ...eligible(admins, requesterId)]
  const approvers = distinct(asked)
  if (approvers.length === 0) return undefined
  const resolvedTo = asked === own ? undefined : ownPeople.length > 0 ? 'peopleAndAdmins' : 'admins'
  const membership = membershipOf(asked)
  return {
    stage,
    rule: resolvedTo === 'admins' && rule === 'all' ? 'any' : rule,
    ...(quorum !== undefined && { quorum }),
    approvers,
    decisions: [],
    ...(membership.people.length > 0 && { membership }),
    ...(selfApproval && { selfApproval }),
    ...(resolvedTo && {
      resolvedTo,
      resolvedFor: isShort && own.length > 0 ? 'tooFew' : whyNobody(found, requesterId),
    }),
  }
}

const eligible = (found: readonly Found[], withoutId: string | undefined): Found[] =>
  found
    .map((line) => ({
      ...line,
      people: line.people.filter(({ id, isBlocked, isGuest }) => id !== withoutId && !isBlocked && !isGuest),
    }))
    .filter(({ people }) => people.length > 0)

const distinct = (found: readonly Found[]): Person[] => [
  ...new Map(
    found
      .flatMap(({ people }) => people)
      .map(({ id, displayName, userPrincipalName }) => [id, { id, displayName, userPrincipalName }]),
  ).values(),
]

/** Who is asked only through groups or as an admin. A manager is asked as a person: whoever it was then. */
function membershipOf(asked: readonly Found[]): NonNullable<ApprovalStage['membership']> {
  const groups = [...new Set(asked.flatMap(({ by }) => ('group' in by ? by.group : [])))]
  const owned = [...new Set(asked.flatMap(({ by }) => ('ownersOf' in by ? by.ownersOf : [])))]
  const admins = asked.some(({ by }) => 'admins' in by)
  const direct = distinct(asked.filter(({ by }) => 'user' in by || 'manager' in by)).map(({ id }) => id)
  const people = distinct(asked)
    .map(({ id }) => id)
    .filter((id) => !direct.includes(id))
  return { groups, ...(owned.length > 0 && { owned }), ...(admins && { admins }), people }
}

function whyNobody(found: readonly Found[], requesterId: string): NonNullable<ApprovalStage['resolvedFor']> {
  const people = found.flatMap((line) => line.people)
  if (people.some(({ id }) => id === requesterId)) return 'onlyRequester'
  if (people.some(({ isBlocked }) => isBlocked)) return 'blocked'
  if (people.some(({ isGuest }) => isGuest)) return 'onlyGuests'
  return found.every(({ by }) => 'manager' in by) ? 'noManager' : 'nobodyFound'
}

/** How many approvals end a stage. */
export function needed(stage: ApprovalStage): number {
  if (stage.rule === 'any') return 1
  return stage.rule === 'all' ? stage.approvers.length : Math.min(stage.quorum ?? 1, stage.approvers.length)
}

const approvals = (stage: ApprovalStage) => stage.decisions.filter(({ decision }) => decision === 'approved').length
export const isApproved = (stage: ApprovalStage): boolean => approvals(stage) >= needed(stage)
export const isRejected = (stage: ApprovalStage): boolean =>
  stage.decisions.some(({ decision }) => decision === 'rejected')

/** The stage whose turn it is; undefined when all are approved or one is rejected. */
export function openStage(stages: readonly ApprovalStage[]): ApprovalStage | undefined {
  if (stages.some(isRejected)) return undefined
  return stages.find((stage) => !isApproved(stage))
}

/** Those who can still decide now: the open stage's approvers who have not. */
export function waitingFor(stages: readonly ApprovalStage[]): Person[] {
  const stage = openStage(stages)
  return stage?.approvers.filter(({ id }) => !stage.decisions.some(({ by }) => by.id === id)) ?? []
}

export const lastDecision = (stages: readonly ApprovalStage[]): Decision | undefined =>
  stages
    .flatMap(({ decisions }) => decisions)
    .sort((one, other) => one.at.localeCompare(other.at))
    .at(-1)

export type Outcome = 'waiting' | 'next-stage' | 'approved' | 'rejected'

/**
 * Records one person's decision on the open stage. One rejection ends the request; a stage ends with its rule.
 * Throws `self-approval`, `not-an-approver` or `already-decided`, the last naming who decided and when.
 */
export function decide(
  stages: readonly ApprovalStage[],
  requesterId: string,
  given: Decision,
): { stages: ApprovalStage[]; outcome: Outcome } {
  const { by } = given
  const stage = openStage(stages)
  if (by.id === requesterId && !mayDecideOwn(stages))
    throw new ProvisioningError('self-approval', 'You asked for this yourself, so somebody else has to decide.')
  const earlier = stages.flatMap(({ decisions }) => decisions).find((known) => known.by.id === by.id)
  if (!stage || (earlier && !waitingFor(stages).some(({ id }) => id === by.id))) throw alreadyDecided(stages, earlier)
  if (!stage.approvers.some(({ id }) => id === by.id)) {
    throw new ProvisioningError('not-an-approver', 'You are not an approver of this request.')
  }
  const decided = { ...stage, decisions: [...stage.decisions, given] }
  const next = stages.map((each) => (each.stage === stage.stage ? decided : each))
  if (given.decision === 'rejected') return { stages: next, outcome: 'rejected' }
  if (!isApproved(decided)) return { stages: next, outcome: 'waiting' }
  return { stages: next, outcome: openStage(next) ? 'next-stage' : 'approved' }
}

/** Whether the policy lets who asks decide: in the stage whose turn it is, or, when none is, in any. */
function mayDecideOwn(stages: readonly ApprovalStage[]): boolean {
  const open = openStage(stages)
  return open ? open.selfApproval === true : stages.some(({ selfApproval }) => selfApproval)
}

export function alreadyDecided(stages: readonly ApprovalStage[], earlier = lastDecision(stages)): ProvisioningError {
  const context = earlier ? { by: earlier.by.displayName, at: earlier.at } : {}
  return new ProvisioningError(
    'already-decided',
    earlier
      ? `${earlier.by.displayName} has already ${earlier.decision} it, on ${earlier.at}.`
      : 'This is already decided.',
    { context },
  )
}
