import { type Account, asPerson, because, type Person, ProvisioningError } from '../shared/index.ts'
import type { Approver, StagePolicy } from '../templates/index.ts'
import { type ApprovalStage, type Decision, isApproved, isExcluded, openStage, representedBy } from './stage.ts'

/** Whether the directory shows an enabled account of the organisation that is not a guest. */
export const mayTakePart = ({ isBlocked, isGuest, unread }: Account): boolean => !isBlocked && !isGuest && !unread
/** The people that one line of a policy, or of the setting for admins, names today. */
export interface Found {
  readonly by: Approver | { readonly admins: string }
  readonly people: readonly Account[]
}

/**
 * Returns one stage of a request, with each approver once. Leaves out blocked accounts, guests and, unless the policy allows it,
 * the requester. If nobody remains, the admins are the approvers, and the rule `all` becomes `any`. If fewer people remain than a
 * quorum needs, the admins are added. Undefined: there are no admins either.
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
  const lines = ownPeople.length > 0 && !isShort ? own : [...own, ...eligible(admins, requesterId)]
  const approvers = distinct(lines)
  if (approvers.length === 0) return undefined
  const resolvedTo = lines === own ? undefined : ownPeople.length > 0 ? 'peopleAndAdmins' : 'admins'
  const membership = membershipOf(lines)
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

/** Returns the people who are approvers only through groups or as admins. A manager is not: the person stays an approver. */
export function membershipOf(lines: readonly Found[]): NonNullable<ApprovalStage['membership']> {
  const groups = [...new Set(lines.flatMap(({ by }) => ('group' in by ? by.group : [])))]
  const owned = [...new Set(lines.flatMap(({ by }) => ('ownersOf' in by ? by.ownersOf : [])))]
  const admins = lines.some(({ by }) => 'admins' in by)
  const direct = distinct(lines.filter(({ by }) => 'user' in by || 'manager' in by)).map(({ id }) => id)
  const people = distinct(lines)
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
 * Records a person's decision on the open stage, for themselves and the approvers they stand in for. `lapsed`: people who are
 * no longer approvers. One rejection ends the request; the stage's rule decides how many approvals it needs.
 * Throws `self-approval`, `not-an-approver`, or `already-decided` with the name and time of the earlier decision.
 */
export function decide(
  stages: readonly ApprovalStage[],
  requesterId: string,
  decision: Decision,
  lapsed: readonly string[] = [],
): { stages: ApprovalStage[]; outcome: Outcome } {
  const { by, at } = decision
  const stage = openStage(stages)
  if (by.id === requesterId && !mayDecideOwn(stages))
    throw new ProvisioningError('self-approval', because('ownRequest'))
  const represented = stage ? representedBy(stage, by.id, at) : []
  const entitled = represented.filter(({ id }) => !lapsed.includes(id))
  if (stage && isExcluded(stage, by.id)) throw new ProvisioningError('not-an-approver', because('approvedEarlierStage'))
  if (!stage || represented.length === 0) throw lateDecision(stages, by.id, at)
  if (entitled.length === 0) throw new ProvisioningError('not-an-approver', because('approverNoMore'))
  const insteadOf = othersRepresented(stage, by.id, entitled)
  const own = { ...decision, ...(insteadOf.length > 0 && { insteadOf }) }
  const decided = { ...stage, decisions: [...stage.decisions, own] }
  const next = stages.map((each) => (each.stage === stage.stage ? decided : each))
  if (decision.decision === 'rejected') return { stages: next, outcome: 'rejected' }
  if (!isApproved(decided)) return { stages: next, outcome: 'waiting' }
  return { stages: next, outcome: openStage(next) ? 'next-stage' : 'approved' }
}

/**
 * Returns the other approvers that a person represents. A quorum counts people, so the decision counts once: for the person if
 * they are an approver, else for one represented approver. The others can still decide, so an approver who is excluded or
 * unreachable is represented first.
 */
function othersRepresented(stage: ApprovalStage, personId: string, entitled: readonly Person[]): Person[] {
  const others = entitled.filter(({ id }) => id !== personId)
  if (stage.rule !== 'quorum') return others
  if (others.length < entitled.length) return []
  const excluded = others.filter(({ id }) => isExcluded(stage, id))
  const unreachable = others.filter(({ id }) => stage.unreachable?.some(({ person }) => person.id === id))
  return [...excluded, ...unreachable, ...others].slice(0, 1)
}

/** Returns the reason why a person cannot decide: already decided, reassigned, delegation over, or not an approver. */
function lateDecision(stages: readonly ApprovalStage[], personId: string, at: string): ProvisioningError {
  const stage = openStage(stages)
  const all = stages.flatMap(({ decisions }) => decisions)
  const own = all.find(({ by }) => by.id === personId)
  const isAsked = stage?.approvers.some(({ id }) => id === personId)
  if (!stage || own) return alreadyDecided(stages, own)
  const stood = stage.standIns?.filter(({ person }) => person.id === personId) ?? []
  if (stood.some(({ until }) => until !== undefined && until <= at))
    return new ProvisioningError('not-an-approver', because('standInEnded'))
  const represented = [...(isAsked ? [personId] : []), ...stood.flatMap(({ insteadOf }) => insteadOf)]
  const instead = stage.decisions.find(({ insteadOf = [], by }) =>
    represented.some((id) => by.id === id || insteadOf.some((one) => one.id === id)),
  )
  if (instead) return alreadyDecided(stages, instead)
  const to = stage.reassigned?.findLast(({ from }) => from.some(({ id }) => id === personId))?.to
  const reason = to ? because('reassignedTo', { name: to.displayName }) : because('notApprover')
  return new ProvisioningError('not-an-approver', reason)
}

/** Whether the policy lets the requester decide the open stage; without an open stage, any stage. */
function mayDecideOwn(stages: readonly ApprovalStage[]): boolean {
  const open = openStage(stages)
  return open ? open.selfApproval === true : stages.some(({ selfApproval }) => selfApproval)
}

export function alreadyDecided(stages: readonly ApprovalStage[], earlier = lastDecision(stages)): ProvisioningError {
  if (!earlier) return new ProvisioningError('already-decided', because('decided'))
  const { by, at, decision } = earlier
  const reason = because('decidedBy', { name: by.displayName, decision, at: at.replace(/\.\d+/, '') })
  return new ProvisioningError('already-decided', reason, { context: { by: by.displayName, at } })
}
