import { type ApprovalStage, approvalStage } from './approval.ts'
import { ProvisioningError, TenantError } from './errors.ts'
import type { Ports, Settings } from './ports.ts'
import type { Person } from './resource.ts'
import type { ApprovalPolicy } from './template.ts'

/** A directory that does not answer is "try again", not a defect. */
export async function asking<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof TenantError)) throw error
    throw new ProvisioningError(
      'unavailable',
      'The directory does not answer just now. Please try again in a minute.',
      { cause: error },
    )
  }
}

/** The people that a policy means today. Nobody approves their own request; a stage that nobody is left for goes to the admins. */
export async function resolveApprovals(
  ports: Ports,
  settings: Settings,
  policy: ApprovalPolicy | null,
  requester: Person,
): Promise<ApprovalStage[]> {
  const stages = (policy?.stages ?? []).map(async ({ approvers, rule, quorum }, index) => {
    const named = await Promise.all(approvers.map((one) => peopleOf(ports, one, requester)))
    let people = others(named.flat(), requester)
    if (people.length === 0)
      people = others((await Promise.all(settings.admins.map((id) => personOrMembers(ports, id)))).flat(), requester)
    if (people.length === 0)
      throw new ProvisioningError('unavailable', 'Nobody can approve this request at present. Please tell an admin.')
    return approvalStage.parse({ stage: index + 1, rule, quorum, approvers: people, decisions: [] })
  })
  return Promise.all(stages)
}

async function peopleOf(
  ports: Ports,
  approver: ApprovalPolicy['stages'][number]['approvers'][number],
  requester: Person,
): Promise<Person[]> {
  if ('group' in approver) return ports.directory.membersOf(approver.group)
  const found =
    'user' in approver ? await ports.directory.person(approver.user) : await ports.directory.manager(requester.id)
  return found ? [found] : []
}

/** An id of the settings names a person or a group. */
export async function personOrMembers(ports: Ports, id: string): Promise<Person[]> {
  const found = await ports.directory.person(id)
  return found ? [found] : ports.directory.membersOf(id)
}

function others(people: readonly Person[], requester: Person): Person[] {
  const byId = new Map(people.filter(({ id }) => id !== requester.id).map((one) => [one.id, one]))
  return [...byId.values()]
}
