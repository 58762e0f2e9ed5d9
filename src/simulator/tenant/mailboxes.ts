import { randomUUID } from 'node:crypto'
import { contoso, defaultDomain } from './contoso.ts'
import { now, type Row, stamp, type Tenant } from './state.ts'

export type MailboxType = (typeof contoso.mailboxes)[number]['type']
type Properties = Readonly<Record<string, unknown>>

/** Values that cmdlets have set, by cmdlet and with Exchange's names. An absent value has its default. */
interface MailboxDoc {
  readonly displayName: string
  readonly mailbox: Properties
  readonly user: Properties
  readonly place: Properties
  /** The place that Get-Place shows while it lags, and the time of Set-Place. Milliseconds since 1970. */
  readonly formerPlace?: { readonly place: Properties; readonly setAt: number }
  readonly calendar: Properties
  readonly autoReply: Properties
}

/**
 * A mailbox (not of a person) with its account. `id` is the account's object id in Entra ID (Exchange's
 * ExternalDirectoryObjectId), `addresses` starts with the primary address, `settledAt` is milliseconds since 1970.
 */
export interface Mailbox {
  readonly id: string
  readonly guid: string
  readonly name: string
  readonly alias: string
  readonly type: MailboxType
  readonly accountEnabled: boolean
  readonly settledAt: number
  readonly addresses: readonly string[]
  readonly doc: MailboxDoc
  readonly createdAt: string
}

/** Creates Contoso's mailboxes in a new state. A removed mailbox is not created again. */
export function seedMailboxes(tenant: Tenant): void {
  if (tenant.row("select 1 from seeds where name = 'mailboxes'")) return
  tenant.run("insert into seeds (name) values ('mailboxes')")
  for (const { id, guid, type, name, displayName, addresses } of contoso.mailboxes) {
    const doc = { ...emptyDoc, displayName }
    const alias = name
    store(tenant, { id, guid, name, alias, type, addresses, doc, settledAt: 0, createdAt: '2026-01-05T08:00:00Z' })
  }
}

const emptyDoc = { mailbox: {}, user: {}, place: {}, calendar: {}, autoReply: {} }

/**
 * Creates a mailbox with an enabled account. Most cmdlets find it only after `settleSeconds`. The default name is the
 * object id.
 */
export function insertMailbox(
  tenant: Tenant,
  mailbox: Pick<Mailbox, 'alias' | 'type' | 'addresses'> & {
    name?: string
    doc: Partial<MailboxDoc> & Pick<MailboxDoc, 'displayName'>
    settleSeconds: number
  },
): Mailbox {
  const { settleSeconds, ...values } = mailbox
  const doc = { ...emptyDoc, ...mailbox.doc }
  const settledAt = now() + settleSeconds * 1000
  const id = randomUUID()
  const created = { name: id, ...values, doc, id, guid: randomUUID(), settledAt, createdAt: stamp() }
  store(tenant, created)
  return { ...created, accountEnabled: true }
}

function store(tenant: Tenant, mailbox: Omit<Mailbox, 'accountEnabled'>): void {
  tenant.run(
    `insert into mailboxes (id, guid, name, alias, type, account_enabled, settled_at, doc, created_at)
     values (?, ?, ?, ?, ?, 1, ?, ?, ?)`,
    mailbox.id,
    mailbox.guid,
    mailbox.name,
    mailbox.alias,
    mailbox.type,
    mailbox.settledAt,
    JSON.stringify(mailbox.doc),
    mailbox.createdAt,
  )
  setAddresses(tenant, mailbox.id, mailbox.addresses)
}

/** Replaces a mailbox's addresses. The first is the primary address. */
export function setAddresses(tenant: Tenant, mailboxId: string, addresses: readonly string[]): void {
  tenant.run('delete from mailbox_addresses where mailbox_id = ?', mailboxId)
  for (const [index, address] of addresses.entries()) {
    tenant.run(
      'insert into mailbox_addresses (address, mailbox_id, is_primary) values (?, ?, ?)',
      address,
      mailboxId,
      index === 0 ? 1 : 0,
    )
  }
}

function mailboxOf(tenant: Tenant, row: Row): Mailbox {
  const id = String(row['id'])
  const addresses = tenant
    .rows('select address from mailbox_addresses where mailbox_id = ? order by is_primary desc, rowid', id)
    .map((each) => String(each['address']))
  const type = contoso.mailboxes.find((each) => each.type === row['type'])?.type ?? 'SharedMailbox'
  return {
    id,
    guid: String(row['guid']),
    name: String(row['name']),
    alias: String(row['alias']),
    type,
    accountEnabled: row['account_enabled'] === 1,
    settledAt: Number(row['settled_at']),
    addresses,
    doc: JSON.parse(String(row['doc'])),
    createdAt: String(row['created_at']),
  }
}

/** Finds a mailbox by object id, guid, name, alias, userPrincipalName or any address. */
export function findMailbox(tenant: Tenant, identity: string): Mailbox | undefined {
  const upn = identity.toLowerCase().endsWith(`@${defaultDomain}`) ? identity.slice(0, -defaultDomain.length - 1) : ''
  const row = tenant.row(
    `select * from mailboxes where id = lower(?1) or guid = lower(?1) or name = ?1 or alias = ?1 or alias = ?2
     or id = (select mailbox_id from mailbox_addresses where address = ?1)
     order by id = lower(?1) desc, guid = lower(?1) desc, name = ?1 desc, alias = ?1 desc, alias = ?2 desc`,
    identity,
    upn,
  )
  return row && mailboxOf(tenant, row)
}

/** Finds the mailbox with a primary or additional address. */
export function findMailboxByAddress(tenant: Tenant, address: string): Mailbox | undefined {
  const row = tenant.row(
    'select * from mailboxes where id = (select mailbox_id from mailbox_addresses where address = ?)',
    address,
  )
  return row && mailboxOf(tenant, row)
}

export const allMailboxes = (tenant: Tenant): Mailbox[] =>
  tenant.rows('select * from mailboxes order by created_at, rowid').map((row) => mailboxOf(tenant, row))

/** Returns the sign-in name of the mailbox's account: always the alias in the default domain. */
export const upnOf = ({ alias }: Pick<Mailbox, 'alias'>): string => `${alias}@${defaultDomain}`

/** Replaces the given parts of the values that cmdlets have set. */
export function updateMailbox(tenant: Tenant, mailbox: Mailbox, change: Partial<MailboxDoc>): void {
  tenant.run('update mailboxes set doc = ? where id = ?', JSON.stringify({ ...mailbox.doc, ...change }), mailbox.id)
}

export const enableAccount = (tenant: Tenant, mailboxId: string, enabled: boolean): void =>
  tenant.run('update mailboxes set account_enabled = ? where id = ?', enabled ? 1 : 0, mailboxId)

/** Removes a mailbox with its addresses and access. Its account moves to the deleted accounts. */
export function removeMailbox(tenant: Tenant, { id: mailboxId, alias, addresses, doc }: Mailbox): void {
  tenant.run(
    'insert into deleted_accounts (id, user_principal_name, mail, display_name, deleted_at) values (?, ?, ?, ?, ?)',
    mailboxId,
    // Entra ID puts the id before the sign-in name, which frees the name.
    `${mailboxId.replaceAll('-', '')}${upnOf({ alias })}`,
    addresses[0] ?? '',
    doc.displayName,
    stamp(),
  )
  tenant.run('delete from mailbox_access where mailbox_id = ?', mailboxId)
  tenant.run('delete from mailbox_addresses where mailbox_id = ?', mailboxId)
  tenant.run('delete from mailboxes where id = ?', mailboxId)
}

/**
 * Returns accounts of removed mailboxes, as Graph lists deleted users. Entra ID removes them after 30 days, this tenant
 * never does.
 */
export const deletedAccounts = (tenant: Tenant): Record<string, unknown>[] =>
  tenant.rows('select * from deleted_accounts order by rowid').map((row) => ({
    id: row['id'],
    displayName: row['display_name'],
    userPrincipalName: row['user_principal_name'],
    mail: row['mail'],
    deletedDateTime: row['deleted_at'],
  }))

/** An access entry of a mailbox. `trusteeId` is the object id of a person or group, `access` is e.g. FullAccess or SendAs. */
export interface Access {
  readonly trusteeId: string
  readonly access: string
  readonly autoMapping: boolean
}

export const accessTo = (tenant: Tenant, mailboxId: string): Access[] =>
  tenant.rows('select * from mailbox_access where mailbox_id = ? order by rowid', mailboxId).map((row) => ({
    trusteeId: String(row['trustee_id']),
    access: String(row['access']),
    autoMapping: row['auto_mapping'] === 1,
  }))

/** Adds an entry. Returns false when it exists already, and then changes nothing. */
export function addAccess(tenant: Tenant, mailboxId: string, entry: Access): boolean {
  const exists = accessTo(tenant, mailboxId).some(
    ({ trusteeId, access }) => trusteeId === entry.trusteeId && access === entry.access,
  )
  if (exists) return false
  tenant.run(
    'insert into mailbox_access (mailbox_id, trustee_id, access, auto_mapping) values (?, ?, ?, ?)',
    mailboxId,
    entry.trusteeId,
    entry.access,
    entry.autoMapping ? 1 : 0,
  )
  return true
}

export const removeAccess = (tenant: Tenant, mailboxId: string, trusteeId: string, access: string): void =>
  tenant.run(
    'delete from mailbox_access where mailbox_id = ? and trustee_id = ? and access = ?',
    mailboxId,
    trusteeId,
    access,
  )
