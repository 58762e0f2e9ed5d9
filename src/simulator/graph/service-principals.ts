import {
  type AppRoleAssignment,
  addPrincipal,
  allPrincipals,
  applicationAdministrators,
  appRoleAssignments,
  changePrincipal,
  findApplication,
  findPrincipal,
  grantId,
  graphAppId,
  isReplicated,
  type Principal,
  remove,
  removePrincipal,
  roleAdministrators,
  type Stored,
  store,
} from '../registrations/index.ts'
import {
  asRecord,
  type Call,
  contoso,
  type Operation,
  operation,
  personNow,
  type Reply,
  select,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { invalid } from './application-body.ts'
import {
  badRequest,
  denied,
  filterTest,
  type GraphSettings,
  keyOf,
  listReply,
  notFound,
  onePath,
  refuse,
  requireRole,
} from './wire.ts'

const collection = /^\/v1\.0\/servicePrincipals$/
const byAppId = /^\/v1\.0\/servicePrincipals\/?\((appId)='([^']+)'\)$/
const one = onePath('servicePrincipals')

/** `/servicePrincipals`: identities of registrations in the tenant, and the application permissions that they have. */
export function principalOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const shown = (call: Call, status: number, principal: Principal): Reply => ({
    status,
    ...(status === 201 && { headers: { location: `${settings.url}/v1.0/servicePrincipals/${principal.id}` } }),
    body: {
      '@odata.context': `${settings.url}/v1.0/$metadata#servicePrincipals/$entity`,
      ...select(principalDoc(principal), call.query),
    },
  })
  return [
    operation('graph.servicePrincipals.list', 'GET', collection, (call) => {
      const docs = allPrincipals(tenant).map(principalDoc).filter(filterTest(call))
      return listReply(
        call,
        settings.url,
        'servicePrincipals',
        docs.map((doc) => select(doc, call.query)),
      )
    }),
    operation('graph.servicePrincipals.create', 'POST', collection, (call) =>
      shown(call, 201, create(tenant, call, text(asRecord(call.body), 'appId'))),
    ),
    operation('graph.servicePrincipals.upsert', 'PATCH', byAppId, (call) => {
      const [, appId = ''] = call.params
      const existing = findPrincipal(tenant, 'appId', appId)
      if (existing) return update(tenant, call, existing)
      const mayCreate = /\bcreate-if-missing\b/.test(String(call.headers['prefer'] ?? ''))
      return mayCreate ? shown(call, 201, create(tenant, call, appId)) : notFound(call, appId)
    }),
    operation('graph.servicePrincipals.get', 'GET', one, (call) => shown(call, 200, principalOf(tenant, call))),
    operation('graph.servicePrincipals.update', 'PATCH', one, (call) =>
      update(tenant, call, principalOf(tenant, call)),
    ),
    operation('graph.servicePrincipals.delete', 'DELETE', one, (call) => {
      requireRole(tenant, call, applicationAdministrators)
      const principal = principalOf(tenant, call)
      if (!principal.application) return denied(call)
      removePrincipal(tenant, principal)
      return { status: 204 }
    }),
    ...assignmentOperations(tenant, settings, 'appRoleAssignments', 'principalId'),
    ...assignmentOperations(tenant, settings, 'appRoleAssignedTo', 'resourceId'),
  ]
}

/** Returns the service principal in the path. Ends the call with 404 when the service principal does not exist. */
function principalOf(tenant: Tenant, call: Call): Principal {
  const { key, value } = keyOf(call)
  if (key !== 'id' && key !== 'appId')
    return badRequest(call, `Resource not found for the segment 'servicePrincipals(${key})'.`)
  return findPrincipal(tenant, key, value) ?? notFound(call, value)
}

const settable = ['accountEnabled', 'appRoleAssignmentRequired', 'description', 'notes', 'tags'] as const

function readSettings(call: Call): Record<string, unknown> {
  const { appId: _, '@odata.type': _type, ...body } = asRecord(call.body)
  const unknown = Object.keys(body).find((name) => !settable.some((one) => one === name))
  if (unknown !== undefined)
    badRequest(call, `The simulator does not change the property '${unknown}' of a servicePrincipal.`)
  for (const name of ['accountEnabled', 'appRoleAssignmentRequired']) {
    if (body[name] !== undefined && typeof body[name] !== 'boolean') invalid(call, name, 'ServicePrincipal')
  }
  return body
}

/** Creates a service principal. A server that does not know the new registration yet answers 400. */
function create(tenant: Tenant, call: Call, appId: string): Principal {
  requireRole(tenant, call, applicationAdministrators)
  const settings = readSettings(call)
  if (appId === '') invalid(call, 'appId', 'ServicePrincipal')
  const application = findApplication(tenant, 'appId', appId)
  if (!application || !isReplicated(tenant, application.at)) {
    const message = `The appId '${appId}' of the service principal does not reference a valid application object.`
    return refuse(call, 400, 'Request_BadRequest', message, [
      { code: 'NoBackingApplicationObject', target: 'appId', message },
    ])
  }
  if (findPrincipal(tenant, 'appId', appId)) {
    const message = `The service principal cannot be created, updated, or restored because the service principal name ${appId} is already in use.`
    refuse(call, 409, 'Request_MultipleObjectsWithSameKeyValue', message, [
      { code: 'ConflictingObjects', target: 'servicePrincipalNames', message },
    ])
  }
  return addPrincipal(tenant, application.doc.appId, settings)
}

function update(tenant: Tenant, call: Call, principal: Principal): Reply {
  requireRole(tenant, call, applicationAdministrators)
  if (!principal.application) return denied(call)
  changePrincipal(tenant, principal, readSettings(call))
  return { status: 204 }
}

/** Returns a service principal as Graph does. */
function principalDoc(principal: Principal): Record<string, unknown> {
  const { id, appId, displayName, appRoles, scopes, names, ownerTenantId, application } = principal
  return {
    id,
    deletedDateTime: null,
    accountEnabled: true,
    alternativeNames: [],
    appDisplayName: displayName,
    appDescription: null,
    appId,
    appOwnerOrganizationId: ownerTenantId,
    appRoleAssignmentRequired: false,
    description: null,
    displayName,
    homepage: null,
    notes: null,
    servicePrincipalNames: names,
    servicePrincipalType: 'Application',
    signInAudience: application?.doc.signInAudience ?? 'AzureADMultipleOrgs',
    tags: [],
    appRoles: appRoles.map((role) => ({ origin: 'Application', ...role })),
    oauth2PermissionScopes: scopes,
    keyCredentials: [],
    passwordCredentials: [],
    ...principal.settings,
  }
}

/**
 * Creates the operations on the application permissions of a service principal (`appRoleAssignments`) or at a service
 * principal (`appRoleAssignedTo`). `own` is the end of the assignment that the path identifies.
 */
function assignmentOperations(
  tenant: Tenant,
  settings: GraphSettings,
  name: 'appRoleAssignments' | 'appRoleAssignedTo',
  own: 'principalId' | 'resourceId',
): readonly Operation[] {
  const context = (id: string) => `servicePrincipals('${id}')/${name}`
  const path = onePath('servicePrincipals', `/${name}`)
  return [
    operation(`graph.${name}.list`, 'GET', path, (call) => {
      const principal = principalOf(tenant, call)
      const docs = appRoleAssignments(tenant)
        .filter(({ doc }) => doc[own] === principal.id)
        .map((each) => assignmentDoc(tenant, each))
      return listReply(call, settings.url, context(principal.id), docs.filter(filterTest(call)))
    }),
    operation(`graph.${name}.create`, 'POST', path, (call) => {
      const principal = principalOf(tenant, call)
      const assignment = assign(tenant, call, principal, own)
      const odata = { '@odata.context': `${settings.url}/v1.0/$metadata#${context(principal.id)}/$entity` }
      return { status: 201, body: { ...odata, ...assignmentDoc(tenant, assignment) } }
    }),
    operation(`graph.${name}.delete`, 'DELETE', onePath('servicePrincipals', `/${name}/([^/]+)`), (call) => {
      const principal = principalOf(tenant, call)
      const [, , , id = ''] = call.params
      const found = appRoleAssignments(tenant).find((each) => each.id === id && each.doc[own] === principal.id)
      if (!found) return notFound(call, id)
      requireGrantor(tenant, call, found.doc.resourceId)
      remove(tenant, found)
      return { status: 204 }
    }),
  ]
}

/** Graph's own permissions need `AppRoleAssignment.ReadWrite.All` and an administrator of roles. */
function requireGrantor(tenant: Tenant, call: Call, resourceId: string): void {
  const isGraph = findPrincipal(tenant, 'id', resourceId)?.appId === graphAppId
  if (isGraph && !call.caller.permissions.includes('AppRoleAssignment.ReadWrite.All')) denied(call)
  requireRole(tenant, call, isGraph ? roleAdministrators : [...applicationAdministrators, ...roleAdministrators])
}

function assign(
  tenant: Tenant,
  call: Call,
  self: Principal,
  own: 'principalId' | 'resourceId',
): Stored<AppRoleAssignment> {
  const body = asRecord(call.body)
  const ids = { principalId: '', resourceId: '', appRoleId: '' }
  for (const key of ['principalId', 'resourceId', 'appRoleId'] as const) {
    const value = text(body, key).toLowerCase()
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) invalid(call, key, 'AppRoleAssignment')
    ids[key] = value
  }
  if (ids[own] !== self.id) badRequest(call, 'Not a valid reference update.')
  const principal = findPrincipal(tenant, 'id', ids.principalId)
  const resource = findPrincipal(tenant, 'id', ids.resourceId)
  // A server that does not know a new service principal yet answers as if it did not exist (msgraph-bicep-types #193).
  if (!principal?.replicated)
    return own === 'principalId' ? notFound(call, ids.principalId) : badRequest(call, 'Not a valid reference update.')
  if (!resource?.replicated)
    return own === 'resourceId' ? notFound(call, ids.resourceId) : badRequest(call, 'Not a valid reference update.')
  requireGrantor(tenant, call, resource.id)
  const role = resource.appRoles.find(({ id }) => id === ids.appRoleId)
  if (!role) badRequest(call, 'Permission being assigned was not found on application')
  if (!role?.allowedMemberTypes.includes('Application')) invalid(call, 'appRoleId', 'AppRoleAssignment')
  const isThere = appRoleAssignments(tenant).some(
    ({ doc }) =>
      doc.principalId === ids.principalId && doc.resourceId === ids.resourceId && doc.appRoleId === ids.appRoleId,
  )
  if (isThere) {
    const message = 'Permission being assigned already exists on the object'
    refuse(call, 400, 'Request_BadRequest', message, [{ code: 'InvalidUpdate', target: 'appRoleId', message }])
  }
  return store<AppRoleAssignment>(tenant, 'appRoleAssignment', grantId(), ids)
}

function assignmentDoc(tenant: Tenant, { id, at, doc }: Stored<AppRoleAssignment>): Record<string, unknown> {
  const principal = findPrincipal(tenant, 'id', doc.principalId) ?? personNow(tenant, doc.principalId)
  return {
    id,
    deletedDateTime: null,
    appRoleId: doc.appRoleId,
    createdDateTime: new Date(at).toISOString(),
    principalDisplayName: principal?.displayName ?? contoso.displayName,
    principalId: doc.principalId,
    principalType: 'ServicePrincipal',
    resourceDisplayName: findPrincipal(tenant, 'id', doc.resourceId)?.displayName ?? null,
    resourceId: doc.resourceId,
  }
}
