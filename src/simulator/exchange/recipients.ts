import {
  addressesOf,
  allGroups,
  allMailboxes,
  contoso,
  findGroup,
  findMailbox,
  findMailboxByAddress,
  findPerson,
  findPersonByAddress,
  findUnifiedByNickname,
  type Group,
  groupDoc,
  type Mailbox,
  now,
  type Person,
  type Tenant,
  upnOf,
} from '../tenant/index.ts'
import { type Parameters, textOf } from './parameters.ts'
import { type ExchangeSettings, exceptions, fail, failTransformation, notFound } from './wire.ts'

type Doc = Record<string, unknown>

export const customAttributes: readonly string[] = Array.from(
  { length: 15 },
  (_, index) => `CustomAttribute${index + 1}`,
)

/** Finds the mailbox for a cmdlet. A new mailbox is not found until the directory has caught up. */
export function settledMailbox(tenant: Tenant, identity: string): Mailbox {
  const mailbox = findMailbox(tenant, identity)
  return mailbox && now() >= mailbox.settledAt ? mailbox : notFound(identity)
}

/** Returns a mailbox in the format of Get-Recipient. */
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

/** Returns a mailbox in the format of Get-Mailbox. */
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
  const [primary = '', ...others] = addressesOf(person)
  return {
    Identity: person.displayName,
    Name: person.displayName,
    DisplayName: person.displayName,
    Alias: person.userPrincipalName.split('@')[0],
    PrimarySmtpAddress: primary,
    EmailAddresses: [`SMTP:${primary}`, ...others.map((address) => `smtp:${address}`)],
    Guid: person.id,
    ExternalDirectoryObjectId: person.id,
    RecipientType: 'UserMailbox',
    RecipientTypeDetails: 'UserMailbox',
    HiddenFromAddressListsEnabled: false,
  }
}

function groupRecipient(group: Group): Doc {
  const { mail } = groupDoc(group)
  // Exchange's Name of a Microsoft 365 group is its nickname with a part of its id.
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
    HiddenFromAddressListsEnabled: group.doc['hideFromAddressLists'] ?? false,
    WhenCreated: group.createdAt,
    WhenCreatedUTC: group.createdAt,
  }
}

type Lag = Pick<ExchangeSettings, 'exchangeSettleSeconds' | 'recipientLagSeconds'>

/** Returns the mailboxes in lists, which show a new mailbox only after a while. */
export function listedMailboxes(tenant: Tenant, { exchangeSettleSeconds, recipientLagSeconds }: Lag): Mailbox[] {
  const later = (recipientLagSeconds - exchangeSettleSeconds) * 1000
  return allMailboxes(tenant).filter(({ settledAt }) => now() >= settledAt + later)
}

/** Returns all recipients: mailboxes, people with a mailbox, Microsoft 365 groups. */
export function allRecipients(tenant: Tenant, lag: Lag): Doc[] {
  const groups = allGroups(tenant).filter(({ unified }) => unified)
  return [
    ...listedMailboxes(tenant, lag).map(mailboxRecipient),
    ...contoso.people.filter(({ hasMailbox }) => hasMailbox).map(personRecipient),
    ...groups.map(groupRecipient),
  ]
}

/** Finds a recipient by id, guid, name, alias or address. */
export function findRecipient(tenant: Tenant, lag: Lag, identity: string): Doc | undefined {
  const mailbox = findMailbox(tenant, identity)
  if (mailbox)
    return listedMailboxes(tenant, lag).some(({ id }) => id === mailbox.id) ? mailboxRecipient(mailbox) : undefined
  const key = identity.toLowerCase()
  return allRecipients(tenant, lag).find((doc) =>
    ['ExternalDirectoryObjectId', 'Name', 'Alias', 'PrimarySmtpAddress'].some(
      (property) => String(doc[property]).toLowerCase() === key,
    ),
  )
}

/** Returns the name of the recipient with an address, except the mailbox `self`; undefined without such a recipient. */
export function holderOf(tenant: Tenant, address: string, self?: string): string | undefined {
  const mailbox = findMailboxByAddress(tenant, address)
  if (mailbox) return mailbox.id === self ? undefined : mailbox.name
  const person = findPersonByAddress(address)
  if (person) return person.displayName
  return groupOfAddress(tenant, address)?.mailNickname
}

function groupOfAddress(tenant: Tenant, address: string): Group | undefined {
  const group = findUnifiedByNickname(tenant, address.split('@')[0] ?? '')
  return group && String(groupDoc(group)['mail']).toLowerCase() === address.toLowerCase() ? group : undefined
}

/** Finds a person with a mailbox or a group by object id, userPrincipalName or address, and returns the object id. */
export function findTrustee(tenant: Tenant, identity: string): string {
  const person = findPerson(identity) ?? findPersonByAddress(identity)
  if (person?.hasMailbox) return person.id
  const group = findGroup(tenant, 'id', identity) ?? groupOfAddress(tenant, identity)
  return group?.unified ? group.id : notFound(identity)
}

/** Returns the name of a trustee in lists of access. */
export function trusteeName(tenant: Tenant, id: string, shownAs: ExchangeSettings['trusteesShownAs']): string {
  const person = findPerson(id)
  if (!person) return findGroup(tenant, 'id', id)?.mailNickname ?? id
  const { userPrincipalName } = person
  return { userPrincipalName, address: addressesOf(person)[0] ?? userPrincipalName, objectId: id }[shownAs]
}

/** Ends the call for an invalid address or a domain that the tenant does not accept. */
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

/** Ends the call when another recipient has the address. */
export function checkFree(tenant: Tenant, address: string, self?: string): void {
  const holder = holderOf(tenant, address, self)
  if (holder === undefined) return
  const text = `The proxy address "SMTP:${address}" is already being used by the proxy addresses or LegacyExchangeDN of "${holder}". Please choose another proxy address.`
  fail(exceptions.addressExists, text)
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const
const gigabyte = 1024 ** 3
/** Exchange's largest mailbox (plan 2), and the largest one without a licence. Bytes. */
const largest = 100 * gigabyte
const largestUnlicensed = 50 * gigabyte
/** Default quotas in Exchange's order: each is at most as large as the next. Bytes. */
const defaults = {
  IssueWarningQuota: 49 * gigabyte,
  ProhibitSendQuota: 49.5 * gigabyte,
  ProhibitSendReceiveQuota: 50 * gigabyte,
}
export const quotaNames = ['IssueWarningQuota', 'ProhibitSendQuota', 'ProhibitSendReceiveQuota'] as const

/** Returns a mailbox's quotas in Exchange's format, e.g. `49.5 GB (53,150,220,288 bytes)`. Stored values are bytes. */
function quotaDoc(stored: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(quotaNames.map((name) => [name, format(bytesOf(stored, name))]))
}

const bytesOf = (stored: Readonly<Record<string, unknown>>, name: (typeof quotaNames)[number]): number =>
  typeof stored[name] === 'number' ? stored[name] : defaults[name]

/** Reads the quotas of Set-Mailbox as bytes, and checks the order of all quotas and the mailbox's licence. */
export function readQuotas(
  parameters: Parameters,
  stored: Readonly<Record<string, unknown>>,
  { isLicensed, name: mailbox }: { readonly isLicensed: boolean; readonly name: string },
): Readonly<Record<string, number>> {
  const changes = Object.fromEntries(
    quotaNames.flatMap((name) => {
      const text = textOf(parameters, name)
      return text === undefined ? [] : [[name, parse(name, text)]]
    }),
  )
  const excessive = quotaNames.filter((name) => (changes[name] ?? 0) > largestUnlicensed)
  if (!isLicensed && excessive.length > 0) {
    const text = `The operation on mailbox "${mailbox}" failed because it's out of the current user's write scope. The value of properties '${excessive.join()}' exceeds the maximum allowed for user '${mailbox}' with license ''.`
    fail(exceptions.invalidOperation, text)
  }
  const after = { ...stored, ...changes }
  for (const [index, name] of quotaNames.entries()) {
    const next = quotaNames[index + 1]
    if (next && bytesOf(after, name) > bytesOf(after, next)) {
      const values = `${name}: '${format(bytesOf(after, name))}', ${next}: '${format(bytesOf(after, next))}'`
      const text = `The value of property '${next}' must be greater than or equal to that of property '${name}'. ${values}.`
      fail(exceptions.validation, text)
    }
  }
  return changes
}

function parse(name: string, text: string): number {
  if (/^unlimited$/i.test(text)) return tooLarge(name, 'Unlimited')
  const match = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB)?$/i.exec(text.trim())
  if (!match) {
    const type = 'Microsoft.Exchange.Data.Unlimited`1[Microsoft.Exchange.Data.ByteQuantifiedSize]'
    return failTransformation(name, text, type, 'The format of the size is not valid.')
  }
  const power = units.findIndex((unit) => unit === (match[2] ?? 'B').toUpperCase())
  const bytes = Math.round(Number(match[1]) * 1024 ** power)
  return bytes > largest ? tooLarge(name, format(bytes)) : bytes
}

const tooLarge = (name: string, shown: string): never =>
  fail(exceptions.validation, `The value '${shown}' of property '${name}' exceeds the maximum of ${format(largest)}.`)

function format(bytes: number): string {
  const power = Math.max(
    0,
    units.findLastIndex((_, index) => bytes >= 1024 ** index),
  )
  const amount = Number((bytes / 1024 ** power).toPrecision(4))
  return `${amount} ${units[power]} (${bytes.toLocaleString('en-US')} bytes)`
}
