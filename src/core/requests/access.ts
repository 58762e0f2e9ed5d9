import { everAsked } from '../approvals/index.ts'
import {
  type Actor,
  access,
  forbidden,
  notFound,
  type Permission,
  ProvisioningError,
  type Role,
} from '../shared/index.ts'
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
  throw forbidden()
}
