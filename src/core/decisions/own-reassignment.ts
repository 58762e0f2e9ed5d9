import { type ApprovalStage, adminsOf, openStage, voicesOf } from '../approvals/index.ts'
import type { Request } from '../requests/index.ts'
import { asking, because, type Person, ProvisioningError, type SystemContext } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/*
 * An admin who reassigns a decision to themselves, or to a person for whom they decide, does not make it alone: a second admin
 * has to decide, or to choose who does. Where there is no other admin, or a setting says so, the decision counts and is marked.
 */
type Stage = Pick<ApprovalStage, 'reassigned'>
type Reassigned = NonNullable<ApprovalStage['reassigned']>[number]

/** Approvers give away their own part; everything else is an admin who moves somebody else's. */
const isOwnPart = ({ from, by }: Reassigned): boolean => from.some(({ id }) => id === by.id)

/**
 * The admin who moved the part that an approver has now, and how: the last such step before people gave away their own parts.
 * Undefined for the approvers whom the policy found.
 */
function movedBy({ reassigned = [] }: Stage, approverId: string): Reassigned | undefined {
  let holder = approverId
  for (const step of reassigned.toReversed()) {
    if (step.to.id !== holder) continue
    if (!isOwnPart(step)) return step
    holder = step.from[0]?.id ?? holder
  }
  return undefined
}

/** Those for whom a person may decide now, themselves among them, by a reassignment of their own. */
export const ownReassigned = (stage: ApprovalStage, personId: string, at: string): Person[] =>
  voicesOf(stage, personId, at).filter(({ id }) => movedBy(stage, id)?.by.id === personId)

/** Whether a person has ever moved somebody else's part in a request. Until then nobody has to be looked up. */
export const hasReassigned = (stages: readonly Stage[], personId: string): boolean =>
  stages.some(({ reassigned = [] }) => reassigned.some((step) => step.by.id === personId && !isOwnPart(step)))

/**
 * Whether an override would decide what its admin has reassigned to themselves: ever on this request directly, so that passing it
 * on again changes nothing, or in the open stage to a person for whom they decide.
 */
export function overridesOwn(stages: readonly ApprovalStage[], personId: string, at: string): boolean {
  const toThemselves = (step: Reassigned) => step.by.id === personId && step.to.id === personId && !isOwnPart(step)
  const open = openStage(stages)
  return (
    stages.some(({ reassigned = [] }) => reassigned.some(toThemselves)) ||
    (open !== undefined && ownReassigned(open, personId, at).length > 0)
  )
}

/** Whether all that a person could decide now needs a second admin, as was found when they reassigned it. For cards. */
export function needsSecondAdmin(stage: ApprovalStage, personId: string, at: string): boolean {
  const voices = voicesOf(stage, personId, at)
  const isHeld = ({ id }: Person): boolean => {
    const step = movedBy(stage, id)
    return step?.by.id === personId && step.needsSecondAdmin === true
  }
  return voices.length > 0 && voices.every(isHeld)
}

/**
 * The other admins who can decide a request instead of one of them. Blocked accounts, guests and the requester cannot. Empty
 * too where a setting lets admins decide alone. Throws `unavailable`.
 */
export async function otherAdmins(
  { ports, settings }: SystemContext<DecisionPorts>,
  { requester }: Pick<Request, 'requester'>,
  adminId: string,
): Promise<Person[]> {
  if (settings.adminDecidesOwnReassignment) return []
  const admins = await asking(() => adminsOf(ports, settings))
  return admins.filter(({ id }) => id !== adminId && id !== requester.id)
}

/**
 * Throws `second-admin-needed` where there are other admins, and names two of them. `others` is undefined if nobody was looked up
 * since the request did not say then that it was reassigned.
 */
export function refuseAlone(others: readonly Person[] | undefined): void {
  if (others === undefined) throw new ProvisioningError('unavailable', because('requestChanged'))
  if (others.length === 0) return
  const people = others.slice(0, 2)
  const [first = '', second = ''] = people.map(({ displayName }) => displayName)
  const reason = because('secondAdminNeeded', { count: people.length, first, second })
  throw new ProvisioningError('second-admin-needed', reason, { context: { people } })
}
