import {
  type Access,
  accessTo,
  addAccess,
  allMailboxes,
  type Mailbox,
  removeAccess,
  type Tenant,
} from '../tenant/index.ts'
import { type Cmdlet, listOf, type Parameters, textOf } from './parameters.ts'
import { findTrustee, settledMailbox, trusteeName } from './recipients.ts'
import { type ExchangeSettings, failBinding, failTransformation, type Result } from './wire.ts'

const self = 'NT AUTHORITY\\SELF'
const sendAs = 'SendAs'

/** The tenant and the names of trustees. */
interface View {
  readonly tenant: Tenant
  /** Returns the name for an object id. */
  readonly nameOf: (trusteeId: string) => string
}

/**
 * Creates the cmdlets for full access (…-MailboxPermission) and the right to send as the mailbox
 * (…-RecipientPermission).
 */
export function accessCmdlets(tenant: Tenant, { trusteesShownAs }: ExchangeSettings): readonly Cmdlet[] {
  const view: View = { tenant, nameOf: (id) => trusteeName(tenant, id, trusteesShownAs) }
  const mailboxOf = (parameters: Parameters) => settledMailbox(tenant, textOf(parameters, 'Identity') ?? '')
  const change = (parameters: Parameters, person: 'User' | 'Trustee', adds: boolean): Result => {
    const mailbox = mailboxOf(parameters)
    const trusteeId = findTrustee(tenant, textOf(parameters, person) ?? '')
    const autoMapping = parameters['AutoMapping'] !== false
    const rights = person === 'User' ? mailboxRights(parameters) : recipientRights(parameters)
    const entries = rights.map((access) => ({ trusteeId, access, autoMapping }))
    return adds ? add(view, mailbox, entries, person) : remove(view, mailbox, entries)
  }
  return [
    {
      name: 'Add-MailboxPermission',
      takes: ['Identity', 'User', 'AccessRights', 'AutoMapping', 'InheritanceType'],
      run: (parameters) => change(parameters, 'User', true),
    },
    {
      name: 'Remove-MailboxPermission',
      takes: ['Identity', 'User', 'AccessRights', 'InheritanceType'],
      needsConfirmation: true,
      run: (parameters) => change(parameters, 'User', false),
    },
    {
      name: 'Get-MailboxPermission',
      takes: ['Identity', 'User', 'ResultSize'],
      run: (parameters) => {
        const mailbox = mailboxOf(parameters)
        const own = mailboxEntry(mailbox, self, ['FullAccess', 'ReadPermission'])
        return { value: shown(view, parameters, 'User', [own, ...entriesOf(view, mailbox, 'User')]) }
      },
    },
    {
      name: 'Add-RecipientPermission',
      takes: ['Identity', 'Trustee', 'AccessRights'],
      needsConfirmation: true,
      run: (parameters) => change(parameters, 'Trustee', true),
    },
    {
      name: 'Remove-RecipientPermission',
      takes: ['Identity', 'Trustee', 'AccessRights'],
      needsConfirmation: true,
      run: (parameters) => change(parameters, 'Trustee', false),
    },
    {
      name: 'Get-RecipientPermission',
      takes: ['Identity', 'Trustee', 'AccessRights', 'ResultSize'],
      run: (parameters) => {
        if ('AccessRights' in parameters) recipientRights(parameters)
        const mailboxes = 'Identity' in parameters ? [mailboxOf(parameters)] : allMailboxes(tenant)
        const entries = mailboxes.flatMap((mailbox) => [
          recipientEntry(mailbox, self),
          ...entriesOf(view, mailbox, 'Trustee'),
        ])
        return { value: shown(view, parameters, 'Trustee', entries) }
      },
    },
  ]
}

function mailboxRights(parameters: Parameters): readonly string[] {
  const rights = listOf(parameters, 'AccessRights') ?? []
  if (rights.length === 0) failBinding("Cannot bind argument to parameter 'AccessRights' because it is an empty array.")
  return rights
}

function recipientRights(parameters: Parameters): readonly string[] {
  const rights = listOf(parameters, 'AccessRights') ?? []
  const wrong = rights.find((right) => right.toLowerCase() !== sendAs.toLowerCase())
  if (rights.length > 0 && wrong === undefined) return [sendAs]
  const type = 'Microsoft.Exchange.Management.RecipientTasks.RecipientAccessRight'
  const reason = `Unable to match the identifier name ${wrong ?? ''} to a valid enumerator name. Specify one of the following enumerator names and try again: ${sendAs}`
  return failTransformation('AccessRights', wrong ?? '', type, reason)
}

/** Adds entries. For an existing entry Exchange only warns and does not change AutoMapping. */
function add(
  { tenant, nameOf }: View,
  mailbox: Mailbox,
  entries: readonly Access[],
  person: 'User' | 'Trustee',
): Result {
  const existing = entries.filter((entry) => !addAccess(tenant, mailbox.id, entry))
  const warnings = existing.map(
    ({ trusteeId }) =>
      `The appropriate access control entry is already present on the object "CN=${mailbox.name}" for account "${nameOf(trusteeId)}".`,
  )
  const [first] = entries
  const value = first
    ? entriesOf({ tenant, nameOf }, mailbox, person).filter((doc) => doc[person] === nameOf(first.trusteeId))
    : []
  return { value: existing.length === entries.length ? [] : value, warnings }
}

function remove({ tenant, nameOf }: View, mailbox: Mailbox, entries: readonly Access[]): Result {
  const existing = accessTo(tenant, mailbox.id)
  const missing = entries.filter(
    (entry) => !existing.some(({ trusteeId, access }) => trusteeId === entry.trusteeId && access === entry.access),
  )
  for (const { trusteeId, access } of entries) removeAccess(tenant, mailbox.id, trusteeId, access)
  const warnings = missing.map(
    ({ trusteeId }) =>
      `Can't remove the access control entry on the object "CN=${mailbox.name}" for account "${nameOf(trusteeId)}" because the ACE isn't present on the object.`,
  )
  return { value: [], warnings }
}

/**
 * Returns the entries of a Get cmdlet, one for each trustee. SendAs is an entry of the directory, not of the mailbox.
 */
function entriesOf({ tenant, nameOf }: View, mailbox: Mailbox, person: 'User' | 'Trustee'): Record<string, unknown>[] {
  const entries = accessTo(tenant, mailbox.id).filter(({ access }) => (access === sendAs) === (person === 'Trustee'))
  const trustees = [...new Set(entries.map(({ trusteeId }) => trusteeId))]
  return trustees.map((id) => {
    const name = nameOf(id)
    if (person === 'Trustee') return recipientEntry(mailbox, name)
    return mailboxEntry(
      mailbox,
      name,
      entries.filter(({ trusteeId }) => trusteeId === id).map(({ access }) => access),
    )
  })
}

const mailboxEntry = (mailbox: Mailbox, User: string, AccessRights: readonly string[]): Record<string, unknown> => ({
  Identity: mailbox.name,
  User,
  AccessRights,
  IsInherited: false,
  Deny: false,
  InheritanceType: 'All',
})

const recipientEntry = (mailbox: Mailbox, Trustee: string): Record<string, unknown> => ({
  Identity: mailbox.name,
  Trustee,
  AccessControlType: 'Allow',
  AccessRights: [sendAs],
  IsInherited: false,
  InheritanceType: 'None',
})

/** Returns all entries, or the entries of the trustee in the call. */
function shown(
  { tenant, nameOf }: View,
  parameters: Parameters,
  person: 'User' | 'Trustee',
  entries: readonly Record<string, unknown>[],
): readonly Record<string, unknown>[] {
  const named = textOf(parameters, person)
  if (named === undefined) return entries
  const wanted = named.toUpperCase() === self ? self : nameOf(findTrustee(tenant, named))
  return entries.filter((doc) => doc[person] === wanted)
}
