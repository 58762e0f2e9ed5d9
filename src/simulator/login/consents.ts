import {
  applicationAdministrators,
  consentTo,
  hasRole,
  type Principal,
  roleAdministrators,
  scopesAt,
} from '../registrations/index.ts'
import type { Tenant } from '../tenant/index.ts'
import { clientOf } from './clients.ts'
import { refuse } from './errors.ts'
import { readScope, type Scope } from './scopes.ts'

/**
 * Returns the scopes that a client has at a resource for a person; undefined means that Contoso does not check them.
 */
export function consented(tenant: Tenant, clientId: string, { api }: Scope, userId: string): string[] | undefined {
  const client = clientOf(tenant, clientId)
  if (!api || (!client && !api.application)) return undefined
  return client ? scopesAt(tenant, client, api, userId) : []
}

/** Refuses a sign-in without consent to each scope, like Entra ID in a sign-in without a page. */
export function requireConsent(tenant: Tenant, clientId: string, scope: Scope, granted: readonly string[]): void {
  const isCovered = scope.names.every((name) => name === '.default' || granted.includes(name))
  if (isCovered && (granted.length > 0 || scope.names.length === 0)) return
  const name = clientOf(tenant, clientId)?.displayName ?? clientId
  const message = `The user or administrator has not consented to use the application with ID '${clientId}' named '${name}'. Send an interactive authorization request for this user and resource.`
  refuse('invalid_grant', 65001, message, 400, 'consent_required')
}

/** Delegated permissions to which people may consent themselves. All others need an administrator's consent. */
const lowRisk = ['User.Read']

/**
 * Stores the consent of the sign-in page. An administrator consents to all permissions that the client requests; other
 * people only to permissions of low risk. Returns Entra ID's text when an administrator has to consent first.
 */
export function consentOnPage(
  tenant: Tenant,
  request: { clientId: string; scope: string; userId: string; forAll: boolean },
): string | undefined {
  const { clientId, userId } = request
  const scope = readScope(tenant, request.scope)
  const granted = consented(tenant, clientId, scope, userId)
  const client: Principal | undefined = clientOf(tenant, clientId)
  const { api } = scope
  if (!granted || !client || !api) return granted ? needsAdmin(clientId) : undefined
  const missing = scope.names.filter((name) => name !== '.default' && !granted.includes(name))
  const unknown = missing.find((name) => !api.scopes.some(({ value }) => value === name))
  if (unknown !== undefined)
    return `AADSTS650053: The application '${client.displayName}' asked for scope '${unknown}' that doesn't exist on the resource '${api.appId}'. Contact the app vendor.`
  if (missing.length === 0) return undefined
  const isAdmin = hasRole(tenant, userId, [...applicationAdministrators, ...roleAdministrators])
  if (!isAdmin && missing.some((name) => !lowRisk.includes(name))) return needsAdmin(client.displayName)
  const forAll = isAdmin && request.forAll
  const principalId = forAll ? null : userId
  const consentType = forAll ? 'AllPrincipals' : 'Principal'
  consentTo(tenant, { clientId: client.id, resourceId: api.id, consentType, principalId }, missing)
  return undefined
}

const needsAdmin = (name: string): string =>
  `AADSTS90094: ${name} needs permission to access resources in your organization that only an admin can grant. Please ask an admin to grant permission to this app before you can use it.`
