import { z } from 'zod'
import { everAsked } from '../approvals/index.ts'
import { type AuditAction, type AuditEntry, system } from '../audit/index.ts'
import {
  type Actor,
  access,
  because,
  type Context,
  type ErrorCode,
  forbidden,
  notFound,
  type Permission,
  type Person,
  ProvisioningError,
  type Role,
  type SystemContext,
} from '../shared/index.ts'
import type { RequestPorts } from './ports.ts'
import { type Request, referenceOf } from './request.ts'

/** Returns every role of an actor for a request. Somebody of another tenant has none. */
export function rolesOf(
  actor: Actor,
  request?: Pick<Request, 'tenantId' | 'requester' | 'approvals'>,
): ReadonlySet<Role> {
  const roles = new Set<Role>(['member'])
  if (request && request.tenantId !== actor.tenantId) return new Set()
  if (actor.isAdmin) roles.add('admin')
  if (request?.requester.id === actor.id) roles.add('requester')
  if (request && everAsked(request.approvals).some(({ id }) => id === actor.id)) roles.add('approver')
  return roles
}

/** Whether the access table gives the permission to one of the actor's roles. */
export function may(actor: Actor, permission: Permission, request?: Request): boolean {
  const roles = rolesOf(actor, request)
  return access[permission].some((role) => roles.has(role))
}

/**
 * Throws unless the actor may: `not-found` for people who may not see the request, `forbidden` for people who may see it but not
 * act.
 */
export function authorize(actor: Actor, permission: Permission, request?: Request): void {
  if (may(actor, permission, request)) return
  if (request && !may(actor, 'request.read', request)) throw notFound()
  if (permission === 'request.decide' && request) {
    if (request.requester.id === actor.id) throw new ProvisioningError('self-approval', because('ownRequest'))
    throw new ProvisioningError('not-an-approver', because('notApproverOf', { reference: referenceOf(request) }))
  }
  throw forbidden()
}

/** What of an approval somebody can try who may not. */
export type Deciding = 'approve' | 'reject' | 'reassign' | 'override'

/** The action of an entry that tells of somebody who tried to decide and may not. The chain shows it to admins, the timeline to nobody. */
export const refusedAction = 'refused' satisfies AuditAction
/** Refusals that are about who it was, and not about when. */
const aboutWho: readonly ErrorCode[] = [
  'not-an-approver',
  'self-approval',
  'second-admin-needed',
  'forbidden',
  'not-found',
]
/** The same person is noted for the same once in this time, in milliseconds, so that nobody fills the chain. */
const onceIn = 3_600_000

/** Does something with a request; who may not do it is refused as ever, and that they tried is written down. */
export async function auditRefusals<T>(
  { ports, actor }: Context<RequestPorts>,
  requestId: string,
  tried: Deciding,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof ProvisioningError && aboutWho.includes(error.code))
      // A store that does not answer does not make another answer of it.
      await auditRefusal(ports, actor, requestId, tried, error.code).catch(() => undefined)
    throw error
  }
}

/** Writes down that somebody tried. Nothing if there is no such request. Unknown people are named by their id. */
async function auditRefusal(
  ports: RequestPorts,
  who: Pick<Person, 'id'> & Partial<Person>,
  requestId: string,
  tried: Deciding,
  code: ErrorCode,
): Promise<void> {
  await ports.work.transaction(async () => {
    const request = await ports.requests.lock(requestId)
    if (!request) return
    const at = ports.clock.now()
    const timeline = await ports.audit.timeline(requestId)
    if (timeline.some((line) => isSame(line, who.id, tried, code) && Date.parse(line.at) > at.getTime() - onceIn))
      return
    const { tenantId, version } = request
    const { id, displayName, userPrincipalName } = who
    const isKnown = displayName !== undefined && userPrincipalName !== undefined
    const actor = isKnown ? { id, displayName, userPrincipalName } : system
    const data = { tried, code, who: id }
    const entry: AuditEntry = { requestId, tenantId, at: at.toISOString(), actor, action: refusedAction, data }
    await ports.audit.append([entry], { version })
  })
}

const isSame = ({ action, data }: AuditEntry, id: string, tried: Deciding, code: ErrorCode): boolean =>
  action === refusedAction && data?.['who'] === id && data['tried'] === tried && data['code'] === code

/**
 * Writes down that somebody of our tenant who may not use the bot at all tried to decide. What they named may be anything. Of people
 * of another tenant nothing is written.
 */
export async function noteForbidden(
  { ports, settings }: SystemContext<RequestPorts>,
  who: { readonly tenantId: string; readonly id: string },
  requestId: unknown,
  tried: Deciding,
): Promise<void> {
  const id = z.uuid().safeParse(requestId).data
  if (id !== undefined && who.tenantId === settings.tenantId)
    await auditRefusal(ports, { id: who.id }, id.toLowerCase(), tried, 'forbidden')
}
