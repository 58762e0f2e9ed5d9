import {
  addressOf,
  addSiteOwner,
  asRecord,
  type Call,
  findGroup,
  findPerson,
  isReady,
  type Operation,
  objectsOf,
  operation,
  type Person,
  type Reply,
  type Site,
  select,
  siteOwners,
  type Tenant,
  text,
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
 * A site, its web and its Owners group: `GET` and `POST /_api/web/associatedownergroup/users`
 * (SP.Web.associatedOwnerGroup; adding a user by LoginName `i:0#.f|membership|{upn}`). Adding one again is no error.
 */
export function webOperations(tenant: Tenant, settings: SharePointSettings): readonly Operation[] {
  return [
    operation('sharepoint.web.get', 'GET', /^\/sites\/([^/]+)\/_api\/web$/i, (call) => {
      const site = hostedSite(tenant, call) ?? readySite(tenant, call)
      const doc = webDoc(site, settings.url)
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

/** SP.Web.getUserEffectivePermissions: a person's permissions in a site. */
function effectivePermissions(tenant: Tenant, call: Call): Reply {
  const site = readySite(tenant, call)
  const loginName = parameter(call, '@user')
  const person = loginName.startsWith(personClaim) ? findPerson(loginName.slice(personClaim.length)) : undefined
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

/** Members of the Owners group. For a group's site that includes the claim of the group's owners. */
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

/** A person in SharePoint (SP.User). */
function userDoc(number: number, person: Person): Record<string, unknown> {
  return {
    // SharePoint's own accounts have the first numbers of a site.
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
  const person = loginName.startsWith(personClaim) ? findPerson(loginName.slice(personClaim.length)) : undefined
  if (!person) {
    const message = `The specified user ${loginName} could not be found.`
    return refuse(400, '-2146232832, Microsoft.SharePoint.SPException', message)
  }
  addSiteOwner(tenant, site.id, person.id)
  const number = siteOwners(tenant, site.id).find(({ userId }) => userId === person.id)?.number ?? 0
  return { status: 201, body: userDoc(number, person) }
}
