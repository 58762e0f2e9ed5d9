import type { AccessLevel } from '../resources/index.ts'
import { type Actor, because, type Fault, fault, limitedStates, openStates, type Settings } from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'
import type { RequestPorts } from './ports.ts'

/** The states of requests that have created a resource or still may. */
export const countingStates = [...openStates, 'succeeded'] as const

/** Returns the fault of a label that the template does not allow. */
export function labelFaults({ labels: { allowed } }: Pick<Template, 'labels'>, labelId = ''): Fault[] {
  if (labelId === '' || allowed.some(({ id }) => id === labelId)) return []
  const labels = allowed.map(({ name }) => name)
  const reason = labels.length > 0 ? because('labelNotAllowed', { labels }) : because('noLabels')
  return [fault('/labelId', 'label-not-allowed', reason)]
}

/** Returns the fault of a site with too few owners for its template, including the requester. */
export function tooFewOwners({ limits: { ownersMinimum } }: Pick<Template, 'limits'>, count: number): Fault[] {
  if (count >= ownersMinimum) return []
  return [fault('/owners', 'owners-minimum', because('ownersMinimum', { count: ownersMinimum }), String(ownersMinimum))]
}

/** Returns the fault of a site with too many owners for its template, including the requester. */
export function tooManyOwners({ limits: { ownersMaximum } }: Pick<Template, 'limits'>, count: number): Fault[] {
  if (count <= ownersMaximum) return []
  return [fault('/owners', 'owners-maximum', because('ownersMaximum', { count: ownersMaximum }), String(ownersMaximum))]
}

/** Returns the faults of a mailbox against its template's limits of storage and access. */
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
  const grants = Object.entries(permissions).flatMap(([id, level]) => (level === 'None' ? [] : [{ id, level }]))
  if (permissionsMaximum !== undefined && grants.length > permissionsMaximum) {
    const reason = because('permissionsMaximum', { count: permissionsMaximum })
    faults.push(fault('/permissions', 'too-many-people', reason, String(permissionsMaximum)))
  }
  for (const { id, level } of grants)
    if (accessLevels && !accessLevels.includes(level)) {
      const reason = because('accessNotAllowed', { level: accessLevels[0] ?? 'None' })
      faults.push(fault(`/permissions/${id}`, 'access-not-allowed', reason))
    }
  return faults
}

/** Returns the fault of a template with a stage that nobody can approve. */
export const noApprover = (): Fault => fault('/templateId', 'no-approver', because('nobodyCanApprove'))

/** Returns the fault of a person with too many open requests, except those of the batch `but`. Applications have no limit. */
export async function openFaults(
  { requests }: Pick<RequestPorts, 'requests'>,
  { openRequestsPerPerson: limit }: Pick<Settings, 'openRequestsPerPerson'>,
  { tenantId, id, clientId }: Actor,
  but?: string,
): Promise<Fault[]> {
  if (limit === 0 || clientId !== undefined || (await requests.countOpen(tenantId, id, but)) < limit) return []
  return [fault('', 'too-many-open-requests', because('tooManyOpen', { limit }))]
}

/**
 * Counts a person's open requests of a template (`own`) and all its resources (`all`), each up to its limit. Applications have
 * no limit of open requests.
 */
export async function quotaUse(
  { ports, actor, but }: Pick<RequestInquiry, 'ports' | 'actor'> & { readonly but: readonly string[] },
  { id, quota: { openPerPerson, resources } }: Pick<Template, 'id' | 'quota'>,
): Promise<{ own: number; all: number }> {
  const of = { tenantId: actor.tenantId, templateId: id, but }
  const [own, all] = await Promise.all([
    openPerPerson === undefined || actor.clientId !== undefined
      ? 0
      : ports.requests.countOfTemplate({ ...of, requesterId: actor.id, states: limitedStates, most: openPerPerson }),
    resources === undefined ? 0 : ports.requests.countOfTemplate({ ...of, states: countingStates, most: resources }),
  ])
  return { own, all }
}

/**
 * Returns the faults if a template's quota is reached: of the person's open requests or of all resources. Does not count this
 * request and the one that it replaces.
 */
export async function quotaFaults(
  { ports, actor, requestId, replaces }: Pick<RequestInquiry, 'ports' | 'actor' | 'requestId' | 'replaces'>,
  template: Pick<Template, 'id' | 'name' | 'quota'>,
): Promise<Fault[]> {
  const { name, quota } = template
  const { openPerPerson, resources } = quota
  const but = replaces === undefined ? [requestId] : [requestId, replaces]
  const { own, all } = await quotaUse({ ports, actor, but }, template)
  const faults: Fault[] = []
  const add = (key: 'openQuotaReached' | 'resourceQuotaReached', count: number) =>
    faults.push(fault('/templateId', 'quota-reached', because(key, { count, name }), String(count)))
  if (openPerPerson && own === openPerPerson) add('openQuotaReached', own)
  if (resources && all === resources) add('resourceQuotaReached', all)
  return faults
}
