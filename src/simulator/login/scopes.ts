import {
  applicationAdministrators,
  consentTo,
  hasRole,
  type Principal,
  resourcePrincipal,
  roleAdministrators,
  scopesAt,
} from '../registrations/index.ts'
import { contoso, findApi, type Tenant } from '../tenant/index.ts'
import { clientOf } from './clients.ts'
import { refuse } from './errors.ts'

export const oidcScopes = new Set(['openid', 'profile', 'email', 'offline_access'])
const graphResource = 'https://graph.microsoft.com'

/** A parsed scope parameter. */
export interface Scope {
  readonly resource: string
  /** The parts after the resource: the names of the scopes. */
  readonly names: string[]
  readonly full: string[]
  readonly oidc: string[]
  /** The resource's service principal; undefined if neither a registration nor Microsoft has it. */
  readonly api: Principal | undefined
}

/** Microsoft's own services, which every tenant has. The simulated services are on this computer, at the root. */
const microsoftResource = new RegExp(
  '^(https://([a-z0-9-]+\\.)+(microsoft|sharepoint|office365|office|botframework)\\.com' +
    '|https?://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?|0000000\\d-0000-0[0-9a-f]{3}-c[e0]00-000000000000)$',
)

/**
 * Parses a scope parameter. Refuses a resource without a registration in the tenant, and a scope that the API does not
 * have. Entra ID shows a person the first refusal on the sign-in page; the simulator refuses the request for a code.
 */
export function readScope(tenant: Tenant, scope: string): Scope {
  const parsed = parseScope(scope)
  const { resource, names } = parsed
  const known = findApi(tenant, resource)
  const api = resourcePrincipal(tenant, resource)
  if (!known && !api?.replicated && !microsoftResource.test(resource.toLowerCase())) {
    const where = `was not found in the tenant named ${contoso.displayName}. No registration has this App ID URI.`
    refuse('invalid_resource', 500011, `The resource principal named ${resource} ${where}`)
  }
  const permissions = known?.permissions ?? (api?.application && api.scopes.map(({ value }) => value))
  const unknown = permissions && names.find((name) => name !== '.default' && !permissions.includes(name))
  if (unknown !== undefined) {
    refuse('invalid_scope', 70011, `The value for 'scope' is not valid: ${resource} has no scope '${unknown}'.`)
  }
  return { ...parsed, api }
}

/** Splits a scope: the part before the last `/` is the resource; a plain name belongs to Graph. */
function parseScope(scope: string): Omit<Scope, 'api'> {
  const all = scope.split(' ').filter((each) => each !== '')
  const oidc = all.filter((each) => oidcScopes.has(each))
  const full = all.filter((each) => !oidcScopes.has(each))
  const parts = full.map((each) => {
    const slash = each.lastIndexOf('/')
    return slash < 0 ? [graphResource, each] : [each.slice(0, slash).replace(/\/$/, ''), each.slice(slash + 1)]
  })
  const resources = new Set(parts.map(([resource]) => resource ?? ''))
  if (resources.size > 1) refuse('invalid_request', 28000, 'The scope parameter names more than one resource.')
  const [resource = graphResource] = resources
  return { resource, names: parts.map(([, name]) => name ?? ''), full, oidc }
}

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
