import { type Cmdlet, changedList, changeOf, listOf, only, type Parameters, textOf } from './exchange-parameters.ts'
import { quotaNames, readQuotas } from './exchange-quota.ts'
import { checkAddress, checkFree, customAttributes, settledMailbox } from './exchange-recipients.ts'
import { exceptions, fail, failTransformation } from './exchange-wire.ts'
import type { Tenant } from './tenant.ts'
import { type Mailbox, setAddresses, updateMailbox } from './tenant-mailboxes.ts'

const plain = [
  ...['HiddenFromAddressListsEnabled', 'MailTip', 'MessageCopyForSentAsEnabled', 'MessageCopyForSendOnBehalfEnabled'],
  ...['RequireSenderAuthenticationEnabled', 'ResourceCapacity', ...customAttributes],
]

/** Set-Mailbox, as far as properties go that Get-Mailbox shows (facts 4.5). */
export function setMailbox(tenant: Tenant): Cmdlet {
  return {
    name: 'Set-Mailbox',
    takes: ['Identity', 'DisplayName', 'Office', 'EmailAddresses', ...quotaNames, ...plain],
    run: (parameters) => {
      const mailbox = settledMailbox(tenant, textOf(parameters, 'Identity') ?? '')
      checkValues(mailbox, parameters)
      const { doc } = mailbox
      const changed = { ...only(parameters, plain), ...readQuotas(parameters, doc.mailbox) }
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

/** A mailbox's addresses after `EmailAddresses`: `SMTP:` names the primary one, `smtp:` or nothing an additional one. */
function newAddresses(tenant: Tenant, mailbox: Mailbox, parameters: Parameters): string[] {
  const given = listOf(parameters, 'EmailAddresses') ?? changeOf(parameters, 'EmailAddresses').add
  const primaries = given.filter((each) => each.startsWith('SMTP:'))
  if (primaries.length > 1) {
    fail(exceptions.validation, 'There are multiple primary proxy addresses of the type SMTP. Only one is allowed.')
  }
  const plainChange = { EmailAddresses: withoutPrefixes(parameters['EmailAddresses']) }
  const all = changedList(plainChange, 'EmailAddresses', mailbox.addresses)
  const [held = ''] = mailbox.addresses
  const named = primaries[0] === undefined ? undefined : smtp(primaries[0])
  const whole = listOf(parameters, 'EmailAddresses') !== undefined
  const primary = named ?? (whole ? all[0] : held) ?? ''
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

/** The address of a proxy address; other kinds than SMTP (X500, SIP) are not simulated. */
function smtp(proxy: string): string {
  const [prefix, address] = proxy.includes(':') ? proxy.split(':', 2) : ['smtp', proxy]
  if (prefix?.toLowerCase() === 'smtp' && address) return address
  return failTransformation('EmailAddresses', proxy, 'Microsoft.Exchange.Data.ProxyAddress', 'Not an SMTP address.')
}
