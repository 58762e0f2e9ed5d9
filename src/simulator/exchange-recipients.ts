import { contoso, findPerson, type Person } from './contoso.ts'
import { quotaDoc } from './exchange-quota.ts'
import { exceptions, fail, notFound } from './exchange-wire.ts'
import { now, type Tenant } from './tenant.ts'
import { allGroups, findGroup, findUnifiedByNickname, type Group, groupDoc } from './tenant-groups.ts'
import { allMailboxes, findMailbox, findMailboxByAddress, type Mailbox, upnOf } from './tenant-mailboxes.ts'

type Doc = Record<string, unknown>

export const customAttributes: readonly string[] = Array.from(
  { length: 15 },
  (_, index) => `CustomAttribute${index + 1}`,
)

/** The mailbox that a cmdlet names; a new one is not found before the directory has settled (facts 4.4). */
export function settledMailbox(tenant: Tenant, identity: string): Mailbox {
  const mailbox = findMailbox(tenant, identity)
  return mailbox && now() >= mailbox.settledAt ? mailbox : notFound(identity)
}

/** A mailbox as Get-Recipient shows it. */
function mailboxRecipient(mailbox: Mailbox): Doc {
  const stored = mailbox.doc.mailbox
  const [primary = '', ...others] = mailbox.addresses
  return {
    Identity: mailbox.name,
    Name: mailbox.name,
    DisplayName: mailbox.doc.displayName,
    Alias: mailbox.alias,
    PrimarySmtpAddress: primary,
    EmailAddresses: [`SMTP:${primary}`, ...others.map((address) => `smtp:${address}`)],
    Guid: mailbox.guid,
    ExternalDirectoryObjectId: mailbox.id,
    RecipientType: 'UserMailbox',
    RecipientTypeDetails: mailbox.type,
    HiddenFromAddressListsEnabled: stored['HiddenFromAddressListsEnabled'] ?? false,
    ...Object.fromEntries(customAttributes.map((name) => [name, stored[name] ?? ''])),
    WhenCreated: mailbox.createdAt,
    WhenCreatedUTC: mailbox.createdAt,
  }
}

/** A mailbox as Get-Mailbox shows it. */
export function mailboxDoc(mailbox: Mailbox): Doc {
  const stored = mailbox.doc.mailbox
  const resource = mailbox.type === 'SharedMailbox' ? null : mailbox.type.replace('Mailbox', '')
  return {
    ...mailboxRecipient(mailbox),
    ExchangeGuid: mailbox.guid,
    UserPrincipalName: upnOf(mailbox),
    AccountDisabled: !mailbox.accountEnabled,
    IsMailboxEnabled: true,
    IsShared: mailbox.type === 'SharedMailbox',
    IsResource: resource !== null,
    ResourceType: resource,
    ResourceCapacity: stored['ResourceCapacity'] ?? null,
    Office: mailbox.doc.user['Office'] ?? '',
    ...quotaDoc(stored),
    MailTip: stored['MailTip'] ?? null,
    MessageCopyForSentAsEnabled: stored['MessageCopyForSentAsEnabled'] ?? false,
    MessageCopyForSendOnBehalfEnabled: stored['MessageCopyForSendOnBehalfEnabled'] ?? false,
    RequireSenderAuthenticationEnabled: stored['RequireSenderAuthenticationEnabled'] ?? false,
  }
}

function personRecipient(person: Person): Doc {
  return {
    Identity: person.displayName,
    Name: person.displayName,
    DisplayName: person.displayName,
    Alias: person.userPrincipalName.split('@')[0],
    PrimarySmtpAddress: person.userPrincipalName,
    EmailAddresses: [`SMTP:${person.userPrincipalName}`],
    Guid: person.id,
    ExternalDirectoryObjectId: person.id,
    RecipientType: 'UserMailbox',
    RecipientTypeDetails: 'UserMailbox',
    HiddenFromAddressListsEnabled: false,
  }
}

function groupRecipient(group: Group): Doc {
  const { mail } = groupDoc(group, '')
  // The Name of a Microsoft 365 group in Exchange is its nickname made unique by a part of its id.
  const name = `${group.mailNickname}_${group.id.replaceAll('-', '').slice(0, 10)}`
  return {
    Identity: name,
    Name: name,
    DisplayName: group.doc['displayName'],
    Alias: group.mailNickname,
    PrimarySmtpAddress: mail,
    EmailAddresses: [`SMTP:${mail}`],
    Guid: group.id,
    ExternalDirectoryObjectId: group.id,
    RecipientType: 'MailUniversalDistributionGroup',
    RecipientTypeDetails: 'GroupMailbox',
    HiddenFromAddressListsEnabled: false,
    WhenCreated: group.createdAt,
    WhenCreatedUTC: group.createdAt,
  }
}

/** Everything that has an address: mailboxes, people, Microsoft 365 groups. */
export function allRecipients(tenant: Tenant): Doc[] {
  const groups = allGroups(tenant).filter(({ unified }) => unified)
  return [
    ...allMailboxes(tenant).map(mailboxRecipient),
    ...contoso.people.map(personRecipient),
    ...groups.map(groupRecipient),
  ]
}

/** The recipient of an identity: id, guid, name, alias or address. New mailboxes are found at once. */
export function findRecipient(tenant: Tenant, identity: string): Doc | undefined {
  const mailbox = findMailbox(tenant, identity)
  if (mailbox) return mailboxRecipient(mailbox)
  const key = identity.toLowerCase()
  return allRecipients(tenant).find((doc) =>
    ['ExternalDirectoryObjectId', 'Name', 'Alias', 'PrimarySmtpAddress'].some(
      (property) => String(doc[property]).toLowerCase() === key,
    ),
  )
}

/** What holds an address, in words for an error, or undefined: another mailbox than `self`, a person, a group. */
export function holderOf(tenant: Tenant, address: string, self?: string): string | undefined {
  const mailbox = findMailboxByAddress(tenant, address)
  if (mailbox) return mailbox.id === self ? undefined : mailbox.name
  const person = findPerson(address)
  if (person && address.includes('@')) return person.displayName
  return groupOfAddress(tenant, address)?.mailNickname
}

function groupOfAddress(tenant: Tenant, address: string): Group | undefined {
  const group = findUnifiedByNickname(tenant, address.split('@')[0] ?? '')
  return group && String(groupDoc(group, '')['mail']).toLowerCase() === address.toLowerCase() ? group : undefined
}

/** Somebody who can be given access, by `id`, with the name that Exchange shows. */
export interface Trustee {
  readonly id: string
  readonly shown: string
}

/** A person or a mail-enabled group by object id, userPrincipalName or address; Exchange knows nobody else (facts 4.8). */
export function findTrustee(tenant: Tenant, identity: string): Trustee {
  const person = findPerson(identity)
  if (person) return { id: person.id, shown: person.userPrincipalName }
  const group = findGroup(tenant, 'id', identity) ?? groupOfAddress(tenant, identity)
  return group?.unified ? { id: group.id, shown: group.mailNickname } : notFound(identity)
}

/** The name that Exchange shows for an entry's trustee. */
export function trusteeName(tenant: Tenant, id: string): string {
  return findPerson(id)?.userPrincipalName ?? findGroup(tenant, 'id', id)?.mailNickname ?? id
}

/** Ends the call unless the address is of a form and a domain that the tenant accepts. */
export function checkAddress(address: string): void {
  const [local = '', domain = '', ...more] = address.split('@')
  const valid = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]{1,64}$/.test(local) && !/^\.|\.\.|\.$/.test(local)
  if (!valid || domain === '' || more.length > 0) {
    fail(exceptions.validation, `The email address "${address}" isn't correct.`)
  }
  if (contoso.domains.some((each) => each === domain.toLowerCase())) return
  const text = `You can't use the domain because it's not an accepted domain for your organization: "${domain}".`
  fail(exceptions.notAcceptedDomain, text)
}

/** Ends the call when another recipient holds the address. */
export function checkFree(tenant: Tenant, address: string, self?: string): void {
  const holder = holderOf(tenant, address, self)
  if (holder === undefined) return
  const text = `The proxy address "SMTP:${address}" is already being used by the proxy addresses or LegacyExchangeDN of "${holder}". Please choose another proxy address.`
  fail(exceptions.addressExists, text)
}
