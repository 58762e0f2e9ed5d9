import { randomBytes } from 'node:crypto'
import { groupsOf, type Tenant } from '../tenant/index.ts'
import { directoryRoles } from './microsoft.ts'
import type { Principal } from './principals.ts'
import { allOf, type Stored, store } from './store.ts'

/** A granted application permission. */
export interface AppRoleAssignment {
  readonly appRoleId: string
  readonly principalId: string
  readonly resourceId: string
}

/**
 * A consent: the scopes, separated by spaces, that a client has at a resource for one person, or for all
 * (`AllPrincipals`).
 */
export interface PermissionGrant {
  readonly clientId: string
  readonly consentType: string
  readonly principalId: string | null
  readonly resourceId: string
  readonly scope: string
}

/** An assigned directory role. */
export interface RoleAssignment {
  readonly principalId: string
  readonly roleDefinitionId: string
  readonly directoryScopeId: string
}

export const appRoleAssignments = (tenant: Tenant): Stored<AppRoleAssignment>[] => allOf(tenant, 'appRoleAssignment')
export const permissionGrants = (tenant: Tenant): Stored<PermissionGrant>[] => allOf(tenant, 'oauth2PermissionGrant')
export const roleAssignments = (tenant: Tenant): Stored<RoleAssignment>[] => allOf(tenant, 'roleAssignment')

/** Creates an id in the format of Graph's grants and assignments. */
export const grantId = (): string => randomBytes(32).toString('base64url')

/** Returns the values of the application permissions that a client has at a resource. */
export function rolesAt(tenant: Tenant, client: Principal, resource: Principal): string[] {
  const ids = appRoleAssignments(tenant)
    .filter(({ doc }) => doc.principalId === client.id && doc.resourceId === resource.id)
    .map(({ doc }) => doc.appRoleId)
  return resource.appRoles.flatMap(({ id, value, isEnabled }) =>
    isEnabled && value && ids.includes(id) ? [value] : [],
  )
}

/** Returns the delegated permissions that a client has at a resource for a person. */
export function scopesAt(tenant: Tenant, client: Principal, resource: Principal, userId: string): string[] {
  const consented = permissionGrants(tenant)
    .filter(({ doc }) => doc.clientId === client.id && doc.resourceId === resource.id)
    .filter(({ doc }) => doc.consentType === 'AllPrincipals' || doc.principalId === userId)
    .flatMap(({ doc }) => doc.scope.split(' '))
  const trusted = resource.application?.doc.api.preAuthorizedApplications.find(({ appId }) => appId === client.appId)
  return resource.scopes.flatMap(({ id, value, isEnabled }) =>
    isEnabled && (consented.includes(value) || trusted?.delegatedPermissionIds.includes(id)) ? [value] : [],
  )
}

/** Adds scopes to the consent of a person, or of everybody. */
export function consentTo(tenant: Tenant, consent: Omit<PermissionGrant, 'scope'>, scopes: readonly string[]): void {
  const same = permissionGrants(tenant).find(
    ({ doc }) =>
      doc.clientId === consent.clientId &&
      doc.resourceId === consent.resourceId &&
      doc.consentType === consent.consentType &&
      doc.principalId === consent.principalId,
  )
  const scope = [...new Set([...(same?.doc.scope.split(' ') ?? []), ...scopes])].join(' ')
  if (same)
    tenant.run('update directory_objects set doc = ? where id = ?', JSON.stringify({ ...same.doc, scope }), same.id)
  else store<PermissionGrant>(tenant, 'oauth2PermissionGrant', grantId(), { ...consent, scope })
}

/** Assigns a directory role for the whole organisation. */
export const assignRole = (tenant: Tenant, assignment: RoleAssignment): Stored<RoleAssignment> =>
  store(tenant, 'roleAssignment', `${grantId()}-1`, assignment)

/**
 * Returns the ids of the directory roles of a person or service principal, including roles that they have through a
 * group.
 */
export function directoryRolesOf(tenant: Tenant, principalId: string): string[] {
  const holders = new Set([principalId, ...groupsOf(tenant, principalId, false).map(({ id }) => id)])
  const held = roleAssignments(tenant).filter(({ doc }) => holders.has(doc.principalId))
  return [...new Set(held.map(({ doc }) => doc.roleDefinitionId))]
}

/** Returns whether a person or service principal has one of these directory roles, by name. */
export function hasRole(tenant: Tenant, principalId: string, names: readonly string[]): boolean {
  const ids = names.map((name) => directoryRoles[name])
  return directoryRolesOf(tenant, principalId).some((id) => ids.includes(id))
}

/** The roles that may register applications and grant permissions, except Graph's application permissions. */
export const applicationAdministrators = [
  'Global Administrator',
  'Application Administrator',
  'Cloud Application Administrator',
] as const
/** The roles that may assign roles and grant Graph's application permissions. */
export const roleAdministrators = ['Global Administrator', 'Privileged Role Administrator'] as const
