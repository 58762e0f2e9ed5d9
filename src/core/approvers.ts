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

/**
 * The people that a policy means today. Nobody approves their own request; a stage that nobody is left for goes to the
 * admins.
 */
export async function resolveApprovals(
  ports: Ports,
  settings: Settings,
  policy: ApprovalPolicy | null,
  requester: Person,
): Promise<ApprovalStage[]> {
  const stages = (policy?.stages ?? []).map(async ({ approvers, rule, quorum }, index) => {
    const named = await Promise.all(approvers.map((one) => askedBy(ports, one, requester)))
    const asked = distinct(named, requester)
    const { people, membership } = asked.people.length > 0 ? asked : await adminsBut(requester, ports, settings)
    if (people.length === 0)
      throw new ProvisioningError('unavailable', 'Nobody can approve this request at present. Please tell an admin.')
    const stage = { stage: index + 1, rule, quorum, approvers: people, decisions: [] }
    return approvalStage.parse({ ...stage, ...(membership.people.length > 0 && { membership }) })
  })
  return Promise.all(stages)
}

/** The people that one line of a policy means, and the group that they are members of. */
interface Asked {
  readonly people: readonly Person[]
  readonly group?: string
}

async function askedBy(
  ports: Ports,
  approver: ApprovalPolicy['stages'][number]['approvers'][number],
  requester: Person,
): Promise<Asked> {
  if ('group' in approver) return { people: await ports.directory.membersOf(approver.group), group: approver.group }
  const found =
    'user' in approver ? await ports.directory.person(approver.user) : await ports.directory.manager(requester.id)
  return { people: await employees(ports, found) }
}

/** An id of the settings names a person or a group. */
export const personOrMembers = async (ports: Ports, id: string): Promise<Person[]> => [
  ...(await askedById(ports, id)).people,
]

async function askedById(ports: Ports, id: string): Promise<Asked> {
  const found = await ports.directory.person(id)
  return found ? { people: await employees(ports, found) } : { people: await ports.directory.membersOf(id), group: id }
}

/** Guests are let into nothing, so a stage that asked one would wait in vain. */
const employees = async (ports: Ports, found: Person | undefined): Promise<Person[]> =>
  found && !(await ports.directory.isGuest(found.id)) ? [found] : []

const adminsBut = async (requester: Person, ports: Ports, { admins }: Settings) =>
  distinct(await Promise.all(admins.map((id) => askedById(ports, id))), requester)

/** Everybody but the requester once, and who of them is asked only as a member of groups. */
function distinct(asked: readonly Asked[], requester: Person) {
  const byId = new Map(asked.flatMap(({ people }) => people).map((one) => [one.id, one]))
  byId.delete(requester.id)
  const named = new Set(asked.flatMap(({ people, group }) => (group === undefined ? people.map(({ id }) => id) : [])))
  const groups = [...new Set(asked.flatMap(({ group }) => group ?? []))]
  const people = [...byId.values()]
  return { people, membership: { groups, people: people.map(({ id }) => id).filter((id) => !named.has(id)) } }
}
