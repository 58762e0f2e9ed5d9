import { everAsked } from '../approvals/stage.ts'
import { type Actor, type access, may, notFound, type Role } from '../shared/access.ts'
import { ProvisioningError } from '../shared/errors.ts'
import { type Request, referenceOf } from './request.ts'

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
