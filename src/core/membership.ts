import { openStage } from './approval.ts'
import { asking } from './approvers.ts'
import { approve as approveAsAsked, reject as rejectAsAsked } from './decision.ts'
import { ProvisioningError } from './errors.ts'
import type { Ports } from './ports.ts'
import type { Person } from './resource.ts'

type Decide = typeof approveAsAsked

/** `approve` and `reject` by those who are still members of the group that was asked. */
export const approve = whileMember(approveAsAsked)
export const reject = whileMember(rejectAsAsked)

/** The directory is asked before the decision, since nothing is asked in a transaction. */
function whileMember(decide: Decide): Decide {
  return async (ports, settings, actor, requestId, ...rest) => {
    await refuseFormerMember(ports, actor, requestId)
    return decide(ports, settings, actor, requestId, ...rest)
  }
}

/**
 * Refuses, as `not-an-approver`, whoever was asked as a member of a group and has left it since; the directory's answer may
 * be a minute old. Whoever is no approver of the open stage is left to the decision itself, which refuses them.
 */
async function refuseFormerMember(ports: Ports, actor: Person, requestId: string): Promise<void> {
  const request = await ports.requests.find(requestId)
  const membership = request && openStage(request.approvals)?.membership
  if (request?.status !== 'pendingApproval' || !membership?.people.includes(actor.id)) return
  const groups = await asking(() => ports.directory.groupsOf(actor.id))
  if (membership.groups.some((id) => groups.has(id))) return
  throw new ProvisioningError('not-an-approver', 'You are not an approver of this request any more.')
}
