import {
  applicationAdministrators,
  change,
  findPrincipal,
  grantId,
  type PermissionGrant,
  permissionGrants,
  remove,
  roleAdministrators,
  type Stored,
  store,
} from '../registrations/index.ts'
import { asRecord, type Call, type Operation, operation, personNow, type Tenant } from '../tenant/index.ts'
import { invalid } from './application-body.ts'
import { badRequest, filterTest, type GraphSettings, listReply, notFound, refuse, requireRole } from './wire.ts'

const collection = /^\/v1\.0\/oauth2PermissionGrants$/
const one = /^\/v1\.0\/oauth2PermissionGrants\/([^/]+)$/
const administrators = [...applicationAdministrators, ...roleAdministrators]

/** `/oauth2PermissionGrants`: consents to delegated permissions. */
export function consentOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  const context = `${url}/v1.0/$metadata#oauth2PermissionGrants/$entity`
  const shown = (grant: Stored<PermissionGrant>) => ({ '@odata.context': context, ...grantDoc(grant) })
  return [
    operation('graph.oauth2PermissionGrants.list', 'GET', collection, (call) =>
      listReply(call, url, 'oauth2PermissionGrants', permissionGrants(tenant).map(grantDoc).filter(filterTest(call))),
    ),
    operation('graph.oauth2PermissionGrants.create', 'POST', collection, (call) => ({
      status: 201,
      body: shown(create(tenant, call)),
    })),
    operation('graph.oauth2PermissionGrants.get', 'GET', one, (call) => ({
      status: 200,
      body: shown(grantOf(tenant, call)),
    })),
    operation('graph.oauth2PermissionGrants.update', 'PATCH', one, (call) => {
      requireRole(tenant, call, administrators)
      const grant = grantOf(tenant, call)
      const { scope, ...others } = asRecord(call.body)
      const [other] = Object.keys(others).filter((name) => !name.startsWith('@odata.'))
      if (other !== undefined) badRequest(call, `Property '${other}' is read-only and cannot be set.`)
      change(tenant, grant, { ...grant.doc, scope: readScope(tenant, call, grant.doc.resourceId, scope) })
      return { status: 204 }
    }),
    operation('graph.oauth2PermissionGrants.delete', 'DELETE', one, (call) => {
      requireRole(tenant, call, administrators)
      remove(tenant, grantOf(tenant, call))
      return { status: 204 }
    }),
  ]
}

function grantOf(tenant: Tenant, call: Call): Stored<PermissionGrant> {
  const [id = ''] = call.params
  return permissionGrants(tenant).find((grant) => grant.id === id) ?? notFound(call, id)
}

const resource = 'OAuth2PermissionGrant'

function readScope(tenant: Tenant, call: Call, resourceId: string, scope: unknown): string {
  if (typeof scope !== 'string' || scope.trim() === '') return invalid(call, 'scope', resource)
  const values = scope.trim().split(/\s+/)
  const known = findPrincipal(tenant, 'id', resourceId)?.scopes.map(({ value }) => value) ?? []
  return values.every((value) => known.includes(value)) ? values.join(' ') : invalid(call, 'scope', resource)
}

/** Creates a consent. Each client, resource and person has at most one; a second consent is refused with 409. */
function create(tenant: Tenant, call: Call): Stored<PermissionGrant> {
  requireRole(tenant, call, administrators)
  const { clientId, resourceId, consentType, principalId = null, scope } = asRecord(call.body)
  const existing = (key: string, id: unknown): string => {
    const principal = typeof id === 'string' ? findPrincipal(tenant, 'id', id) : invalid(call, key, resource)
    return principal?.replicated ? principal.id : notFound(call, String(id))
  }
  const client = existing('clientId', clientId)
  const api = existing('resourceId', resourceId)
  if (consentType !== 'AllPrincipals' && consentType !== 'Principal') return invalid(call, 'consentType', resource)
  const isForAll = consentType === 'AllPrincipals'
  const person = !isForAll && typeof principalId === 'string' ? personNow(tenant, principalId) : undefined
  if (isForAll ? principalId !== null : !person) invalid(call, 'principalId', resource)
  const doc: PermissionGrant = {
    clientId: client,
    consentType,
    principalId: person?.id ?? null,
    resourceId: api,
    scope: readScope(tenant, call, api, scope),
  }
  const exists = permissionGrants(tenant).some(
    ({ doc: other }) =>
      other.clientId === doc.clientId && other.resourceId === doc.resourceId && other.principalId === doc.principalId,
  )
  if (exists) refuse(call, 409, 'Request_MultipleObjectsWithSameKeyValue', 'Permission entry already exists.')
  return store(tenant, 'oauth2PermissionGrant', grantId(), doc)
}

const grantDoc = ({ id, doc }: Stored<PermissionGrant>): Record<string, unknown> => ({ id, ...doc })
