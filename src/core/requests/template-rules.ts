import type { AccessLevel } from '../resources/index.ts'
import { because, type Fault, fault, type Metadata, type Person, pointerOf } from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import { peopleNamed } from './plan.ts'
import type { RequestPorts } from './ports.ts'

/** A label that the template does not offer. */
export function labelFaults({ labels: { allowed } }: Pick<Template, 'labels'>, labelId = ''): Fault[] {
  if (labelId === '' || allowed.some(({ id }) => id === labelId)) return []
  const labels = allowed.map(({ name }) => name)
  const reason = labels.length > 0 ? because('labelNotAllowed', { labels }) : because('noLabels')
  return [fault('/labelId', 'label-not-allowed', reason)]
}

/** Answers that name a person whom the directory does not know. */
export async function answeredPeople(
  ports: RequestPorts,
  { fields }: Pick<Template, 'fields'>,
  metadata: Metadata,
): Promise<{ people: Person[]; faults: Fault[] }> {
  const named = fields.flatMap(({ type, key, label }) =>
    type === 'person' && Object.hasOwn(metadata, key)
      ? [{ id: String(metadata[key]), pointer: `/metadata${pointerOf([key])}`, as: { label } }]
      : [],
  )
  return peopleNamed(ports, named)
}

/** A site with fewer owners than its template wants, the requester counted. */
export function tooFewOwners({ limits: { ownersMinimum } }: Pick<Template, 'limits'>, count: number): Fault[] {
  if (count >= ownersMinimum) return []
  return [fault('/owners', 'owners-minimum', because('ownersMinimum', { count: ownersMinimum }), String(ownersMinimum))]
}

/** A site with more owners than its template allows, the requester counted. */
export function tooManyOwners({ limits: { ownersMaximum } }: Pick<Template, 'limits'>, count: number): Fault[] {
  if (count <= ownersMaximum) return []
  return [fault('/owners', 'owners-maximum', because('ownersMaximum', { count: ownersMaximum }), String(ownersMaximum))]
}

/** Owners from outside, where the template wants none. */
export async function externalOwners(
  { directory }: Pick<RequestPorts, 'directory'>,
  { limits }: Pick<Template, 'limits'>,
  owners: readonly { readonly person: Person; readonly pointer: string }[],
): Promise<Fault[]> {
  if (limits.externalOwners) return []
  const external = await Promise.all(owners.map(({ person }) => directory.isExternal(person.id)))
  return owners
    .filter((_, index) => external[index])
    .map(({ person: { displayName }, pointer }) =>
      fault(pointer, 'external-owner', because('ownerExternal', { name: displayName }), displayName),
    )
}

/** How much a mailbox may hold, and who may be let into it. */
export function mailboxLimits(
  { limits }: Pick<Template, 'limits'>,
  {
    capacity,
    permissions = {},
  }: { capacity?: number | undefined; permissions?: Readonly<Record<string, AccessLevel>> },
): Fault[] {
  const { capacityMaximum, permissionsMaximum, accessLevels } = limits
  const faults: Fault[] = []
  if (capacityMaximum !== undefined && capacity !== undefined && capacity > capacityMaximum) {
    const reason = because('capacityMaximum', { count: capacityMaximum })
    faults.push(fault('/capacity', 'too-large', reason, String(capacityMaximum)))
  }
  const given = Object.entries(permissions).flatMap(([id, level]) => (level === 'None' ? [] : [{ id, level }]))
  if (permissionsMaximum !== undefined && given.length > permissionsMaximum) {
    const reason = because('permissionsMaximum', { count: permissionsMaximum })
    faults.push(fault('/permissions', 'too-many-people', reason, String(permissionsMaximum)))
  }
  for (const { id, level } of given)
    if (accessLevels && !accessLevels.includes(level)) {
      const reason = because('accessNotAllowed', { level: accessLevels[0] ?? 'None' })
      faults.push(fault(`/permissions/${id}`, 'access-not-allowed', reason))
    }
  return faults
}
