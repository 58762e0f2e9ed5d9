import { type Principal, resourcePrincipal } from '../registrations/index.ts'
import { contoso, findApi, type Tenant } from '../tenant/index.ts'
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
