import type { DirectoryObject, Group, User } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import { because, type HeldAddress, mailKey, siteKey, TenantError } from '../../core/index.ts'
import { fieldsOf, type Graph, query, quoted, type SharePoint } from '../wire/index.ts'
import { smtpAddresses } from './people.ts'

const deleted = 'directory/deletedItems/microsoft.graph.'
const deletedEntry = z.object({ deletedDateTime: z.iso.datetime({ offset: true }) })

/**
 * Returns the latest deletion of the matching objects (Graph, "List deletedItems"; kept for 30 days; `$filter` as
 * elsewhere).
 */
async function deletedAt(graph: Graph, filters: Readonly<Record<'user' | 'group', string | undefined>>) {
  const found = await Promise.all(
    Object.entries(filters).map(([type, $filter]) => {
      if ($filter === undefined) return []
      const url = `${graph.root}/${deleted}${type}${query({ $filter, $select: fieldsOf<DirectoryObject>('id', 'deletedDateTime') })}`
      return graph.list(url, deletedEntry, because('checkingKeptName'))
    }),
  )
  const times = found.flat().map(({ deletedDateTime }) => Date.parse(deletedDateTime))
  return times.length > 0 ? new Date(Math.max(...times)) : undefined
}

/** Returns when the person, mailbox or group with this address was deleted; undefined when none can be restored. */
export function deletedMail(graph: Graph, address: string): Promise<Date | undefined> {
  const $filter = `mail eq ${quoted(address)}`
  return deletedAt(graph, { user: $filter, group: $filter })
}

/** Returns when the group whose site has this alias was deleted; undefined when none can be restored. */
export const deletedSite = (graph: Graph, alias: string): Promise<Date | undefined> =>
  deletedAt(graph, { user: undefined, group: `mailNickname eq ${quoted(alias)}` })

const text = z.string().nullish().catch(null)
const mailObject = z.object({
  id: z.guid(),
  userPrincipalName: text,
  mail: text,
  proxyAddresses: z.array(z.string()).catch([]),
})
const siteObject = z.object({ id: z.string().min(1), webUrl: z.string() })
const purpose = because('recordingAddresses')

/**
 * Yields every address of the tenant, page by page: of accounts (List users, which includes mailboxes), of groups with
 * mail (List groups) and of sites (`getAllSites`). Omits sites while the tenant refuses to list them.
 */
export async function* addressesInUse(
  graph: Graph,
  sharePoint: Pick<SharePoint, 'aliasOf'>,
): AsyncGenerator<readonly HeldAddress[]> {
  const users = query({ $select: fieldsOf<User>('id', 'userPrincipalName', 'mail', 'proxyAddresses'), $top: '999' })
  for await (const page of graph.pages(`${graph.root}/users${users}`, mailObject, purpose)) yield page.flatMap(mailOf)
  const groups = query({
    $filter: 'mailEnabled eq true',
    $select: fieldsOf<Group>('id', 'mail', 'proxyAddresses'),
    $top: '999',
  })
  for await (const page of graph.pages(`${graph.root}/groups${groups}`, mailObject, purpose)) yield page.flatMap(mailOf)
  const sites = query({ $select: 'id,webUrl' })
  try {
    for await (const page of graph.pages(`${graph.root}/sites/getAllSites${sites}`, siteObject, purpose))
      yield page.flatMap((one) => siteOf(one, sharePoint))
  } catch (error) {
    if (!(error instanceof TenantError) || error.retryable) throw error
  }
}

function mailOf({ id, userPrincipalName, mail, proxyAddresses }: z.output<typeof mailObject>): HeldAddress[] {
  const all = [userPrincipalName, mail, ...smtpAddresses(proxyAddresses)].flatMap((one) => (one ? [mailKey(one)] : []))
  return [...new Set(all)].map((key) => ({ key, holder: id }))
}

function siteOf({ id, webUrl }: z.output<typeof siteObject>, { aliasOf }: Pick<SharePoint, 'aliasOf'>): HeldAddress[] {
  const alias = aliasOf(webUrl)
  return alias === undefined ? [] : [{ key: siteKey(alias), holder: id }]
}

/**
 * Returns whether an account has this sign-in name or address, or whether a deleted account or group that can still be
 * restored has the address. Includes accounts without a mailbox, which Exchange does not list.
 */
export async function isHeldByAccount(
  graph: Graph,
  { userPrincipalName, address }: { userPrincipalName: string; address: string },
): Promise<boolean> {
  const isAddress = ['smtp', 'SMTP'].map((type) => `proxyAddresses/any(p:p eq ${quoted(`${type}:${address}`)})`)
  const filters = {
    users: [`userPrincipalName eq ${quoted(userPrincipalName)}`, ...isAddress].join(' or '),
    'directory/deletedItems/microsoft.graph.user': `mail eq ${quoted(address)}`,
    'directory/deletedItems/microsoft.graph.group': `mail eq ${quoted(address)}`,
  }
  const found = await Promise.all(
    Object.entries(filters).map(([path, $filter]) => {
      const url = `${graph.root}/${path}${query({ $filter, $select: 'id' })}`
      return graph.list(url, z.object({ id: z.guid() }), because('checkingName'))
    }),
  )
  return found.some((accounts) => accounts.length > 0)
}
