import type { AccessLevel } from '../resources/index.ts'
import { type Actor, because, type Fault, fault, openStates, type Reason, type Settings } from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'
import type { RequestPorts } from './ports.ts'

/** A label that the template does not offer. */
export function labelFaults({ labels: { allowed } }: Pick<Template, 'labels'>, labelId = ''): Fault[] {
  if (labelId === '' || allowed.some(({ id }) => id === labelId)) return []
  const labels = allowed.map(({ name }) => name)
  const reason = labels.length > 0 ? because('labelNotAllowed', { labels }) : because('noLabels')
  return [fault('/labelId', 'label-not-allowed', reason)]
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

/** Why nobody has more open requests than the limit. */
export const tooManyOpen = (limit: number): Reason => because('tooManyOpen', { limit })

/** That a person has as many open requests as they may. The limit is for people: an application has many to ask for. */
export async function openFaults(
  { requests }: Pick<RequestPorts, 'requests'>,
  { openRequestsPerPerson: limit }: Pick<Settings, 'openRequestsPerPerson'>,
  { tenantId, id, clientId }: Actor,
): Promise<Fault[]> {
  if (limit === 0 || clientId !== undefined || (await requests.countOpen(tenantId, id)) < limit) return []
  return [{ pointer: '', code: 'too-many-open-requests', reason: tooManyOpen(limit) }]
}

/** Requests that have made something, or may still. */
const counting = [...openStates, 'succeeded'] as const

/**
 * How many open requests of a template a person has, and how much was made of it; each counted up to its limit only. An
 * application has many to ask for, so its own are not counted.
 */
export async function quotaUse(
  { ports, actor, but }: Pick<RequestInquiry, 'ports' | 'actor'> & { readonly but: readonly string[] },
  { id, quota: { openPerPerson, resources } }: Pick<Template, 'id' | 'quota'>,
): Promise<{ own: number; all: number }> {
  const of = { tenantId: actor.tenantId, templateId: id, but }
  const [own, all] = await Promise.all([
    openPerPerson === undefined || actor.clientId !== undefined
      ? 0
      : ports.requests.countOfTemplate({ ...of, requesterId: actor.id, states: openStates, most: openPerPerson }),
    resources === undefined ? 0 : ports.requests.countOfTemplate({ ...of, states: counting, most: resources }),
  ])
  return { own, all }
}

/**
 * What keeps a template from being used once more: the person has as many open requests of it as they may, or as much was
 * made of it as there may be. A request that this one replaces does not count, and neither does this one.
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
