import { randomBytes, randomUUID } from 'node:crypto'
import {
  type Application,
  type ApplicationDoc,
  addApplication,
  allApplications,
  applicationAdministrators,
  changeApplication,
  digestOf,
  findApplication,
  findPrincipal,
  hasRole,
  isReplicated,
  type PasswordCredential,
  removeApplication,
  removePrincipal,
} from '../registrations/index.ts'
import {
  asRecord,
  type Call,
  defaultDomain,
  now,
  type Operation,
  operation,
  personNow,
  type Reply,
  select,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { changed, invalid, newApplication, readApplicationBody } from './application-body.ts'
import { referencedUser } from './group-body.ts'
import { userDefaults, userDoc } from './users.ts'
import {
  badRequest,
  conflict,
  denied,
  filterTest,
  type GraphSettings,
  keyOf,
  listReply,
  notFound,
  onePath,
  requireRole,
} from './wire.ts'

const collection = /^\/v1\.0\/applications$/
const byUniqueName = /^\/v1\.0\/applications\/?\((uniqueName)='((?:[^']|'')+)'\)$/
const one = onePath('applications')

/** `/applications`: registrations, their secrets and owners. */
export function applicationOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const shown = (call: Call, status: number, application: Application): Reply => ({
    status,
    ...(status === 201 && { headers: { location: `${settings.url}/v1.0/applications/${application.id}` } }),
    body: {
      '@odata.context': `${settings.url}/v1.0/$metadata#applications/$entity`,
      ...select(applicationDoc(application, call.query.get('$select')), call.query),
    },
  })
  return [
    operation('graph.applications.list', 'GET', collection, (call) => {
      const docs = allApplications(tenant).map((each) => applicationDoc(each, null))
      return listReply(
        call,
        settings.url,
        'applications',
        docs.filter(filterTest(call)).map((doc) => select(doc, call.query)),
      )
    }),
    operation('graph.applications.create', 'POST', collection, (call) => shown(call, 201, create(tenant, call, null))),
    operation('graph.applications.getByUniqueName', 'GET', byUniqueName, (call) => {
      const [, key = ''] = call.params
      return shown(call, 200, findApplication(tenant, 'uniqueName', unquoted(key)) ?? notFound(call, unquoted(key)))
    }),
    operation('graph.applications.upsert', 'PATCH', byUniqueName, (call) => {
      const key = unquoted(call.params[1] ?? '')
      const existing = findApplication(tenant, 'uniqueName', key)
      if (existing) return update(tenant, call, existing)
      const mayCreate = /\bcreate-if-missing\b/.test(String(call.headers['prefer'] ?? ''))
      return mayCreate ? shown(call, 201, create(tenant, call, key)) : notFound(call, key)
    }),
    operation('graph.applications.get', 'GET', one, (call) => shown(call, 200, applicationOf(tenant, call))),
    operation('graph.applications.update', 'PATCH', one, (call) => update(tenant, call, applicationOf(tenant, call))),
    operation('graph.applications.delete', 'DELETE', one, (call) => {
      const application = ownApplication(tenant, call)
      const principal = findPrincipal(tenant, 'appId', application.doc.appId)
      if (principal) removePrincipal(tenant, principal)
      removeApplication(tenant, application)
      return { status: 204 }
    }),
    operation('graph.applications.addPassword', 'POST', onePath('applications', '/addPassword'), (call) => ({
      status: 200,
      body: {
        '@odata.context': `${settings.url}/v1.0/$metadata#microsoft.graph.passwordCredential`,
        ...addPassword(tenant, call),
      },
    })),
    operation('graph.applications.removePassword', 'POST', onePath('applications', '/removePassword'), (call) =>
      removePassword(tenant, call),
    ),
    operation('graph.applications.owners.list', 'GET', onePath('applications', '/owners'), (call) => {
      const value = applicationOf(tenant, call).doc.owners.flatMap((id) => {
        const person = personNow(tenant, id)
        if (!person) return []
        const doc = select(userDoc(tenant, person, call.caller), call.query, userDefaults)
        return [{ '@odata.type': '#microsoft.graph.user', ...doc }]
      })
      return listReply(call, settings.url, 'directoryObjects', value)
    }),
    operation('graph.applications.owners.add', 'POST', onePath('applications', '/owners/\\$ref'), (call) => {
      const application = ownApplication(tenant, call)
      const owner = referencedUser(call, asRecord(call.body)['@odata.id'])
      const { owners } = application.doc
      if (owners.includes(owner)) {
        badRequest(
          call,
          "One or more added object references already exist for the following modified properties: 'owners'.",
        )
      }
      changeApplication(tenant, application, { ...application.doc, owners: [...owners, owner] })
      return { status: 204 }
    }),
    operation(
      'graph.applications.owners.remove',
      'DELETE',
      onePath('applications', '/owners/([^/]+)/\\$ref'),
      (call) => {
        const application = ownApplication(tenant, call)
        const [, , , owner = ''] = call.params
        const { owners } = application.doc
        if (!owners.includes(owner)) return notFound(call, owner)
        changeApplication(tenant, application, { ...application.doc, owners: owners.filter((id) => id !== owner) })
        return { status: 204 }
      },
    ),
  ]
}

const unquoted = (value: string): string => value.replaceAll("''", "'")

/** Returns the registration in the path. Ends the call with 404 when the registration does not exist. */
export function applicationOf(tenant: Tenant, call: Call): Application {
  const { key, value } = keyOf(call)
  if (key !== 'id' && key !== 'appId' && key !== 'uniqueName')
    return badRequest(call, `Resource not found for the segment 'applications(${key})'.`)
  return findApplication(tenant, key, value) ?? notFound(call, value)
}

/**
 * Returns the registration in the path for a change. The caller must be an administrator of applications or an owner. A
 * server that does not know a new registration yet answers 404 (msgraph-sdk-dotnet #3108).
 */
function ownApplication(tenant: Tenant, call: Call, application = applicationOf(tenant, call)): Application {
  const { userId } = call.caller
  const isOwner = userId !== undefined && application.doc.owners.includes(userId)
  if (!isOwner) requireRole(tenant, call, applicationAdministrators)
  return isReplicated(tenant, application.at) ? application : notFound(call, application.id)
}

/**
 * Creates a registration. Only administrators may do so: the tenant does not let people register applications. Entra ID
 * does not make an administrator of applications the owner.
 */
function create(tenant: Tenant, call: Call, uniqueName: string | null): Application {
  const { userId } = call.caller
  if (userId !== undefined && !hasRole(tenant, userId, applicationAdministrators)) denied(call)
  const body = readApplicationBody(call, true)
  const bound = asRecord(call.body)['owners@odata.bind'] ?? []
  if (!Array.isArray(bound)) return invalid(call, 'owners')
  const owners = [...new Set(bound.map((url) => referencedUser(call, url)))]
  const doc = { ...changed(call, newApplication(uniqueName), body), owners }
  refuseHeldUris(tenant, call, doc)
  return addApplication(tenant, doc)
}

function update(tenant: Tenant, call: Call, existing: Application): Reply {
  const application = ownApplication(tenant, call, existing)
  if ('owners@odata.bind' in asRecord(call.body)) badRequest(call, "Property 'owners' cannot be changed by an update.")
  const doc = changed(call, application.doc, readApplicationBody(call, false))
  refuseHeldUris(tenant, call, doc)
  changeApplication(tenant, application, doc)
  return { status: 204 }
}

function refuseHeldUris(tenant: Tenant, call: Call, { appId, identifierUris }: ApplicationDoc): void {
  const others = allApplications(tenant).filter(({ doc }) => doc.appId !== appId)
  const held = others.flatMap(({ doc }) => doc.identifierUris.map((uri) => uri.toLowerCase()))
  if (identifierUris.some((uri) => held.includes(uri.toLowerCase()))) conflict(call, 'identifierUris')
}

const secretLife = 2 * 365 * 24 * 3600 * 1000

/** Creates a secret, which Graph shows once. */
function addPassword(tenant: Tenant, call: Call): Record<string, unknown> {
  const application = ownApplication(tenant, call)
  const requested = asRecord(asRecord(call.body)['passwordCredential'])
  const unknown = Object.keys(requested).find((name) => !['displayName', 'startDateTime', 'endDateTime'].includes(name))
  if (unknown !== undefined) badRequest(call, `Invalid property '${unknown}'.`)
  const start = text(requested, 'startDateTime') || new Date(now()).toISOString()
  const end = text(requested, 'endDateTime') || new Date(now() + secretLife).toISOString()
  if (!(Date.parse(end) > Date.parse(start))) invalid(call, 'endDateTime', 'PasswordCredential')
  const secretText = `${randomBytes(3).toString('base64url').slice(0, 3)}8Q~${randomBytes(26).toString('base64url')}`
  const credential: PasswordCredential = {
    ...{ keyId: randomUUID(), displayName: text(requested, 'displayName') || null, hint: secretText.slice(0, 3) },
    ...{ digest: digestOf(secretText), startDateTime: start, endDateTime: end, at: now() },
  }
  const passwordCredentials = [...application.doc.passwordCredentials, credential]
  changeApplication(tenant, application, { ...application.doc, passwordCredentials })
  return { ...passwordDoc(credential), secretText }
}

function removePassword(tenant: Tenant, call: Call): Reply {
  const application = ownApplication(tenant, call)
  const keyId = text(asRecord(call.body), 'keyId')
  const kept = application.doc.passwordCredentials.filter((one) => one.keyId !== keyId)
  if (kept.length === application.doc.passwordCredentials.length)
    return badRequest(call, `No password credential found with keyId '${keyId}'.`)
  changeApplication(tenant, application, { ...application.doc, passwordCredentials: kept })
  return { status: 204 }
}

const passwordDoc = ({ keyId, displayName, hint, startDateTime, endDateTime }: PasswordCredential) => ({
  ...{ customKeyIdentifier: null, displayName, endDateTime, hint, keyId, secretText: null, startDateTime },
})

/** Returns a registration as Graph does. It shows certificates only if `$select` includes `keyCredentials`. */
function applicationDoc({ id, doc }: Application, selected: string | null): Record<string, unknown> {
  const { keyCredentials, passwordCredentials, owners: _, others, createdDateTime, ...rest } = doc
  const withKeys = selected?.split(',').some((name) => name.trim() === 'keyCredentials') ?? false
  return {
    id,
    deletedDateTime: null,
    applicationTemplateId: null,
    createdDateTime,
    description: null,
    groupMembershipClaims: null,
    isDeviceOnlyAuthSupported: null,
    notes: null,
    publisherDomain: defaultDomain,
    serviceManagementReference: null,
    tags: [],
    tokenEncryptionKeyId: null,
    addIns: [],
    optionalClaims: null,
    publicClient: { redirectUris: [] },
    requiredResourceAccess: [],
    servicePrincipalLockConfiguration: null,
    spa: { redirectUris: [] },
    web: {
      ...{ homePageUrl: null, logoutUrl: null, redirectUris: [] },
      implicitGrantSettings: { enableAccessTokenIssuance: false, enableIdTokenIssuance: false },
    },
    ...rest,
    ...others,
    keyCredentials: keyCredentials.map(({ at: _at, ...one }) => ({ ...one, key: withKeys ? one.key : null })),
    passwordCredentials: passwordCredentials.map(passwordDoc),
  }
}
