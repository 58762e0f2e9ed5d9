import { everAsked } from '../approvals/index.ts'
import type { AuditAction } from '../audit/index.ts'
import {
  type Actor,
  access,
  because,
  forbidden,
  notFound,
  type Permission,
  ProvisioningError,
  type Role,
} from '../shared/index.ts'
import { type Request, referenceOf } from './request.ts'

/** Returns all roles of an actor for a request; no roles for an actor of another tenant. */
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
 * Throws if the actor does not have the permission: `not-found` for actors who may not see the request, `forbidden` or a more
 * precise code for actors who may.
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

/** The action of an entry about a refused attempt to decide. The chain shows such entries to admins; the timeline hides them. */
export const refusedAction = 'refused' satisfies AuditAction
