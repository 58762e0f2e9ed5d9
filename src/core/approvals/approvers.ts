import type { MailboxDetails } from '../resources/index.ts'
import {
  because,
  isMailboxKind,
  type MailboxKind,
  type Person,
  ProvisioningError,
  type ResourceKind,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import { type Applied, type ApprovalPolicy, type Approver, judge, type Template } from '../templates/index.ts'
import { type Found, mayTakePart, stageOf } from './approval.ts'
import type { ApprovalPorts } from './delegation.ts'
import type { ApprovalStage, JudgedStage } from './stage.ts'

/**
 * Storage of a mailbox when no size was requested, in MB: 50 GB, the limit of a mailbox without a licence (Exchange Online
 * limits, "Mailbox storage limits"). It is the same for shared, room and equipment mailboxes.
 */
export const usualCapacity = 50 * 1024

const isEmpty = (value: unknown): boolean => value === undefined || value === ''

/**
 * Sets the template's maximum as the capacity of a mailbox request that names none, where the tenant would give more.
 * `body` is the request as it came, so that a wrong capacity stays the fault that it is.
 */
export function withMaximum<D extends Partial<MailboxDetails>>(
  { limits: { capacityMaximum } }: Pick<Template, 'limits'>,
  body: Readonly<Record<string, unknown>>,
  details: D,
): { readonly details: D; readonly applied: readonly Applied[] } {
  if (!isEmpty(body['capacity']) || capacityMaximum === undefined || capacityMaximum >= usualCapacity)
    return { details, applied: [] }
  const applied = [{ field: 'capacity', value: capacityMaximum, why: 'maximum' }] as const
  return { details: { ...details, capacity: capacityMaximum }, applied }
}

/** What Exchange Online has where a cmdlet does not name the parameter (New-Mailbox, Set-Mailbox, Add-MailboxPermission, Set-Place). */
const usualOfKind: Readonly<Record<MailboxKind, Readonly<Record<string, unknown>>>> = {
  sharedMailbox: { autoMapping: true },
  equipmentMailbox: {},
  roomMailbox: { isWheelChairAccessible: false },
}
const usualOfMailboxes = {
  capacity: usualCapacity,
  permissions: {},
  businessPhones: [],
  tags: [],
  hideFromGAL: false,
  // Exchange has no such rule: the people who use the mailbox may change its reply.
  isAllowAutomaticReplyOverride: true,
} as const
const usualOfRooms = { hasConferencePhone: false, hasWhiteboard: false, hasVideoConferencing: false }

/** A request as far as it could be read, and the names that came of it. */
export interface ConditionFacts {
  readonly details: Readonly<Record<string, unknown>>
  readonly applied: readonly Applied[]
  readonly owners: readonly Person[]
  /** The address that the resource gets: of a site its alias, of a mailbox the part before the `@`. */
  readonly name?: string | undefined
  readonly domain?: string | undefined
  readonly aliasAddress?: string | undefined
}

/**
 * The values by which the conditions of a template are judged: those of the request, and the tenant's own where the request
 * names none. So nobody avoids an approval by leaving out a field that the tenant fills. A template has to require the others.
 * Every evaluation uses this one function.
 */
export function judgedBy({ kind, fields }: Pick<Template, 'kind' | 'fields'>, telling: ConditionFacts): JudgedRequest {
  const { details, applied, owners } = telling
  const own = isMailboxKind(kind) ? {} : { owners }
  const filled = { ...present(details), ...own }
  const isByMaximum = applied.some(({ field, why }) => field === 'capacity' && why === 'maximum')
  const toggles = fields.filter(({ type }) => type === 'toggle').map(({ key }) => [key, false] as const)
  const effective = {
    ...(isMailboxKind(kind) && { ...usualOfMailboxes, ...usualOfKind[kind] }),
    ...present(derivedOf(kind, telling)),
    ...filled,
    metadata: { ...Object.fromEntries(toggles), ...recordIn(details, 'metadata') },
    ...(kind === 'roomMailbox' && {
      roomMailboxMetadata: { ...usualOfRooms, ...recordIn(details, 'roomMailboxMetadata') },
    }),
  }
  return { details: isByMaximum ? { ...filled, capacity: undefined } : filled, effective, owners }
}

const derivedOf = (
  kind: ResourceKind,
  { name, domain, aliasAddress }: ConditionFacts,
): Readonly<Record<string, unknown>> => (isMailboxKind(kind) ? { name, domain, alias: aliasAddress } : { alias: name })

const present = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value)))

function recordIn(details: Readonly<Record<string, unknown>>, field: string): object {
  const value = details[field]
  return typeof value === 'object' && value !== null ? value : {}
}

/** What conditions are judged by: a request's details, and who will answer for what it asks for. */
export interface JudgedRequest {
  readonly details: Readonly<Record<string, unknown>>
  /** The details with the tenant's own values where the request names none. */
  readonly effective: Readonly<Record<string, unknown>>
  readonly owners: readonly Person[]
}
/** The stages that a request has, and how the policy's conditions were judged, where it has any. */
export interface Resolved {
  readonly approvals: ApprovalStage[]
  readonly policy?: JudgedStage[]
}

/**
 * The stages whose conditions hold, with the people that they mean today ({@link stageOf} says who of them is asked).
 * Throws `unavailable` when a stage comes to nobody at all.
 */
export async function resolveApprovals(
  context: SystemContext<ApprovalPorts>,
  policy: ApprovalPolicy | null,
  requester: Person,
  asked: JudgedRequest,
): Promise<Resolved> {
  const { ports } = context
  const stages = policy?.stages ?? []
  const conditions = stages.flatMap(({ when }) => when ?? [])
  const isAboutOwners = conditions.some((one) => 'externalOwners' in one)
  const externalOwners = isAboutOwners ? await namesFromOutside(ports, asked.owners) : []
  const { details, effective } = asked
  const facts = { details, effective, externalOwners }
  const judged = stages.map(({ when = [] }) => when.map((one) => judge(one, facts)))
  const applies = judged.map((all) => all.every(({ holds }) => holds))
  // Numbered without those that are left out, so that people read "1 of 2".
  const numbers = applies.map((one, index) => (one ? applies.slice(0, index + 1).filter(Boolean).length : null))
  const approvals = stages.flatMap((stage, index) => {
    const number = numbers[index]
    return typeof number === 'number' ? [askedIn(context, { stage: number, place: index + 1 }, stage, requester)] : []
  })
  const kept = judged.map((all, index) => ({ place: index + 1, stage: numbers[index] ?? null, conditions: all }))
  return { approvals: await Promise.all(approvals), ...(conditions.length > 0 && { policy: kept }) }
}

async function askedIn(
  { ports, settings }: SystemContext<ApprovalPorts>,
  at: { stage: number; place: number },
  policy: ApprovalPolicy['stages'][number],
  requester: Person,
): Promise<ApprovalStage> {
  const found = await Promise.all(policy.approvers.map((by) => foundBy(ports, by, requester)))
  const without = stageOf(at, policy, found, [], requester.id)
  if (without && !without.resolvedTo) return without
  const admins = await Promise.all(settings.admins.map((id) => foundById(ports, id)))
  const stage = stageOf(at, policy, found, admins, requester.id)
  if (stage) return stage
  throw new ProvisioningError('unavailable', because('nobodyCanApprove'))
}

export async function foundBy(ports: ApprovalPorts, by: Approver, requester: Pick<Person, 'id'>): Promise<Found> {
  const { directory } = ports
  if ('group' in by) return { by, people: await directory.membersOf(by.group) }
  if ('ownersOf' in by) return { by, people: await directory.ownersOf(by.ownersOf) }
  const one = 'user' in by ? await directory.person(by.user) : await directory.manager(requester.id)
  return { by, people: one ? [one] : [] }
}

/** An id of the settings names a person or a group. Blocked and unreadable accounts and guests are left out. */
export const personOrMembers = async (ports: Pick<ApprovalPorts, 'directory'>, id: string): Promise<Person[]> =>
  (await foundById(ports, id)).people.filter(mayTakePart)

/** Returns all admins of today, each once: the people and the members of the groups that the settings name. Throws `unavailable`. */
export async function adminsOf(
  ports: Pick<ApprovalPorts, 'directory'>,
  { admins }: Pick<Settings, 'admins'>,
): Promise<Person[]> {
  const found = (await Promise.all(admins.map((id) => personOrMembers(ports, id)))).flat()
  return [...new Map(found.map((one) => [one.id, one])).values()]
}

export async function foundById({ directory }: Pick<ApprovalPorts, 'directory'>, id: string): Promise<Found> {
  const found = await directory.person(id)
  return { by: { admins: id }, people: found ? [found] : await directory.membersOf(id) }
}

async function namesFromOutside({ directory }: ApprovalPorts, owners: readonly Person[]): Promise<string[]> {
  const external = await Promise.all(owners.map(({ id }) => directory.isExternal(id)))
  return owners.filter((_, index) => external[index]).map(({ displayName }) => displayName)
}
