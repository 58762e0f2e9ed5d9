import {
  contoso,
  defaultDomain,
  findMailbox,
  findPerson,
  insertMailbox,
  type Mailbox,
  type MailboxType,
  removeMailbox,
  setAddresses,
  type Tenant,
  updateMailbox,
} from '../tenant/index.ts'
import { type Cmdlet, changedList, changeOf, listOf, only, type Parameters, parseOpath, textOf } from './parameters.ts'
import {
  allRecipients,
  checkAddress,
  checkFree,
  customAttributes,
  findRecipient,
  holderOf,
  listedMailboxes,
  mailboxDoc,
  quotaNames,
  readQuotas,
  settledMailbox,
} from './recipients.ts'
import {
  type ExchangeSettings,
  exceptions,
  fail,
  failBinding,
  failTransformation,
  notFound,
  type Result,
} from './wire.ts'

const filterable = [
  'Name',
  'DisplayName',
  'Alias',
  'EmailAddresses',
  'PrimarySmtpAddress',
  'Guid',
  'ExternalDirectoryObjectId',
  'RecipientType',
  'RecipientTypeDetails',
  'HiddenFromAddressListsEnabled',
  ...customAttributes,
]

/**
 * Creates New-, Set-, Get-, Remove-Mailbox and Get-Recipient. People's mailboxes are recipients, but not in lists of
 * mailboxes.
 */
export function mailboxCmdlets(tenant: Tenant, settings: ExchangeSettings): readonly Cmdlet[] {
  return [
    {
      name: 'New-Mailbox',
      takes: [
        ...['Name', 'DisplayName', 'Alias', 'PrimarySmtpAddress', 'Shared', 'Room', 'Equipment'],
        ...['ResourceCapacity', 'Phone', 'Office'],
      ],
      run: (parameters) => newMailbox(tenant, settings, parameters),
    },
    setMailbox(tenant),
    {
      name: 'Get-Mailbox',
      takes: ['Identity', 'Filter', 'RecipientTypeDetails', 'ResultSize', 'SoftDeletedMailbox'],
      run: (parameters) => {
        // This tenant deletes a removed mailbox at once. Exchange keeps it for 30 days.
        if (parameters['SoftDeletedMailbox'] === true) return { value: [] }
        const identity = textOf(parameters, 'Identity')
        if (identity !== undefined) return { value: [mailboxDoc(settledMailbox(tenant, identity))] }
        const docs = listedMailboxes(tenant, settings).map(mailboxDoc)
        return listed(docs, parameters, [
          ...filterable,
          'UserPrincipalName',
          'AccountDisabled',
          'IsShared',
          'IsResource',
        ])
      },
    },
    {
      name: 'Get-Recipient',
      takes: ['Identity', 'Filter', 'RecipientTypeDetails', 'ResultSize'],
      run: (parameters) => {
        const identity = textOf(parameters, 'Identity')
        if (identity === undefined) return listed(allRecipients(tenant, settings), parameters, filterable)
        return { value: [findRecipient(tenant, settings, identity) ?? notFound(identity)] }
      },
    },
    {
      name: 'Remove-Mailbox',
      takes: ['Identity'],
      needsConfirmation: true,
      run: (parameters) => {
        removeMailbox(tenant, settledMailbox(tenant, textOf(parameters, 'Identity') ?? ''))
        return { value: [] }
      },
    },
  ]
}

/**
 * Returns the output of a list cmdlet: filtered, of the requested types, at most ResultSize objects (default 1,000).
 */
function listed(docs: readonly Record<string, unknown>[], parameters: Parameters, properties: string[]): Result {
  const filter = textOf(parameters, 'Filter')
  const types = listOf(parameters, 'RecipientTypeDetails')
  const found = docs
    .filter(filter === undefined ? () => true : parseOpath(filter, properties))
    .filter((doc) => types === undefined || types.includes(String(doc['RecipientTypeDetails'])))
  const size = textOf(parameters, 'ResultSize') ?? '1000'
  if (/^unlimited$/i.test(size)) return { value: found }
  if (!/^[1-9]\d*$/.test(size)) failBinding(`Cannot bind parameter 'ResultSize': "${size}" is not a number.`)
  const value = found.slice(0, Number(size))
  const warning =
    'By default, only the first 1000 items are returned. Use the ResultSize parameter to specify the number of items returned. To return all items, specify "-ResultSize Unlimited".'
  return { value, ...(found.length > value.length ? { warnings: [warning] } : {}) }
}

const kinds: Readonly<Record<string, MailboxType>> = {
  Shared: 'SharedMailbox',
  Room: 'RoomMailbox',
  Equipment: 'EquipmentMailbox',
}

function newMailbox(tenant: Tenant, settings: ExchangeSettings, parameters: Parameters): Result {
  const [kind, ...more] = Object.keys(kinds).filter((name) => parameters[name] === true)
  const type = kind === undefined ? undefined : kinds[kind]
  if (!type || more.length > 0)
    return failBinding('Parameter set cannot be resolved using the specified named parameters.')
  const forRooms = ['ResourceCapacity', 'Phone', 'Office'].find((name) => name in parameters)
  if (forRooms && type !== 'RoomMailbox') {
    failBinding(`Parameter set cannot be resolved using the specified named parameters. ${forRooms}`)
  }
  const name = textOf(parameters, 'Name') ?? ''
  const alias = textOf(parameters, 'Alias') ?? name.replace(/[^A-Za-z0-9._-]/g, '')
  const address = textOf(parameters, 'PrimarySmtpAddress') ?? `${alias}@${defaultDomain}`
  const displayName = textOf(parameters, 'DisplayName') ?? name
  checkNames(name, displayName, alias)
  checkAddress(address)
  checkClashes(tenant, name, alias, address)
  const created = insertMailbox(tenant, {
    ...(settings.nameIsObjectId ? {} : { name }),
    alias,
    type,
    addresses: [address],
    doc: { displayName, mailbox: only(parameters, ['ResourceCapacity']), user: only(parameters, ['Phone', 'Office']) },
    settleSeconds: settings.exchangeSettleSeconds,
  })
  return { value: [mailboxDoc(created)] }
}

/** Checks lengths and characters, except the characters that Exchange maps to ASCII. */
function checkNames(name: string, displayName: string, alias: string): void {
  const tooLong = (property: string, longest: number) =>
    fail(
      exceptions.validation,
      `The length of the property is too long. The maximum length is ${longest}. Property: ${property}.`,
    )
  if (name.length > 64) tooLong('Name', 64)
  if (displayName.length > 256) tooLong('DisplayName', 256)
  if (alias.length > 64) tooLong('Alias', 64)
  if (/^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/.test(alias)) return
  const text = `The value "${alias}" of property Alias isn't valid. Valid values are letters, digits and the signs ! # $ % & ' * + - / = ? ^ _ \` { | } ~, with single periods inside.`
  fail(exceptions.validation, text)
}

/** Ends the call when a name, an address or a sign-in name is in use, each with Exchange's exception. */
function checkClashes(tenant: Tenant, name: string, alias: string, address: string): void {
  const sameName = contoso.people.some((person) => person.displayName.toLowerCase() === name.toLowerCase())
  if (sameName || findMailbox(tenant, name)?.name.toLowerCase() === name.toLowerCase()) {
    fail(exceptions.nameNotAvailable, `The name "${name}" is already being used. Please try another name.`)
  }
  checkFree(tenant, address)
  const upn = `${alias}@${defaultDomain}`
  if (findMailbox(tenant, upn) || findPerson(upn) || holderOf(tenant, upn)) {
    const text = `The proxy address "SMTP:${upn}" is already being used by the proxy addresses or LegacyExchangeDN. Please choose another proxy address.`
    fail(exceptions.memberExists, text)
  }
}

const plain = [
  ...['HiddenFromAddressListsEnabled', 'MailTip', 'MessageCopyForSentAsEnabled', 'MessageCopyForSendOnBehalfEnabled'],
  ...['RequireSenderAuthenticationEnabled', 'ResourceCapacity', ...customAttributes],
]

/** Creates Set-Mailbox, for the properties that Get-Mailbox shows. */
function setMailbox(tenant: Tenant): Cmdlet {
  return {
    name: 'Set-Mailbox',
    takes: ['Identity', 'DisplayName', 'Office', 'EmailAddresses', ...quotaNames, ...plain],
    run: (parameters) => {
      const mailbox = settledMailbox(tenant, textOf(parameters, 'Identity') ?? '')
      checkValues(mailbox, parameters)
      const { doc } = mailbox
      const { name } = mailbox
      const quotas = readQuotas(parameters, doc.mailbox, { isLicensed: tenant.modes.mailboxesAreLicensed, name })
      const changed = { ...only(parameters, plain), ...quotas }
      updateMailbox(tenant, mailbox, {
        displayName: textOf(parameters, 'DisplayName') ?? doc.displayName,
        mailbox: { ...doc.mailbox, ...changed },
        user: { ...doc.user, ...only(parameters, ['Office']) },
      })
      if ('EmailAddresses' in parameters) setAddresses(tenant, mailbox.id, newAddresses(tenant, mailbox, parameters))
      return { value: [] }
    },
  }
}

function checkValues(mailbox: Mailbox, parameters: Parameters): void {
  const longest = [
    ...customAttributes.map((name) => [name, 1024] as const),
    ['MailTip', 175] as const,
    ['DisplayName', 256] as const,
  ]
  for (const [name, length] of longest) {
    if ((textOf(parameters, name) ?? '').length <= length) continue
    const text = `The length of the property is too long. The maximum length is ${length}. Property: ${name}.`
    fail(exceptions.validation, text)
  }
  if (textOf(parameters, 'DisplayName') === '') fail(exceptions.validation, 'Property DisplayName cannot be empty.')
  if ('ResourceCapacity' in parameters && mailbox.type === 'SharedMailbox') {
    fail(exceptions.argument, "The parameter 'ResourceCapacity' can only be set on a resource mailbox.")
  }
}

/**
 * Returns the new addresses from `EmailAddresses`: `SMTP:` marks the primary address, `smtp:` or nothing the others.
 */
function newAddresses(tenant: Tenant, mailbox: Mailbox, parameters: Parameters): string[] {
  const proxies = listOf(parameters, 'EmailAddresses') ?? changeOf(parameters, 'EmailAddresses').add
  const primaries = proxies.filter((each) => each.startsWith('SMTP:'))
  if (primaries.length > 1) {
    fail(exceptions.validation, 'There are multiple primary proxy addresses of the type SMTP. Only one is allowed.')
  }
  const plainChange = { EmailAddresses: withoutPrefixes(parameters['EmailAddresses']) }
  const all = changedList(plainChange, 'EmailAddresses', mailbox.addresses)
  const [current = ''] = mailbox.addresses
  const named = primaries[0] === undefined ? undefined : smtp(primaries[0])
  const whole = listOf(parameters, 'EmailAddresses') !== undefined
  const primary = named ?? (whole ? all[0] : current) ?? ''
  if (!all.some((each) => each.toLowerCase() === primary.toLowerCase())) {
    fail(exceptions.validation, 'The primary SMTP address must be specified when referring to a mailbox.')
  }
  for (const address of all) {
    checkAddress(address)
    checkFree(tenant, address, mailbox.id)
  }
  return [primary, ...all.filter((each) => each.toLowerCase() !== primary.toLowerCase())]
}

function withoutPrefixes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => smtp(String(each)))
  const { add, remove } = changeOf({ EmailAddresses: value }, 'EmailAddresses')
  return { add: add.map(smtp), remove: remove.map(smtp) }
}

/** Returns the address in an SMTP proxy address. Other types (X500, SIP) are not simulated. */
function smtp(proxy: string): string {
  const [prefix, address] = proxy.includes(':') ? proxy.split(':', 2) : ['smtp', proxy]
  if (prefix?.toLowerCase() === 'smtp' && address) return address
  return failTransformation('EmailAddresses', proxy, 'Microsoft.Exchange.Data.ProxyAddress', 'Not an SMTP address.')
}
