import type { MailboxDetails } from '../resources/index.ts'
import { isMailboxKind, type MailboxKind, type Person, type ResourceKind } from '../shared/index.ts'
import type { Applied, Template } from '../templates/index.ts'
import type { JudgedRequest } from './approvers.ts'

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
