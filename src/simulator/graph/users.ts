import {
  addressesOf,
  allMailboxes,
  asRecord,
  type Call,
  contoso,
  deletedAccounts,
  deletedPeople,
  enableAccount,
  findMailbox,
  groupDoc,
  groupsOf,
  hiddenOf,
  type Mailbox,
  type Operation,
  type Person,
  peopleNow,
  personNow,
  type Reply,
  select,
  type Tenant,
  upnOf,
} from '../tenant/index.ts'
import { badRequest, type GraphSettings, notFound, page, parseFilter, refuse, searchTest } from './wire.ts'

const defaults = [
  'businessPhones',
  'displayName',
  'givenName',
  'jobTitle',
  'mail',
  'mobilePhone',
  'officeLocation',
  'preferredLanguage',
  'surname',
  'userPrincipalName',
  'id',
]

/** `/users`: search, filter, one person or a mailbox's account, the manager. */
export function userOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const context = `${settings.url}/v1.0/$metadata#users`
  return [
    {
      name: 'graph.users.list',
      method: 'GET',
      path: /^\/v1\.0\/users$/,
      handle: (call) => listUsers(tenant, call, settings.url),
    },
    {
      name: 'graph.users.get',
      method: 'GET',
      path: /^\/v1\.0\/users\/([^/]+)$/,
      handle: (call) => {
        const account = mailboxOfAccount(tenant, call.params[0] ?? '')
        const doc = account ? accountDoc(account) : userDoc(tenant, person(tenant, call))
        return { status: 200, body: { '@odata.context': `${context}/$entity`, ...select(doc, call.query, defaults) } }
      },
    },
    {
      name: 'graph.users.update',
      method: 'PATCH',
      path: /^\/v1\.0\/users\/([^/]+)$/,
      handle: (call) => changeAccount(tenant, call),
    },
    {
      name: 'graph.users.manager',
      method: 'GET',
      path: /^\/v1\.0\/users\/([^/]+)\/manager$/,
      handle: (call) => {
        const manager = personNow(tenant, person(tenant, call).managerId ?? '')
        if (!manager) return notFound(call, 'manager')
        const type = { '@odata.type': '#microsoft.graph.user' }
        const doc = select(userDoc(tenant, manager), call.query, defaults)
        return { status: 200, body: { '@odata.context': `${context}/$entity`, ...type, ...doc } }
      },
    },
    listDeleted(tenant, settings),
    memberOf(tenant, settings, 'memberOf'),
    memberOf(tenant, settings, 'transitiveMemberOf'),
    {
      name: 'graph.users.checkMemberGroups',
      method: 'POST',
      path: /^\/v1\.0\/users\/([^/]+)\/checkMemberGroups$/,
      handle: (call) => checkMemberGroups(tenant, settings, call),
    },
  ]
}

/** A person as Graph shows one. */
export function userDoc(tenant: Tenant, person: Person): Record<string, unknown> {
  const { managerId: _, hasMailbox, mail: _mail, ...properties } = person
  const [primary = null, ...others] = addressesOf(person)
  const isHidden = hiddenOf(tenant, person)
  const doc = {
    businessPhones: [],
    mobilePhone: null,
    preferredLanguage: null,
    ...properties,
    mail: person.userType === 'Guest' ? (person.mail ?? null) : primary,
    proxyAddresses: hasMailbox ? [`SMTP:${primary}`, ...others.map((address) => `smtp:${address}`)] : [],
    mailNickname: person.userPrincipalName.split('@')[0],
    companyName: contoso.displayName,
  }
  return Object.fromEntries(Object.entries(doc).map(([name, value]) => [name, isHidden(name) ? null : value]))
}

/** The default properties of a user inside other lists (owners, members). */
export const userDefaults = defaults

function person(tenant: Tenant, call: Call): Person {
  const id = call.params[0] ?? ''
  return personNow(tenant, id) ?? notFound(call, id)
}

/** The whole list, and a `$search`, have the accounts of mailboxes too. A `$filter` finds people alone, unlike in Graph. */
function listUsers(tenant: Tenant, call: Call, url: string): Reply {
  const filter = call.query.get('$filter')
  const accounts = filter === null || call.query.has('$search') ? allMailboxes(tenant).map(accountDoc) : []
  const found = [...peopleNow(tenant).map((one) => userDoc(tenant, one)), ...accounts]
    .filter(filter === null ? () => true : parseFilter(filter))
    .filter(searchTest(call, searchable))
    .map((doc) => select(doc, call.query, defaults))
  const context = { '@odata.context': `${url}/v1.0/$metadata#users` }
  return { status: 200, body: { ...context, ...page(found, call.query, `${url}/v1.0/users`) } }
}

const searchable = ['displayName', 'mail', 'userPrincipalName', 'givenName', 'surname']

function memberOf(tenant: Tenant, settings: GraphSettings, kind: 'memberOf' | 'transitiveMemberOf'): Operation {
  return {
    name: `graph.users.${kind}`,
    method: 'GET',
    path: new RegExp(`^/v1\\.0/users/([^/]+)/${kind}(?:/microsoft\\.graph\\.group)?$`),
    handle: (call) => {
      const groups = groupsOf(tenant, person(tenant, call).id, kind === 'transitiveMemberOf')
      const value = groups.map((group) => {
        const {
          [settings.directoryExtension]: extension,
          assignedLabels: _,
          ...doc
        } = groupDoc(group, settings.directoryExtension)
        const all = extension === undefined ? doc : { ...doc, [settings.directoryExtension]: extension }
        return { '@odata.type': '#microsoft.graph.group', ...select(all, call.query, Object.keys(doc)) }
      })
      const self = `${settings.url}${call.path}`
      const context = { '@odata.context': `${settings.url}/v1.0/$metadata#directoryObjects` }
      return { status: 200, body: { ...context, ...page(value, call.query, self) } }
    },
  }
}

function checkMemberGroups(tenant: Tenant, settings: GraphSettings, call: Call): Reply {
  const asked = asRecord(call.body)['groupIds']
  if (!Array.isArray(asked) || asked.length === 0 || asked.length > 20) {
    return badRequest(call, "The collection 'groupIds' must have 1 to 20 group ids.")
  }
  const held = new Set(groupsOf(tenant, person(tenant, call).id, true).map((group) => group.id))
  const value = asked.filter((id) => typeof id === 'string' && held.has(id.toLowerCase()))
  return { status: 200, body: { '@odata.context': `${settings.url}/v1.0/$metadata#Collection(Edm.String)`, value } }
}

/** The mailbox whose account Graph knows by object id or userPrincipalName. Accounts are not listed among the people. */
export function mailboxOfAccount(tenant: Tenant, idOrUpn: string): Mailbox | undefined {
  const mailbox = findMailbox(tenant, idOrUpn)
  const key = idOrUpn.toLowerCase()
  return mailbox && (mailbox.id === key || upnOf(mailbox).toLowerCase() === key) ? mailbox : undefined
}

/** A mailbox's account as Graph shows one; what Set-User wrote shows here under Graph's names. */
export function accountDoc(mailbox: Mailbox): Record<string, unknown> {
  const { user, displayName } = mailbox.doc
  const held = (name: string) => user[name] || null
  return {
    id: mailbox.id,
    displayName,
    givenName: held('FirstName'),
    surname: held('LastName'),
    userPrincipalName: upnOf(mailbox),
    mail: mailbox.addresses[0],
    proxyAddresses: mailbox.addresses.map((address, index) => `${index === 0 ? 'SMTP' : 'smtp'}:${address}`),
    mailNickname: mailbox.alias,
    accountEnabled: mailbox.accountEnabled,
    userType: 'Member',
    businessPhones: held('Phone') === null ? [] : [user['Phone']],
    mobilePhone: held('MobilePhone'),
    preferredLanguage: null,
    jobTitle: held('Title'),
    department: held('Department'),
    companyName: held('Company'),
    officeLocation: held('Office'),
    streetAddress: held('StreetAddress'),
    postalCode: held('PostalCode'),
    city: held('City'),
    state: held('StateOrProvince'),
    country: held('CountryOrRegion'),
  }
}

/** `PATCH /users/{id}` with `accountEnabled` for a mailbox's account (facts 4.4); nothing else is simulated. */
export function changeAccount(tenant: Tenant, call: Call): Reply {
  const id = call.params[0] ?? ''
  const mailbox = mailboxOfAccount(tenant, id) ?? notFound(call, id)
  const { accountEnabled, ...others } = asRecord(call.body)
  const [other] = Object.keys(others)
  if (other !== undefined) {
    return refuse(call, 400, 'Request_BadRequest', `The simulator does not change the property '${other}' of a user.`)
  }
  if (typeof accountEnabled !== 'boolean') {
    return badRequest(call, "Invalid value specified for property 'accountEnabled' of resource 'User'.")
  }
  enableAccount(tenant, mailbox.id, accountEnabled)
  return { status: 204 }
}

/** Deleted users: people, and the accounts of removed mailboxes. */
export const listDeleted = (tenant: Tenant, { url }: GraphSettings): Operation => ({
  name: 'graph.deletedItems.users',
  method: 'GET',
  path: /^\/v1\.0\/directory\/deletedItems\/microsoft\.graph\.user$/,
  handle: (call) => {
    const filter = call.query.get('$filter')
    const found = [...deletedPeople(tenant), ...deletedAccounts(tenant)]
      .filter(filter === null ? () => true : parseFilter(filter))
      .map((doc) => select(doc, call.query, Object.keys(doc)))
    const context = { '@odata.context': `${url}/v1.0/$metadata#users` }
    return { status: 200, body: { ...context, ...page(found, call.query, `${url}${call.path}`) } }
  },
})
