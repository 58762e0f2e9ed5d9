import type { MailboxDetails } from '../resources/index.ts'
import {
  isMailboxKind,
  type MailboxKind,
  type Person,
  type ResourceKind,
  type Settings,
  type SystemContext,
  unreadable,
} from '../shared/index.ts'
import { type Applied, type ApprovalPolicy, type Approver, judge, type Template } from '../templates/index.ts'
import { type Found, mayTakePart, stageOf } from './approval.ts'
import type { ApprovalPorts } from './delegation.ts'
import type { ApprovalStage, JudgedStage } from './stage.ts'

/**
 * Storage of a mailbox when no size was requested, in MB: 50 GB, the limit of a mailbox without a licence (Exchange Online
 * limits, "Mailbox storage limits"). It is the same for shared, room and equipment mailboxes.
 */
const usualCapacity = 50 * 1024

const isEmpty = (value: unknown): boolean => value === undefined || value === ''

/**
 * Sets the capacity of a mailbox request without one to the template's maximum, if the tenant's default is larger. `body` is the
 * received request: an invalid capacity in it stays a fault.
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

/** Exchange Online's defaults for omitted parameters (New-Mailbox, Set-Mailbox, Add-MailboxPermission, Set-Place). */
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
  // Exchange has no such setting: everybody with access may change the automatic reply.
  isAllowAutomaticReplyOverride: true,
} as const
const usualOfRooms = { hasConferencePhone: false, hasWhiteboard: false, hasVideoConferencing: false }

/** The valid parts of a request, and the names derived from them. */
interface ConditionFacts {
  readonly details: Readonly<Record<string, unknown>>
  readonly applied: readonly Applied[]
  readonly owners: readonly Person[]
  /** The alias of the site, or the part of the mailbox's address before the `@`. */
  readonly name?: string | undefined
  readonly domain?: string | undefined
  readonly aliasAddress?: string | undefined
}

/**
 * Returns the values for the conditions of a template: those of the request, and the tenant's defaults for omitted fields. So
 * nobody avoids an approval by omitting a field with a default. A template must require all other fields of its conditions.
 */
export function judgedBy({ kind, fields }: Pick<Template, 'kind' | 'fields'>, facts: ConditionFacts): JudgedRequest {
  const { details, applied, owners } = facts
  const own = isMailboxKind(kind) ? {} : { owners }
  const filled = { ...present(details), ...own }
  const isByMaximum = applied.some(({ field, why }) => field === 'capacity' && why === 'maximum')
  const toggles = fields.filter(({ type }) => type === 'toggle').map(({ key }) => [key, false] as const)
  const effective = {
    ...(isMailboxKind(kind) && { ...usualOfMailboxes, ...usualOfKind[kind] }),
    ...present(derivedOf(kind, facts)),
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

/** The values that conditions test: the details of a request, and the owners of the resource. */
interface JudgedRequest {
  readonly details: Readonly<Record<string, unknown>>
  /** The details, with the tenant's defaults for omitted fields. */
  readonly effective: Readonly<Record<string, unknown>>
  readonly owners: readonly Person[]
}
/** The stages of a request, and the results of the policy's conditions if it has any. */
interface Resolved {
  readonly approvals: ApprovalStage[]
  readonly policy?: JudgedStage[]
}

/**
 * Returns the stages whose conditions are true, with the approvers of today (see {@link stageOf}). Returns undefined if a
 * stage has no approver, not even an admin. Throws `unavailable` if the directory hides whether one of them is enabled.
 */
export async function resolveApprovals(
  context: SystemContext<ApprovalPorts>,
  policy: ApprovalPolicy | null,
  requester: Person,
  judgedRequest: JudgedRequest,
): Promise<Resolved | undefined> {
  const { ports } = context
  const stages = policy?.stages ?? []
  const conditions = stages.flatMap(({ when }) => when ?? [])
  const isAboutOwners = conditions.some((one) => 'externalOwners' in one)
  const { details, effective, owners } = judgedRequest
  const externalOwners = isAboutOwners ? await namesOfExternal(ports, owners) : []
  const facts = { details, effective, externalOwners }
  const judged = stages.map(({ when = [] }) => when.map((one) => judge(one, facts)))
  const applies = judged.map((all) => all.every(({ holds }) => holds))
  // Skipped stages get no number, so that people read "1 of 2".
  const numbers = applies.map((one, index) => (one ? applies.slice(0, index + 1).filter(Boolean).length : null))
  const approvals = stages.flatMap((stage, index) => {
    const number = numbers[index]
    return typeof number === 'number'
      ? [resolveStage(context, { stage: number, place: index + 1 }, stage, requester)]
      : []
  })
  const kept = judged.map((all, index) => ({ place: index + 1, stage: numbers[index] ?? null, conditions: all }))
  const resolved = await Promise.all(approvals)
  const complete = resolved.filter((stage) => stage !== undefined)
  if (complete.length < resolved.length) return undefined
  return { approvals: complete, ...(conditions.length > 0 && { policy: kept }) }
}

async function resolveStage(
  { ports, settings }: SystemContext<ApprovalPorts>,
  at: { stage: number; place: number },
  policy: ApprovalPolicy['stages'][number],
  requester: Person,
): Promise<ApprovalStage | undefined> {
  const found = await Promise.all(policy.approvers.map((by) => foundBy(ports, by, requester)))
  const without = stageOf(at, policy, found, [], requester.id)
  if (without && !without.resolvedTo) return without
  const admins = await Promise.all(settings.admins.map((id) => foundById(ports, id)))
  const stage = stageOf(at, policy, found, admins, requester.id)
  if (stage) return stage
  const all = [...found, ...admins].flatMap(({ people }) => people)
  for (const { displayName, unread } of all)
    if (unread?.includes('accountEnabled')) throw unreadable(displayName, unread)
  return undefined
}

export async function foundBy(ports: ApprovalPorts, by: Approver, requester: Pick<Person, 'id'>): Promise<Found> {
  const { directory } = ports
  if ('group' in by) return { by, people: await directory.membersOf(by.group) }
  if ('ownersOf' in by) return { by, people: await directory.ownersOf(by.ownersOf) }
  const one = 'user' in by ? await directory.person(by.user) : await directory.manager(requester.id)
  return { by, people: one ? [one] : [] }
}

/** Returns the person or the group's members with an id from the settings, without blocked or unreadable accounts and guests. */
export const personOrMembers = async (ports: Pick<ApprovalPorts, 'directory'>, id: string): Promise<Person[]> =>
  (await foundById(ports, id)).people.filter(mayTakePart)

/** Returns the admins of today, each once: the people and the members of the groups in the settings. Throws `unavailable`. */
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

async function namesOfExternal({ directory }: ApprovalPorts, owners: readonly Person[]): Promise<string[]> {
  const external = await Promise.all(owners.map(({ id }) => directory.isExternal(id)))
  return owners.filter((_, index) => external[index]).map(({ displayName }) => displayName)
}
