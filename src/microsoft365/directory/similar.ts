import type { Group, Site, User } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import {
  because,
  type Candidate,
  isMailboxKind,
  type Person,
  type SimilarQuery,
  TenantError,
} from '../../core/index.ts'
import {
  accountsFilter,
  checkedId,
  type Exchange,
  fieldsOf,
  type Graph,
  query,
  recipientTypes,
  type Services,
  type SharePoint,
} from '../wire/index.ts'

/** Page size: a hundred entries are some 20 kB. */
const maxNames = '100'
const purpose = because('findingSimilar')
/** Graph's `$search` on directory objects is an advanced query: it needs this header and `$count=true`. */
const advanced = { consistencyLevel: 'eventual' }

/** Characters that Exchange allows in mail addresses. */
const mail = z.string().regex(/^[\x21-\x7e]{3,320}$/)
const groupEntry = z.object({
  id: z.guid(),
  displayName: z.string(),
  mail,
  mailNickname: z.string(),
  visibility: z.string().nullish(),
})
const accountEntry = z.object({ id: z.guid(), displayName: z.string(), mail })
const siteEntry = z.object({ displayName: z.string(), webUrl: z.string() })

/**
 * Finds resources with a name that contains one of the beginnings at the start of a part: sites and their groups, or
 * accounts.
 */
export async function similar(
  services: Services,
  { kind, beginnings, signal }: SimilarQuery,
): Promise<readonly Candidate[]> {
  const texts = beginnings.filter((text) => /^[\p{L}\p{M}\p{N}]+$/u.test(text))
  if (texts.length === 0) return []
  if (isMailboxKind(kind)) return accountsNamed(services.graph, texts, signal)
  const [groups, sites] = await Promise.all([
    groupsNamed(services.graph, texts, signal),
    Promise.all(texts.map((text) => sitesNamed(services, text, signal))).catch(withoutPermission),
  ])
  return withSites(groups, sites.flat())
}

/** While the tenant refuses the search for sites, the result has groups only. */
function withoutPermission(error: unknown): [] {
  if (error instanceof TenantError && !error.retryable) return []
  throw error
}

/**
 * Finds groups by the beginnings of the parts of `displayName` ("Use the $search query parameter"). Omits groups with
 * hidden membership: their owners do not want others to know who works on which topic.
 */
async function groupsNamed(graph: Graph, texts: readonly string[], signal: AbortSignal): Promise<Candidate[]> {
  const url = `${graph.root}/groups${query({
    $search: searchFor(texts),
    $filter: "groupTypes/any(t:t eq 'Unified')",
    $select: fieldsOf<Group>('id', 'displayName', 'mail', 'mailNickname', 'visibility'),
    $count: 'true',
    $top: maxNames,
  })}`
  const found = await graph.first(url, groupEntry, purpose, { headers: advanced, signal })
  return found
    .filter(({ visibility }) => visibility?.toLowerCase() !== 'hiddenmembership')
    .map(({ id, displayName, mail: address, mailNickname: alias, visibility }) => {
      return { of: 'group', id, displayName, address, alias, isPublic: visibility?.toLowerCase() === 'public' }
    })
}

async function accountsNamed(graph: Graph, texts: readonly string[], signal: AbortSignal): Promise<Candidate[]> {
  const url = `${graph.root}/users${query({
    $search: searchFor(texts),
    $select: fieldsOf<User>('id', 'displayName', 'mail'),
    $count: 'true',
    $top: maxNames,
  })}`
  const found = await graph.first(url, accountEntry, purpose, { headers: advanced, signal })
  return found.map(({ mail: address, ...account }) => ({
    of: 'account',
    ...account,
    address,
    alias: '',
    isPublic: false,
  }))
}

const searchFor = (texts: readonly string[]): string => texts.map((text) => `"displayName:${text}"`).join(' OR ')

/** Finds this tenant's sites by SharePoint's search ("Search for sites"): free text with an asterisk after the beginning. */
async function sitesNamed({ graph, sharePoint }: Services, text: string, signal: AbortSignal): Promise<Candidate[]> {
  const url = `${graph.root}/sites${query({ search: `${text}*`, $select: fieldsOf<Site>('displayName', 'webUrl'), $top: maxNames })}`
  const found = await graph.first(url, siteEntry, purpose, { signal })
  return found
    .map(({ displayName, webUrl }) => ({ displayName, address: webUrl.replace(/\/+$/, '') }))
    .filter(({ address }) => isOwnSite(sharePoint, address))
    .map((site) => ({ of: 'site', id: site.address, ...site, alias: '', isPublic: false }))
}

/** Returns whether an address is a site directly under the root of sites: no page, subsite or OneDrive. */
const isOwnSite = ({ aliasOf }: SharePoint, address: string): boolean => /^[\w.~%-]+$/.test(aliasOf(address) ?? '')

/**
 * Combines groups with the address of their site, and adds the other sites. Matches a site by its address, because a
 * request for a group's site would create that site.
 */
function withSites(groups: readonly Candidate[], sites: readonly Candidate[]): Candidate[] {
  const left = new Map(sites.map((site) => [lastPart(site.address), site]))
  const joined = groups.map((group) => {
    const alias = group.alias.toLowerCase()
    const numbered = [...left].find(
      ([part, { displayName }]) => isNumbered(part, alias) && displayName === group.displayName,
    )
    const part = left.has(alias) ? alias : (numbered?.[0] ?? '')
    const site = left.get(part)
    left.delete(part)
    return site ? { ...group, address: site.address } : group
  })
  return [...joined, ...left.values()]
}

/** SharePoint numbers a group's site when its address is taken: `marketing2`. */
const isNumbered = (part: string, alias: string): boolean =>
  part.startsWith(alias) && /^\d+$/.test(part.slice(alias.length))

const lastPart = (address: string): string => address.slice(address.lastIndexOf('/') + 1).toLowerCase()

/**
 * Returns the candidates whose names the person may read: groups and mailboxes that the organisation's address list shows,
 * and sites without a group that the person may open.
 */
export async function visibleTo(
  services: Services,
  person: Person,
  candidates: readonly Candidate[],
  { kind, signal }: SimilarQuery,
): Promise<readonly Candidate[]> {
  const listed = candidates.filter(({ of }) => of !== 'site').map(({ id }) => id)
  const [inList, opened] = await Promise.all([
    listedIn(services.exchange, listed, isMailboxKind(kind) ? recipientTypes[kind] : 'GroupMailbox', signal),
    Promise.all(candidates.map((one) => one.of === 'site' && services.sharePoint.mayOpen(one.address, person, signal))),
  ])
  return candidates.filter(({ of, id }, index) => (of === 'site' ? opened[index] : inList.has(id.toLowerCase())))
}

const recipient = z.object({
  ExternalDirectoryObjectId: z.string(),
  HiddenFromAddressListsEnabled: z.boolean(),
  RecipientTypeDetails: z.string(),
})

async function listedIn(exchange: Exchange, ids: readonly string[], type: string, signal: AbortSignal) {
  if (ids.length === 0) return new Set<string>()
  const parameters = { Filter: accountsFilter(ids.map(checkedId)), RecipientTypeDetails: [type] }
  const found = await exchange.read('Get-Recipient', parameters, recipient, { signal })
  const shown = found.filter((one) => !one.HiddenFromAddressListsEnabled && one.RecipientTypeDetails === type)
  return new Set(shown.map(({ ExternalDirectoryObjectId }) => ExternalDirectoryObjectId.toLowerCase()))
}
