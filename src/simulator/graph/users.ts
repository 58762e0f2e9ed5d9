import { installableApp, teamsAppDoc } from '../registrations/index.ts'
import {
  addressesOf,
  allMailboxes,
  asRecord,
  type Call,
  type Caller,
  changedPeople,
  contoso,
  deletedAccounts,
  deletedPeople,
  enableAccount,
  findMailbox,
  findPerson,
  groupDefaults,
  groupDoc,
  groupsOf,
  hiddenOf,
  installApp,
  isBasic,
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
  text,
  upnOf,
} from '../tenant/index.ts'
import { badRequest, filterTest, type GraphSettings, listReply, notFound, refuse, searchTest } from './wire.ts'

/** The properties of a user in an answer without `$select`. */
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

/** Returns a person as Graph shows them to the caller. */
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

/**
 * Lists people. Graph always includes the accounts of mailboxes. This list omits them if the query has only a `$filter`,
 * except a filter by mailNickname.
 */
function listUsers(tenant: Tenant, call: Call, url: string): Reply {
  const filter = call.query.get('$filter')
  const hasAccounts = filter === null || filter.startsWith('mailNickname ') || call.query.has('$search')
  const accounts = hasAccounts ? allMailboxes(tenant).map(accountDoc) : []
  const found = [...peopleDocs(tenant, call.caller), ...accounts]
    .filter(filterTest(call))
    .filter(searchTest(call, searchable))
  const { status, body } = listReply(call, url, 'users', found)
  const { value, ...envelope } = asRecord(body)
  const page = (Array.isArray(value) ? value : []).map((doc) => select(doc, call.query, userDefaults))
  return { status, body: { ...envelope, value: page } }
}

/** Kept, because a large tenant has many people. */
const unchanged = { basic: new WeakMap<Person, Doc>(), full: new WeakMap<Person, Doc>() }

/** Returns all people as Graph shows them to the caller. */
function peopleDocs(tenant: Tenant, caller: Caller): Doc[] {
  const changed = changedPeople(tenant)
  const kept = unchanged[isBasic(caller) ? 'basic' : 'full']
  return peopleNow(tenant).map((one) => {
    const doc = (changed.has(one.id) ? undefined : kept.get(one)) ?? userDoc(tenant, one, caller)
    if (!changed.has(one.id)) kept.set(one, doc)
    return doc
  })
}
type Doc = Record<string, unknown>

const searchable = ['displayName', 'mail', 'userPrincipalName', 'givenName', 'surname']

function memberOf(tenant: Tenant, settings: GraphSettings, kind: 'memberOf' | 'transitiveMemberOf'): Operation {
  return operation(
    `graph.users.${kind}`,
    'GET',
    new RegExp(`^/v1\\.0/users/([^/]+)/${kind}(?:/microsoft\\.graph\\.group)?$`),
    (call) => {
      const groups = groupsOf(tenant, person(tenant, call).id, kind === 'transitiveMemberOf')
      const value = groups.map((group) => {
        const { assignedLabels: _, ...doc } = groupDoc(group)
        return { '@odata.type': '#microsoft.graph.group', ...select(doc, call.query, groupDefaults(group)) }
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

/** Returns a mailbox's account as Graph does, with Graph's names for the values of Set-User. */
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

/** Lists deleted users: people, and the accounts of removed mailboxes. */
const listDeleted = (tenant: Tenant, { url }: GraphSettings): Operation =>
  operation('graph.deletedItems.users', 'GET', /^\/v1\.0\/directory\/deletedItems\/microsoft\.graph\.user$/, (call) => {
    const found = [...deletedPeople(tenant), ...deletedAccounts(tenant)]
      .filter(filterTest(call))
      .map((doc) => select(doc, call.query))
    return listReply(call, url, 'users', found)
  })

const path = /^\/v1\.0\/users\/([^/]+)\/teamwork\/installedApps$/
const chatPath = /^\/v1\.0\/users\/([^/]+)\/teamwork\/installedApps\/([^/]+)\/chat$/
const catalogued = /^https?:\/\/[^/]+\/v1\.0\/appCatalogs\/teamsApps\/([^/]+)$/

/**
 * Creates the operations on apps in Teams: installation for a person (201 without a body, 409 the second time), the
 * list, and the chat between the person and the app. The activity that Teams then sends to the bot is not simulated.
 */
export function installedAppOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  return [
    operation('graph.installedApps.add', 'POST', path, (call) => install(tenant, call)),
    operation('graph.installedApps.list', 'GET', path, (call) => {
      const expanded = (call.query.get('$expand') ?? '').split(',')
      const shown = installedFor(tenant, teamsUser(call).id)
        .filter(filterTest(call))
        .map((one) => select(one, new URLSearchParams({ $select: ['id', ...expanded].join(',') })))
      return listReply(call, url, `users('${call.params[0]}')/teamwork/installedApps`, shown)
    }),
    operation('graph.installedApps.chat', 'GET', chatPath, (call) => {
      const { id } = teamsUser(call)
      const own = installedFor(tenant, id).find((one) => one.id === call.params[1])
      if (!own) return refuse(call, 404, 'NotFound', 'No installation of an app was found with this id.')
      const chat = select(chatOf(id, own.externalId), call.query)
      return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#chats/$entity`, ...chat } }
    }),
  ]
}

/**
 * Returns the person in the path. Only people with a licence have Teams here; guests have it in their own organisation.
 */
function teamsUser(call: Call) {
  const id = call.params[0] ?? ''
  const person = findPerson(id) ?? notFound(call, id)
  return person.hasMailbox ? person : refuse(call, 404, 'NotFound', 'The user is not found in Microsoft Teams.')
}

function install(tenant: Tenant, call: Call): Reply {
  const person = teamsUser(call)
  const [, appId] = catalogued.exec(text(asRecord(call.body), 'teamsApp@odata.bind')) ?? []
  if (appId === undefined) return refuse(call, 400, 'BadRequest', 'Bind a teamsApp of the catalogue.')
  if (!installableApp(tenant, appId))
    return refuse(call, 404, 'NotFound', 'No app definition was found in the catalogue.')
  if (!installApp(tenant, person, appId))
    return refuse(call, 409, 'Conflict', 'The app is already installed for the user.')
  return { status: 201 }
}

/** Returns the chat of a person with the bot. `botId` is the app's `externalId`, the id in its manifest. */
const chatOf = (userId: string, botId: string) => ({
  id: `19:${botId}_${userId}@unq.gbl.spaces`,
  topic: null,
  createdDateTime: '2026-11-02T08:00:00Z',
  lastUpdatedDateTime: '2026-11-02T08:00:00Z',
  chatType: 'oneOnOne',
  tenantId: contoso.tenantId,
})

function installedFor(tenant: Tenant, userId: string) {
  return tenant
    .rows('select id, app_id from installed_apps where user_id = ? order by rowid', userId)
    .flatMap(({ id, app_id: appId }) => {
      const app = installableApp(tenant, String(appId))
      return app
        ? [
            {
              id: String(id),
              externalId: app.doc.externalId,
              teamsApp: teamsAppDoc(app),
              teamsAppDefinition: app.doc.definitions.at(-1),
            },
          ]
        : []
    })
}
