import {
  addressesOf,
  allMailboxes,
  asRecord,
  type Call,
  type Caller,
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
  operation,
  type Person,
  peopleNow,
  personNow,
  type Reply,
  select,
  setAccount,
  type Tenant,
  upnOf,
} from '../tenant/index.ts'
import { badRequest, filterTest, type GraphSettings, listReply, notFound, refuse, searchTest } from './wire.ts'

/** The properties of a user without `$select`. */
export const userDefaults = [
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
    operation('graph.users.list', 'GET', /^\/v1\.0\/users$/, (call) => listUsers(tenant, call, settings.url)),
    operation('graph.users.get', 'GET', /^\/v1\.0\/users\/([^/]+)$/, (call) => {
      const account = mailboxOfAccount(tenant, call.params[0] ?? '')
      const doc = account ? accountDoc(account) : userDoc(tenant, person(tenant, call), call.caller)
      return { status: 200, body: { '@odata.context': `${context}/$entity`, ...select(doc, call.query, userDefaults) } }
    }),
    operation('graph.users.update', 'PATCH', /^\/v1\.0\/users\/([^/]+)$/, (call) => changeAccount(tenant, call)),
    operation('graph.users.manager', 'GET', /^\/v1\.0\/users\/([^/]+)\/manager$/, (call) => {
      const manager = personNow(tenant, person(tenant, call).managerId ?? '')
      if (!manager) return notFound(call, 'manager')
      const type = { '@odata.type': '#microsoft.graph.user' }
      const doc = select(userDoc(tenant, manager, call.caller), call.query, userDefaults)
      return { status: 200, body: { '@odata.context': `${context}/$entity`, ...type, ...doc } }
    }),
    listDeleted(tenant, settings),
    memberOf(tenant, settings, 'memberOf'),
    memberOf(tenant, settings, 'transitiveMemberOf'),
    operation('graph.users.checkMemberGroups', 'POST', /^\/v1\.0\/users\/([^/]+)\/checkMemberGroups$/, (call) =>
      checkMemberGroups(tenant, settings, call),
    ),
  ]
}

/** A person in Graph, as the caller may see them. */
export function userDoc(tenant: Tenant, person: Person, caller: Caller): Record<string, unknown> {
  const { managerId: _, hasMailbox, mail: _mail, ...properties } = person
  const [primary = null, ...others] = addressesOf(person)
  const isHidden = hiddenOf(tenant, person, caller)
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

function person(tenant: Tenant, call: Call): Person {
  const id = call.params[0] ?? ''
  return personNow(tenant, id) ?? notFound(call, id)
}

/** Lists people, with the accounts of mailboxes unless there is only a `$filter`, unlike in Graph. */
function listUsers(tenant: Tenant, call: Call, url: string): Reply {
  const accounts = !call.query.has('$filter') || call.query.has('$search') ? allMailboxes(tenant).map(accountDoc) : []
  const found = [...peopleNow(tenant).map((one) => userDoc(tenant, one, call.caller)), ...accounts]
    .filter(filterTest(call))
    .filter(searchTest(call, searchable))
    .map((doc) => select(doc, call.query, userDefaults))
  return listReply(call, url, 'users', found)
}

const searchable = ['displayName', 'mail', 'userPrincipalName', 'givenName', 'surname']

function memberOf(tenant: Tenant, settings: GraphSettings, kind: 'memberOf' | 'transitiveMemberOf'): Operation {
  return operation(
    `graph.users.${kind}`,
    'GET',
    new RegExp(`^/v1\\.0/users/([^/]+)/${kind}(?:/microsoft\\.graph\\.group)?$`),
    (call) => {
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
      return listReply(call, settings.url, 'directoryObjects', value)
    },
  )
}

function checkMemberGroups(tenant: Tenant, settings: GraphSettings, call: Call): Reply {
  const groupIds = asRecord(call.body)['groupIds']
  if (!Array.isArray(groupIds) || groupIds.length === 0 || groupIds.length > 20) {
    return badRequest(call, "The collection 'groupIds' must have 1 to 20 group ids.")
  }
  const groupIdsOfPerson = new Set(groupsOf(tenant, person(tenant, call).id, true).map((group) => group.id))
  const value = groupIds.filter((id) => typeof id === 'string' && groupIdsOfPerson.has(id.toLowerCase()))
  return { status: 200, body: { '@odata.context': `${settings.url}/v1.0/$metadata#Collection(Edm.String)`, value } }
}

/** Finds a mailbox by the object id or userPrincipalName of its account. */
function mailboxOfAccount(tenant: Tenant, idOrUpn: string): Mailbox | undefined {
  const mailbox = findMailbox(tenant, idOrUpn)
  const key = idOrUpn.toLowerCase()
  return mailbox && (mailbox.id === key || upnOf(mailbox).toLowerCase() === key) ? mailbox : undefined
}

/** A mailbox's account in Graph, with Graph's names for the values of Set-User. */
function accountDoc(mailbox: Mailbox): Record<string, unknown> {
  const { user, displayName } = mailbox.doc
  const contactValue = (name: string) => user[name] || null
  return {
    id: mailbox.id,
    displayName,
    givenName: contactValue('FirstName'),
    surname: contactValue('LastName'),
    userPrincipalName: upnOf(mailbox),
    mail: mailbox.addresses[0],
    proxyAddresses: mailbox.addresses.map((address, index) => `${index === 0 ? 'SMTP' : 'smtp'}:${address}`),
    mailNickname: mailbox.alias,
    accountEnabled: mailbox.accountEnabled,
    userType: 'Member',
    businessPhones: contactValue('Phone') === null ? [] : [user['Phone']],
    mobilePhone: contactValue('MobilePhone'),
    preferredLanguage: null,
    jobTitle: contactValue('Title'),
    department: contactValue('Department'),
    companyName: contactValue('Company'),
    officeLocation: contactValue('Office'),
    streetAddress: contactValue('StreetAddress'),
    postalCode: contactValue('PostalCode'),
    city: contactValue('City'),
    state: contactValue('StateOrProvince'),
    country: contactValue('CountryOrRegion'),
  }
}

/** `PATCH /users/{id}`: changes only `accountEnabled`, of a mailbox's account or of a person. */
function changeAccount(tenant: Tenant, call: Call): Reply {
  const mailbox = mailboxOfAccount(tenant, call.params[0] ?? '')
  const owner = mailbox ? undefined : person(tenant, call)
  const { accountEnabled, ...others } = asRecord(call.body)
  const [other] = Object.keys(others)
  if (other !== undefined) {
    return refuse(call, 400, 'Request_BadRequest', `The simulator does not change the property '${other}' of a user.`)
  }
  if (typeof accountEnabled !== 'boolean') {
    return badRequest(call, "Invalid value specified for property 'accountEnabled' of resource 'User'.")
  }
  if (mailbox) enableAccount(tenant, mailbox.id, accountEnabled)
  if (owner) setAccount(tenant, owner, accountEnabled ? 'active' : 'blocked')
  return { status: 204 }
}

/** Deleted users: people, and the accounts of removed mailboxes. */
const listDeleted = (tenant: Tenant, { url }: GraphSettings): Operation =>
  operation('graph.deletedItems.users', 'GET', /^\/v1\.0\/directory\/deletedItems\/microsoft\.graph\.user$/, (call) => {
    const found = [...deletedPeople(tenant), ...deletedAccounts(tenant)]
      .filter(filterTest(call))
      .map((doc) => select(doc, call.query))
    return listReply(call, url, 'users', found)
  })
