import { type ApprovalStage, openStage, voicesOf } from './approval-stage.ts'
import { asking } from './approvers.ts'
import { approve as approveAsAsked, type Decide, reject as rejectAsAsked } from './decision.ts'
import { awayOf } from './open-stage.ts'
import type { Ports, Settings } from './ports.ts'
import type { Request } from './request.ts'

/** `approve` and `reject` by those who are still in the group that was asked, own it, or are an admin. */
export const approve = whileMember(approveAsAsked)
export const reject = whileMember(rejectAsAsked)

/** The directory is asked before the decision, since nothing is asked in a transaction. */
function whileMember(decide: Decide): Decide {
  return async (ports, settings, actor, requestId, comment, attempt) => {
    const request = await ports.requests.find(requestId)
    if (request?.status !== 'pendingApproval') return decide(ports, settings, actor, requestId, comment, attempt)
    const at = ports.clock.now().toISOString()
    const [lapsed, away] = await Promise.all([
      asking(() => lapsedOf(ports, settings, request, actor.id, at)),
      awayOf(ports, request, at),
    ])
    return decide(ports, settings, actor, requestId, comment, attempt, { lapsed, away })
  }
}

/**
 * Those for whom somebody would decide, themselves among them, who were asked as members or owners of a group, or as admins,
 * and are none any more; the directory is asked anew. An admin or a member who stands in and is none any more speaks for nobody.
 */
async function lapsedOf(
  ports: Ports,
  settings: Settings,
  { approvals }: Request,
  personId: string,
  at: string,
): Promise<string[]> {
  const stage = openStage(approvals)
  const membership = stage?.membership
  if (!stage || !membership) return []
  const voices = voicesOf(stage, personId, at).map(({ id }) => id)
  const asMembers = [...new Set([...voices, personId])].filter((id) => membership.people.includes(id))
  const still = await Promise.all(asMembers.map((id) => isStillAsked(ports, settings, membership, id)))
  const lapsed = asMembers.filter((_, index) => !still[index])
  if (!lapsed.includes(personId)) return lapsed
  // A delegate was chosen by who is away, and not by what they are a member of.
  const delegated = (stage.standIns ?? []).filter((one) => one.why === 'delegated' && one.person.id === personId)
  const kept = delegated.flatMap(({ insteadOf }) => insteadOf).filter((id) => !lapsed.includes(id))
  return voices.filter((id) => !kept.includes(id))
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
