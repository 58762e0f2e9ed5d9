import { type ApprovalStage, openStage } from './approval.ts'
import { asking } from './approvers.ts'
import { approve as approveAsAsked, reject as rejectAsAsked } from './decision.ts'
import { ProvisioningError } from './errors.ts'
import type { Ports, Settings } from './ports.ts'
import type { Person } from './resource.ts'

type Decide = typeof approveAsAsked

/** `approve` and `reject` by those who are still in the group that was asked, own it, or are an admin. */
export const approve = whileMember(approveAsAsked)
export const reject = whileMember(rejectAsAsked)

/** The directory is asked before the decision, since nothing is asked in a transaction. */
function whileMember(decide: Decide): Decide {
  return async (ports, settings, actor, requestId, ...rest) => {
    await refuseFormerMember(ports, settings, actor, requestId)
    return decide(ports, settings, actor, requestId, ...rest)
  }
}

/**
 * Refuses, as `not-an-approver`, whoever was asked as a member or an owner of a group, or as an admin, and is none any more; the
 * directory is asked anew. Whoever is no approver of the open stage is left to the decision itself, which refuses them.
 */
async function refuseFormerMember(ports: Ports, settings: Settings, actor: Person, requestId: string): Promise<void> {
  const request = await ports.requests.find(requestId)
  const membership = request && openStage(request.approvals)?.membership
  if (request?.status !== 'pendingApproval' || !membership?.people.includes(actor.id)) return
  if (await asking(() => isStillAsked(ports, settings, membership, actor.id))) return
  throw new ProvisioningError('not-an-approver', 'You are not an approver of this request any more.')
}

async function isStillAsked(
  { directory }: Ports,
  settings: Settings,
  { groups, owned = [], admins = false }: NonNullable<ApprovalStage['membership']>,
  personId: string,
): Promise<boolean> {
  const asked = [...groups, ...(admins ? settings.admins : [])]
  if (admins && settings.admins.includes(personId)) return true
  if (asked.length > 0) {
    const now = await directory.groupsOf(personId, { anew: true })
    if (asked.some((id) => now.has(id))) return true
  }
  const owners = await Promise.all(owned.map((id) => directory.ownersOf(id)))
  return owners.flat().some(({ id }) => id === personId)
}
