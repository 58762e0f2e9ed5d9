import {
  addressOf,
  addSiteOwner,
  asRecord,
  type Call,
  findGroup,
  findLabel,
  findPerson,
  findSite,
  isReady,
  type Operation,
  objectsOf,
  operation,
  type Person,
  type Reply,
  rootSite,
  type Site,
  select,
  siteOwners,
  type Tenant,
  text,
  updateGroup,
  updateSite,
} from '../tenant/index.ts'
import {
  badArgument,
  groupClaim,
  hostedSite,
  parameter,
  personClaim,
  readySite,
  refuse,
  type SharePointSettings,
} from './wire.ts'

const ownerGroup = /^\/sites\/([^/]+)\/_api\/web\/associatedownergroup\/users$/i

/**
 * Creates the operations on a site, its web and its Owners group: `GET` and `POST /_api/web/associatedownergroup/users`
 * (SP.Web.associatedOwnerGroup; adding a user by LoginName `i:0#.f|membership|{upn}`). Adding an existing owner is no
 * error.
 */
export function webOperations(tenant: Tenant, settings: SharePointSettings): readonly Operation[] {
  return [
    operation('sharepoint.web.get', 'GET', /^\/sites\/([^/]+)\/_api\/web$/i, (call) => {
      const site = hostedSite(tenant, call) ?? readySite(tenant, call)
      const doc = webDoc(site, settings.url)
      return { status: 200, body: select(doc, call.query) }
    }),
    operation('sharepoint.rootSite.get', 'GET', /^\/_api\/site$/i, (call) => {
      const doc = { Id: rootSite.id, Url: settings.url, ServerRelativeUrl: '/' }
      return { status: 200, body: select(doc, call.query) }
    }),
    operation('sharepoint.site.get', 'GET', /^\/sites\/([^/]+)\/_api\/site$/i, (call) => {
      const { id, path } = readySite(tenant, call)
      const doc = { Id: id, Url: `${settings.url}/sites/${path}`, ServerRelativeUrl: `/sites/${path}` }
      return { status: 200, body: select(doc, call.query) }
    }),
    operation('sharepoint.owners.list', 'GET', ownerGroup, (call) => {
      const owners = ownerDocs(tenant, readySite(tenant, call))
      return { status: 200, body: { value: owners.map((doc) => select(doc, call.query)) } }
    }),
    operation(
      'sharepoint.web.permissions',
      'GET',
      /^\/sites\/([^/]+)\/_api\/web\/getusereffectivepermissions\(@user\)$/i,
      (call) => effectivePermissions(tenant, call),
    ),
    operation('sharepoint.owners.add', 'POST', ownerGroup, (call) => addOwner(tenant, call)),
  ]
}

/** SP.BasePermissions of an owner, a reader and other people, as `High` and `Low` halves. */
const rights = {
  owner: { High: '2147483647', Low: '4294967295' },
  reader: { High: '176', Low: '138612833' },
  nobody: { High: '0', Low: '0' },
} as const

/** SP.Web.getUserEffectivePermissions: returns a person's permissions in a site. */
function effectivePermissions(tenant: Tenant, call: Call): Reply {
  const site = readySite(tenant, call)
  const loginName = parameter(call, '@user')
  const person = personOfLogin(loginName)
  if (!person)
    return refuse(500, '-2146232832, Microsoft.SharePoint.SPException', 'The specified user could not be found.')
  const roles = site.groupId === undefined ? [] : (['owners', 'members'] as const)
  const [owners = [], members = []] = roles.map((role) => objectsOf(tenant, site.groupId ?? '', role))
  const isOwner = [...owners, ...siteOwners(tenant, site.id).map(({ userId }) => userId)].includes(person.id)
  const group = site.groupId === undefined ? undefined : findGroup(tenant, 'id', site.groupId)
  const isOpen = site.doc.openToAll === true || group?.doc['visibility'] === 'Public'
  const isReader = members.includes(person.id) || (isOpen && person.userType === 'Member')
  return { status: 200, body: rights[isOwner ? 'owner' : isReader ? 'reader' : 'nobody'] }
}

const personOfLogin = (loginName: string): Person | undefined =>
  loginName.startsWith(personClaim) ? findPerson(loginName.slice(personClaim.length)) : undefined

function webDoc(site: Site, url: string): Record<string, unknown> {
  return {
    Id: site.webId,
    Title: site.doc.title,
    Description: site.doc.description,
    Url: addressOf(site, url),
    ServerRelativeUrl: `/sites/${site.path}`,
    Language: site.doc.lcid,
    WebTemplate: site.doc.template.split('#')[0],
    Created: site.createdAt,
    IsProvisioningComplete: isReady(site),
  }
}

/** Returns the members of the Owners group. For a group's site that includes the claim of the group's owners. */
function ownerDocs(tenant: Tenant, site: Site): Record<string, unknown>[] {
  const group = site.groupId === undefined ? [] : [groupPrincipal(site)]
  const people = siteOwners(tenant, site.id).flatMap(({ number, userId }) => {
    const person = findPerson(userId)
    return person ? [userDoc(number, person)] : []
  })
  return [...group, ...people]
}

function groupPrincipal(site: Site): Record<string, unknown> {
  return {
    Id: 3,
    IsHiddenInUI: false,
    LoginName: `${groupClaim}${site.groupId}_o`,
    Title: `${site.doc.title} Owners`,
    PrincipalType: 4,
    Email: '',
    IsSiteAdmin: true,
  }
}

/** Returns a person as SharePoint does (SP.User). */
function userDoc(number: number, person: Person): Record<string, unknown> {
  return {
    // SharePoint's own accounts use the first numbers of a site.
    Id: number + 5,
    IsHiddenInUI: false,
    LoginName: `${personClaim}${person.userPrincipalName}`,
    Title: person.displayName,
    PrincipalType: 1,
    Email: person.userPrincipalName,
    Expiration: '',
    IsEmailAuthenticationGuestUser: false,
    IsShareByEmailGuestUser: false,
    IsSiteAdmin: false,
    UserPrincipalName: person.userPrincipalName,
  }
}

function addOwner(tenant: Tenant, call: Call): Reply {
  const site = readySite(tenant, call)
  const loginName = text(asRecord(call.body), 'LoginName')
  if (loginName === '') badArgument('The property LoginName is missing.')
  const person = personOfLogin(loginName)
  if (!person) {
    const message = `The specified user ${loginName} could not be found.`
    return refuse(400, '-2146232832, Microsoft.SharePoint.SPException', message)
  }
  addSiteOwner(tenant, site.id, person.id)
  const number = siteOwners(tenant, site.id).find(({ userId }) => userId === person.id)?.number ?? 0
  return { status: 201, body: userDoc(number, person) }
}

/**
 * Path of the site properties. `SPO.Tenant` is the short name of
 * `Microsoft.Online.SharePoint.TenantAdministration.Tenant`; both are routes.
 */
const siteProperties =
  /^\/_api\/(?:SPO\.Tenant|Microsoft\.Online\.SharePoint\.TenantAdministration\.Tenant)\/sites\('\{?([0-9a-f-]{36})\}?'\)$/i
const noLabel = '00000000-0000-0000-0000-000000000000'

/**
 * Creates the operations on the tenant administration's site properties, on the admin host: `GET` and `PATCH
 * /_api/SPO.Tenant/sites('{siteId}')`. The route and PATCH with `odata-version: 4.0` are those of pnp/cli-microsoft365
 * (spo site admin add, spo tenant site get) and CIPP-API; PnP sets the property `SensitivityLabel2` app-only on a
 * group's site (pnpcore #1352, pnpframework; Graph's assignedLabels refuses app-only). A POST with `X-HTTP-Method:
 * MERGE` has the same effect.
 */
export function adminOperations(tenant: Tenant, settings: SharePointSettings): readonly Operation[] {
  const site = (call: Call): Site => {
    const found = findSite(tenant, 'id', call.params[0] ?? '')
    if (found && isReady(found)) return found
    return refuse(404, '-1, Microsoft.Online.SharePoint.Common.SpoNoSiteException', 'Cannot get site.')
  }
  const update = (call: Call) => {
    setProperties(tenant, site(call), asRecord(call.body))
    return { status: 204 }
  }
  return [
    operation('sharepoint.tenant.site.get', 'GET', siteProperties, (call) => {
      const doc = propertiesOf(tenant, site(call), settings.url)
      return { status: 200, body: select(doc, call.query) }
    }),
    operation('sharepoint.tenant.site.update', 'PATCH', siteProperties, update),
    operation('sharepoint.tenant.site.update', 'POST', siteProperties, (call) => {
      const method = String(call.headers['x-http-method'] ?? '').toUpperCase()
      return method === 'MERGE' || method === 'PATCH' ? update(call) : badArgument('X-HTTP-Method must be MERGE.')
    }),
  ]
}

function setProperties(tenant: Tenant, site: Site, body: Record<string, unknown>): void {
  const { SensitivityLabel2: label, SensitivityLabel: older, Title: title, ...others } = body
  const unknown = Object.keys(others).find((name) => !name.startsWith('odata.') && name !== '__metadata')
  if (unknown) badArgument(`The property '${unknown}' does not exist on type 'SiteProperties'.`)
  const value = label ?? older
  const change = typeof title === 'string' && title !== '' ? { title } : {}
  updateSite(tenant, site, value === undefined ? change : { ...change, label: setLabel(tenant, site, value) })
}

/** Sets or clears the label and returns its id. A group's site shares its label with the group (`assignedLabels`). */
function setLabel(tenant: Tenant, site: Site, value: unknown): string | undefined {
  const id = typeof value === 'string' ? value.toLowerCase() : 'none'
  const label = findLabel(id)
  const cleared = id === '' || id === noLabel
  if (!label && !cleared) badArgument('The sensitivity label is not known.')
  const group = site.groupId === undefined ? undefined : findGroup(tenant, 'id', site.groupId)
  const assignedLabels = label ? [{ labelId: label.id, displayName: label.name }] : []
  if (group) updateGroup(tenant, group, { doc: { assignedLabels } })
  return label?.id
}

function propertiesOf(tenant: Tenant, site: Site, url: string): Record<string, unknown> {
  const person = siteOwners(tenant, site.id).map(({ userId }) => findPerson(userId))[0]?.userPrincipalName ?? ''
  // A group's site belongs to the group's owners, which SharePoint shows as one claim.
  const owner = site.groupId === undefined ? person : `${site.groupId}_o`
  return {
    SiteId: site.id,
    GroupId: site.groupId ?? noLabel,
    Title: site.doc.title,
    Url: addressOf(site, url),
    Template: site.doc.template,
    Lcid: site.doc.lcid,
    Status: 'Active',
    Owner: owner,
    OwnerLoginName: `${site.groupId === undefined ? personClaim : groupClaim}${owner}`,
    SensitivityLabel: site.doc.label ?? noLabel,
    SensitivityLabel2: site.doc.label ?? '',
  }
}
