import { badRequest, type GraphSettings, notFound, refuse } from './graph-wire.ts'
import { page, parseFilter } from './odata.ts'
import { deletedPeople } from './people-now.ts'
import type { Tenant } from './tenant.ts'
import { deletedAccounts, enableAccount, findMailbox, type Mailbox, upnOf } from './tenant-mailboxes.ts'
import { asRecord, type Call, type Operation, type Reply, select } from './wire.ts'

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
