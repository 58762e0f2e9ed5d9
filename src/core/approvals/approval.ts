import { type Account, asPerson, because, type Person, ProvisioningError } from '../shared/index.ts'
import type { Approver, StagePolicy } from '../templates/index.ts'
import { type ApprovalStage, type Decision, isApproved, openStage, voicesOf } from './stage.ts'

/** Whether the directory says that this is an enabled account of the organisation's own. */
export const mayTakePart = ({ isBlocked, isGuest, unread }: Account): boolean => !isBlocked && !isGuest && !unread
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
  { stage, place }: { stage: number; place: number },
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
    place,
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

export const eligible = (found: readonly Found[], withoutId: string | undefined): Found[] =>
  found
    .map((line) => ({
      ...line,
      people: line.people.filter((one) => one.id !== withoutId && mayTakePart(one)),
    }))
    .filter(({ people }) => people.length > 0)

export const distinct = (found: readonly Found[]): Person[] => [
  ...new Map(found.flatMap(({ people }) => people).map((one) => [one.id, asPerson(one)])).values(),
]

/** Who is asked only through groups or as an admin. A manager is asked as a person: whoever it was then. */
export function membershipOf(asked: readonly Found[]): NonNullable<ApprovalStage['membership']> {
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

export const lastDecision = (stages: readonly ApprovalStage[]): Decision | undefined =>
  stages
    .flatMap(({ decisions }) => decisions)
    .sort((one, other) => one.at.localeCompare(other.at))
    .at(-1)

export type Outcome = 'waiting' | 'next-stage' | 'approved' | 'rejected'

/**
 * Records one person's decision on the open stage, for themselves and for whom they stand in, except for those of `lapsed`,
 * who are no approvers any more. One rejection ends the request; a stage ends with its rule.
 * Throws `self-approval`, `not-an-approver` or `already-decided`, the last naming who decided and when.
 */
export function decide(
  stages: readonly ApprovalStage[],
  requesterId: string,
  given: Decision,
  lapsed: readonly string[] = [],
): { stages: ApprovalStage[]; outcome: Outcome } {
  const { by, at } = given
  const stage = openStage(stages)
  if (by.id === requesterId && !mayDecideOwn(stages))
    throw new ProvisioningError('self-approval', because('ownRequest'))
  const voices = stage ? voicesOf(stage, by.id, at) : []
  const holding = voices.filter(({ id }) => !lapsed.includes(id))
  if (!stage || voices.length === 0) throw tooLate(stages, by.id, at)
  if (holding.length === 0) throw new ProvisioningError('not-an-approver', because('approverNoMore'))
  const insteadOf = spokenFor(stage, by.id, holding)
  const own = { ...given, ...(insteadOf.length > 0 && { insteadOf }) }
  const decided = { ...stage, decisions: [...stage.decisions, own] }
  const next = stages.map((each) => (each.stage === stage.stage ? decided : each))
  if (given.decision === 'rejected') return { stages: next, outcome: 'rejected' }
  if (!isApproved(decided)) return { stages: next, outcome: 'waiting' }
  return { stages: next, outcome: openStage(next) ? 'next-stage' : 'approved' }
}

/**
 * Those for whom a decision is given beside their own. A quorum counts heads: there it is one voice, their own where they have
 * one, so that whoever else they stand in for can still decide.
 */
function spokenFor({ rule }: ApprovalStage, personId: string, holding: readonly Person[]): Person[] {
  const others = holding.filter(({ id }) => id !== personId)
  if (rule !== 'quorum') return others
  return others.length === holding.length ? others.slice(0, 1) : []
}

/** Why somebody decides nothing now: they or another did, the request went to somebody else, or they never were asked. */
function tooLate(stages: readonly ApprovalStage[], personId: string, at: string): ProvisioningError {
  const stage = openStage(stages)
  const all = stages.flatMap(({ decisions }) => decisions)
  const own = all.find(({ by }) => by.id === personId)
  const isAsked = stage?.approvers.some(({ id }) => id === personId)
  if (!stage || own) return alreadyDecided(stages, own)
  const stood = stage.standIns?.filter(({ person }) => person.id === personId) ?? []
  if (stood.some(({ until }) => until !== undefined && until <= at))
    return new ProvisioningError('not-an-approver', because('standInEnded'))
  const voices = [...(isAsked ? [personId] : []), ...stood.flatMap(({ insteadOf }) => insteadOf)]
  const instead = stage.decisions.find(({ insteadOf = [], by }) =>
    voices.some((id) => by.id === id || insteadOf.some((one) => one.id === id)),
  )
  if (instead) return alreadyDecided(stages, instead)
  const to = stage.reassigned?.findLast(({ from }) => from.some(({ id }) => id === personId))?.to
  const reason = to ? because('reassignedTo', { name: to.displayName }) : because('notApprover')
  return new ProvisioningError('not-an-approver', reason)
}

/** Whether the policy lets who asks decide: in the stage whose turn it is, or, when none is, in any. */
function mayDecideOwn(stages: readonly ApprovalStage[]): boolean {
  const open = openStage(stages)
  return open ? open.selfApproval === true : stages.some(({ selfApproval }) => selfApproval)
}

export function alreadyDecided(stages: readonly ApprovalStage[], earlier = lastDecision(stages)): ProvisioningError {
  if (!earlier) return new ProvisioningError('already-decided', because('decided'))
  const { by, at, decision } = earlier
  const reason = because('decidedBy', { name: by.displayName, decision, at })
  return new ProvisioningError('already-decided', reason, { context: { by: by.displayName, at } })
}
