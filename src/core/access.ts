import { everAsked } from './approval-stage.ts'
import { ProvisioningError } from './errors.ts'
import { type Request, referenceOf } from './request.ts'
import type { Person } from './resource.ts'

/** Who is asking, as the channel proved it: a chat activity that the guard verified, or a bearer token. */
export interface Actor extends Person {
  readonly tenantId: string
  readonly isAdmin: boolean
  /** The client id of an application that acts for itself. It asks for mailboxes, and decides nothing. */
  readonly clientId?: string
}

/** What somebody is to a request. `member` is anyone of the tenant. */
export type Role = 'member' | 'requester' | 'approver' | 'admin'

/**
 * The access table: every route, verb and command names its permission here, and what is not listed is refused.
 * Self-approval is refused by the decision itself, so it is answered as such and not as "not found".
 */
export const access = {
  'template.read': ['member'],
  'template.write': ['admin'],
  'request.create': ['member'],
  'request.simulate': ['admin'],
  'request.list': ['member'],
  'request.listAll': ['admin'],
  'queue.read': ['admin'],
  'health.read': ['admin'],
  'stats.read': ['admin'],
  'certificate.read': ['admin'],
  'audit.read': ['admin'],
  'deadLetter.read': ['admin'],
  'deadLetter.replay': ['admin'],
  'deadLetter.dismiss': ['admin'],
  'request.read': ['requester', 'approver', 'admin'],
  'request.cancel': ['requester', 'admin'],
  'request.decide': ['approver'],
  'request.reassign': ['approver', 'admin'],
  'request.nudge': ['requester', 'admin'],
  'request.retry': ['admin'],
  'request.override': ['admin'],
  'batch.read': ['requester', 'admin'],
  'batch.cancel': ['requester', 'admin'],
  'approval.list': ['member'],
  'approval.delegate': ['member'],
  'delegation.list': ['admin'],
  'digest.read': ['member'],
  'digest.choose': ['member'],
  'delivery.read': ['admin'],
  'delivery.replay': ['admin'],
  'webhook.test': ['admin'],
  'webhook.enable': ['admin'],
  'export.create': ['admin'],
  'person.erase': ['admin'],
} as const satisfies Record<string, readonly Role[]>
export type Permission = keyof typeof access

/** All that an actor is to a request. Somebody of another tenant is nothing to it. */
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

export function may(actor: Actor, permission: Permission, request?: Request): boolean {
  const roles = rolesOf(actor, request)
  return access[permission].some((role) => roles.has(role))
}

/** What is asked again when the request, or the batch, is read: until then nobody knows what the actor is to it. */
const ofOneRequest: readonly Permission[] = [
  'request.read',
  'request.cancel',
  'request.decide',
  'request.reassign',
  'request.nudge',
  'request.retry',
  'batch.read',
  'batch.cancel',
]

/** The door of the core: throws `forbidden` for an actor of another tenant than ours, and for one who may not do this. */
export function admit(actor: Actor, tenantId: string, permission: Permission): void {
  if (actor.tenantId !== tenantId) throw new ProvisioningError('forbidden', 'You belong to another organisation.')
  if (!ofOneRequest.includes(permission)) authorize(actor, permission)
}

/**
 * Throws unless the actor may. Who may not even see a request is told that there is none (`not-found`); who sees it
 * but may not act is told so (`forbidden`).
 */
export function authorize(actor: Actor, permission: Permission, request?: Request): void {
  if (may(actor, permission, request)) return
  if (request && !may(actor, 'request.read', request)) throw notFound()
  if (permission === 'request.decide' && request) {
    if (request.requester.id === actor.id)
      throw new ProvisioningError('self-approval', 'You asked for this yourself, so somebody else has to decide.')
    throw new ProvisioningError('not-an-approver', `You are not an approver of ${referenceOf(request)}.`)
  }
  throw new ProvisioningError('forbidden', 'You may not do this. An admin can.')
}

export const notFound = (): ProvisioningError =>
  new ProvisioningError('not-found', 'There is no such request, or you may not see it.')
