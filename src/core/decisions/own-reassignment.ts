import { type ApprovalStage, adminsOf, openStage, representedBy } from '../approvals/index.ts'
import type { Request } from '../requests/index.ts'
import { asking, because, type Person, ProvisioningError, type SystemContext } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/*
 * An admin who reassigns a decision to themselves, or to a person they represent, cannot decide alone: a second admin must
 * decide, or choose the approver. Without another admin, or if a setting allows it, the decision counts and is marked.
 */
type Stage = Pick<ApprovalStage, 'reassigned'>
type Reassigned = NonNullable<ApprovalStage['reassigned']>[number]

/** Whether an approver reassigned their own part. Else an admin reassigned another person's. */
const isOwnPart = ({ from, by }: Reassigned): boolean => from.some(({ id }) => id === by.id)

/**
 * Returns the last reassignment by an admin in the history of an approver's part; undefined if no admin has reassigned this
 * part.
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

/** Returns the parts that a person may decide because of their own reassignment, as approvers; may include the person. */
export const ownReassigned = (stage: ApprovalStage, personId: string, at: string): Person[] =>
  representedBy(stage, personId, at).filter(({ id }) => movedBy(stage, id)?.by.id === personId)

/** Whether a person has ever reassigned another person's part in a request. Only then the other admins must be looked up. */
export const hasReassigned = (stages: readonly Stage[], personId: string): boolean =>
  stages.some(({ reassigned = [] }) => reassigned.some((step) => step.by.id === personId && !isOwnPart(step)))

/**
 * Whether an override would decide a part that its admin has reassigned to themselves: ever in this request, even if it was
 * reassigned again later; or, in the open stage, to a person they represent.
 */
export function overridesOwn(stages: readonly ApprovalStage[], personId: string, at: string): boolean {
  const toThemselves = (step: Reassigned) => step.by.id === personId && step.to.id === personId && !isOwnPart(step)
  const open = openStage(stages)
  return (
    stages.some(({ reassigned = [] }) => reassigned.some(toThemselves)) ||
    (open !== undefined && ownReassigned(open, personId, at).length > 0)
  )
}

/** Whether a person cannot decide a stage without a second admin, as recorded at the reassignment. For cards. */
export function needsSecondAdmin(stage: ApprovalStage, personId: string, at: string): boolean {
  const represented = representedBy(stage, personId, at)
  const isHeld = ({ id }: Person): boolean => {
    const step = movedBy(stage, id)
    return step?.by.id === personId && step.needsSecondAdmin === true
  }
  return represented.length > 0 && represented.every(isHeld)
}

/**
 * Returns the other admins who can decide a request: not the requester, blocked accounts or guests. Empty also if a setting lets
 * admins decide alone. Throws `unavailable`.
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
 * Throws `second-admin-needed` with the names of two other admins, if there are any. `others` is undefined if the request was not
 * reassigned when it was read.
 */
export function refuseAlone(others: readonly Person[] | undefined): void {
  if (others === undefined) throw new ProvisioningError('unavailable', because('requestChanged'))
  if (others.length === 0) return
  const people = others.slice(0, 2)
  const [first = '', second = ''] = people.map(({ displayName }) => displayName)
  const reason = because('secondAdminNeeded', { count: people.length, first, second })
  throw new ProvisioningError('second-admin-needed', reason, { context: { people } })
}
