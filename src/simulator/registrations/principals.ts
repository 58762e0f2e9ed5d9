import { randomUUID } from 'node:crypto'
import { contoso, findApi, resourceOf, type Tenant } from '../tenant/index.ts'
import { type Application, type AppRole, findApplication, type PermissionScope } from './applications.ts'
import { microsoftPrincipals, microsoftTenant } from './microsoft.ts'
import { allOf, isReplicated, remove, type Stored, store } from './store.ts'

/** A service principal: a registration's identity in the tenant. */
export interface Principal {
  readonly id: string
  readonly appId: string
  readonly displayName: string
  readonly appRoles: readonly AppRole[]
  readonly scopes: readonly PermissionScope[]
  /** The application id and all App ID URIs of the service principal. */
  readonly names: readonly string[]
  readonly ownerTenantId: string
  /** The registration; undefined for a service principal of Microsoft. */
  readonly application: Application | undefined
  /** Settings of the service principal itself, such as `tags` and `appRoleAssignmentRequired`. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Whether all servers know the service principal. */
  readonly replicated: boolean
}

interface PrincipalDoc {
  readonly appId: string
  readonly settings: Readonly<Record<string, unknown>>
}

const ofMicrosoft: readonly Principal[] = microsoftPrincipals.map((one) => ({
  ...one,
  names: [one.appId, ...one.names],
  ownerTenantId: microsoftTenant,
  application: undefined,
  settings: {},
  replicated: true,
}))

/**
 * Returns all service principals: Microsoft's, then the tenant's own. Omits the service principals of deleted
 * registrations.
 */
export function allPrincipals(tenant: Tenant): Principal[] {
  const own = allOf<PrincipalDoc>(tenant, 'servicePrincipal').flatMap(({ id, at, doc }) => {
    const application = findApplication(tenant, 'appId', doc.appId)
    if (!application) return []
    const { appId, displayName, appRoles, api, identifierUris } = application.doc
    return [
      {
        ...{ id, appId, displayName, appRoles, application, settings: doc.settings },
        scopes: api.oauth2PermissionScopes,
        names: [appId, ...identifierUris],
        ownerTenantId: contoso.tenantId,
        replicated: isReplicated(tenant, at),
      },
    ]
  })
  return [...ofMicrosoft, ...own]
}

export const findPrincipal = (tenant: Tenant, key: 'id' | 'appId', value: string): Principal | undefined =>
  allPrincipals(tenant).find((one) => one[key] === value.toLowerCase())

/** Creates the service principal of a registration. */
export function addPrincipal(tenant: Tenant, appId: string, settings: Record<string, unknown>): Principal {
  const { id } = store<PrincipalDoc>(tenant, 'servicePrincipal', randomUUID(), { appId, settings })
  const created = findPrincipal(tenant, 'id', id)
  if (!created) throw new Error(`The registration ${appId} does not exist.`)
  return created
}

const storedPrincipal = (tenant: Tenant, id: string): Stored<PrincipalDoc> | undefined =>
  allOf<PrincipalDoc>(tenant, 'servicePrincipal').find((one) => one.id === id)

export function changePrincipal(tenant: Tenant, { id }: Principal, settings: Record<string, unknown>): void {
  const stored = storedPrincipal(tenant, id)
  if (!stored) return
  const doc = { ...stored.doc, settings: { ...stored.doc.settings, ...settings } }
  tenant.run('update directory_objects set doc = ? where id = ?', JSON.stringify(doc), id)
}

/** Deletes a service principal with its permissions and roles. */
export function removePrincipal(tenant: Tenant, { id }: Principal): void {
  const stored = storedPrincipal(tenant, id)
  if (stored) remove(tenant, stored)
  tenant.run("delete from directory_objects where json_extract(doc, '$.principalId') = ?", id)
  tenant.run("delete from directory_objects where json_extract(doc, '$.resourceId') = ?", id)
  tenant.run("delete from directory_objects where json_extract(doc, '$.clientId') = ?", id)
}

/**
 * Finds the service principal for a scope or an audience: by application id, App ID URI, or SharePoint's host.
 * Contoso's initial APIs do not have a service principal.
 */
export function resourcePrincipal(tenant: Tenant, resource: string): Principal | undefined {
  const key = resource.toLowerCase()
  if (findApi(tenant, key)) return undefined
  const named = allPrincipals(tenant).find(({ names }) => names.some((name) => name.toLowerCase() === key))
  if (named) return named
  return resourceOf(key) === 'sharepoint'
    ? ofMicrosoft.find(({ appId }) => resourceOf(appId) === 'sharepoint')
    : undefined
}
