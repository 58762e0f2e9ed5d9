import { findPerson } from './contoso.ts'
import { mailboxDoc, trusteeName } from './exchange-recipients.ts'
import { definitions, escapeHtml, html } from './page-html.ts'
import type { Tenant } from './tenant.ts'
import { type Access, accessTo, allMailboxes, findMailbox, type Mailbox } from './tenant-mailboxes.ts'
import type { Reply } from './wire.ts'

const kinds: Readonly<Record<Mailbox['type'], string>> = {
  SharedMailbox: 'Shared mailbox',
  RoomMailbox: 'Room',
  EquipmentMailbox: 'Equipment',
}

/** All mailboxes that are not a person's, each with a link to its page. */
export function mailboxListPage(tenant: Tenant): Reply {
  const items = allMailboxes(tenant).map((mailbox) => {
    const [address = ''] = mailbox.addresses
    const link = `<a href="/mailboxes/${encodeURIComponent(address)}">${escapeHtml(mailbox.doc.displayName)}</a>`
    return `<dt>${link}</dt><dd>${kinds[mailbox.type]}, ${escapeHtml(address)}</dd>`
  })
  return html(200, 'Mailboxes', items.length === 0 ? '<p>There are none.</p>' : `<dl>${items.join('')}</dl>`)
}

/** One mailbox by any of its addresses: what it is, who has access, what has been set. */
export function mailboxPage(tenant: Tenant, address: string): Reply {
  const mailbox = address.includes('@') ? findMailbox(tenant, address) : undefined
  const back = '<p><a href="/mailboxes">All mailboxes</a></p>'
  if (!mailbox) return html(404, 'There is no mailbox here', `<p>Contoso has no mailbox at this address.</p>${back}`)
  const [primary = '', ...others] = mailbox.addresses
  const access = accessTo(tenant, mailbox.id)
  const doc = mailboxDoc(mailbox)
  const list = definitions([
    ['Kind', kinds[mailbox.type]],
    ['Address', primary],
    ['Other addresses', others.join(', ')],
    ['Full access', holders(tenant, access, 'FullAccess')],
    ['May send as', holders(tenant, access, 'SendAs')],
    ['Sign-in', mailbox.accountEnabled ? 'Allowed' : 'Blocked'],
    ['In the address list', doc['HiddenFromAddressListsEnabled'] === true ? 'Hidden' : 'Shown'],
    ['Holds at most', String(doc['ProhibitSendReceiveQuota'])],
    ...settings(mailbox),
  ])
  return html(200, mailbox.doc.displayName, list + back)
}

function holders(tenant: Tenant, access: readonly Access[], wanted: string): string {
  return access
    .filter((entry) => entry.access === wanted)
    .map(({ trusteeId, autoMapping }) => {
      const name = findPerson(trusteeId)?.displayName ?? trusteeName(tenant, trusteeId, 'userPrincipalName')
      return wanted === 'FullAccess' && !autoMapping ? `${name} (not opened by itself)` : name
    })
    .join(', ')
}

/** What the other cmdlets have set, under Exchange's own names; what nobody set is left out. */
function settings({ doc }: Mailbox): (readonly [string, string])[] {
  const { HiddenFromAddressListsEnabled: _, ...mailbox } = doc.mailbox
  return [doc.user, doc.place, doc.calendar, doc.autoReply, mailbox]
    .flatMap((part) => Object.entries(part))
    .filter(([name, value]) => value !== '' && value !== null && !name.endsWith('Quota'))
    .map(([name, value]) => [words(name), Array.isArray(value) ? value.join(', ') : spoken(value)])
}

const words = (name: string): string => name.replace(/([a-z])(?=[A-Z0-9])/g, '$1 ')
const spoken = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value))
