import { ProvisioningError } from './errors.ts'
import { because } from './reason.ts'
import type { Person } from './resource.ts'

/** The caller. The channel has proved the identity: a chat activity that the guard verified, or a bearer token. */
export interface Actor extends Person {
  readonly tenantId: string
  readonly isAdmin: boolean
  /** The client id of an application that acts for itself. An application can request mailboxes and cannot decide. */
  readonly clientId?: string
}

/** The role of an actor for a request. Everybody in the tenant is a `member`. */
export type Role = 'member' | 'requester' | 'approver' | 'admin'

/**
 * The access table: the roles of each permission. Each route, verb and command names one permission. The decision itself refuses
 * self-approval, so the requester gets `self-approval` instead of "not found".
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
  'request.address': ['requester'],
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

/** The permissions that depend on a request or batch. `authorize` checks them after it has read the request or batch. */
const ofOneRequest: readonly Permission[] = [
  'request.read',
  'request.cancel',
  'request.decide',
  'request.reassign',
  'request.nudge',
  'request.address',
  'request.retry',
  'batch.read',
  'batch.cancel',
]

/**
 * Checks a permission before anything is read. Throws `forbidden` for an actor of another tenant and for an actor without the
 * role. Permissions that depend on one request pass here.
 */
export function admit(actor: Actor, tenantId: string, permission: Permission): void {
  if (actor.tenantId !== tenantId) throw otherOrganisation()
  if (ofOneRequest.includes(permission)) return
  const roles: readonly Role[] = access[permission]
  if (!roles.includes('member') && !(actor.isAdmin && roles.includes('admin'))) throw forbidden()
}

export const otherOrganisation = (): ProvisioningError =>
  new ProvisioningError('forbidden', because('otherOrganisation'))

export const forbidden = (): ProvisioningError => new ProvisioningError('forbidden', because('adminOnly'))

export const notFound = (): ProvisioningError => new ProvisioningError('not-found', because('requestUnknown'))
