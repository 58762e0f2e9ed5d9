import { z } from 'zod'
import { type Directory, type MailDomains, type Profile, TenantError } from '../core/index.ts'
import { accountsOf, findPeople, isExternal } from './accounts.ts'
import { addressesInUse, deletedMail, deletedSite } from './addresses.ts'
import { type CallService, readAs } from './call.ts'
import { type Exchange, heldBy, localPartOf, reachedBy } from './exchange.ts'
import { type Graph, graphService, query, quoted } from './graph.ts'
import { createMemory } from './memory.ts'
import { addressesOf, isHeldByAccount, peopleOf, unknownToExchange } from './people.ts'
import { createPeopleLoader } from './people-loader.ts'
import type { SharePoint } from './sharepoint.ts'
import { similar, visibleTo } from './similar.ts'
import { asAccount, asProfile } from './user.ts'

export interface DirectoryParts {
  readonly graph: Graph
  readonly call: CallService
  readonly sharePoint: SharePoint
  readonly exchange: Exchange
  /** Name of the schema extension on groups that carries request id, site id and URL: `svc_group`. */
  readonly extension: string
  readonly warn: (message: string, fields: object) => void
  readonly now?: () => number
}

/** The organisation's directory over Microsoft Graph v1.0. Answers are checked; ids, never names, identify. */
export function createDirectory(parts: DirectoryParts): Directory {
  const { graph, sharePoint, exchange } = parts
  const domains = createMemory<MailDomains>(parts.now)
  const theDomains = () => domains('', () => mailDomains(graph))
  const isFree = async (Filter: string) => (await exchange.read('Get-Recipient', { Filter }, z.unknown())).length === 0
  const user = createPeopleLoader(graph, parts.now)
  const person = async (id: string) => asAccount(await user(id))
  const profiles = createMemory<Profile>(parts.now)
  const groups = createMemory<ReadonlySet<string>>(parts.now)
  return {
    person,
    people: (ids) => peopleOf(graph, ids),
    isGuest: async (id) => (await person(id))?.isGuest === true,
    profile: (id) => profiles(id, async () => asProfile(await graph.workplace(id))),
    addressesOf: (id) => addressesOf(graph, id),
    manager: async (id) => asAccount(await graph.manager(id)),
    membersOf: (groupId) => accountsOf(graph, groupId, 'transitiveMembers'),
    ownersOf: (groupId) => accountsOf(graph, groupId, 'owners'),
    groupName: (groupId) => graph.groupName(groupId),
    groupsOf: (personId, how) =>
      groups(personId, async () => new Set(await graph.groupIdsOf(personId)), how?.anew === true),
    findPeople: (text) => findPeople(graph, text),
    isExternal: async (personId) => isExternal(await user(personId), theDomains),
    async isSiteAddressFree(alias) {
      // A group's nickname is the address of its site, also before that site is made: it counts for both kinds.
      const [groups, isSite, deletedAt] = await Promise.all([
        graph.groupsByNickname(alias),
        sharePoint.siteExists(sharePoint.addressOf(alias)),
        deletedSite(graph, alias),
      ])
      return groups.length === 0 && !isSite && !deletedAt
    },
    unknownToExchange: (people) => unknownToExchange(exchange, people),
    async isMailboxNameFree(address) {
      const filter = heldBy(address)
      // Exchange makes the account's sign-in name of the alias and the default domain, whatever the address's own is.
      const userPrincipalName = `${localPartOf(address)}@${(await theDomains()).default}`
      const [free, held] = await Promise.all([isFree(filter), isHeldByAccount(graph, { userPrincipalName, address })])
      return free && !held
    },
    isMailAddressFree: async (address) => isFree(reachedBy(address)),
    deletedMail: (address) => deletedMail(graph, address),
    deletedSite: (alias) => deletedSite(graph, alias),
    addressesInUse: () => addressesInUse(graph, sharePoint.siteRoot),
    mailDomains: theDomains,
    findProvisionedGroup: (requestId) => findProvisionedGroup(parts, requestId),
    similar: (query) => similar(parts, query),
    visibleTo: (person, candidates, query) => visibleTo(parts, person, candidates, query),
  }
}

async function mailDomains(graph: Graph): Promise<MailDomains> {
  const domains = await graph.mailDomains()
  const usual = domains.find(({ isDefault }) => isDefault) ?? domains[0]
  if (usual) return { default: usual.name, accepted: domains.map(({ name }) => name) }
  throw new TenantError('no-mail-domain', 'The organisation has no domain that takes mail.', { retryable: false })
}

/** Texts of another type are as good as none; the group itself counts. */
const text = z.string().optional().catch(undefined)
const provisioned = z.object({
  id: z.guid(),
  displayName: z.string(),
  extension: z
    .object({ requestId: text, extensionAttribute1: text, extensionAttribute3: text })
    .catch({ requestId: undefined, extensionAttribute1: undefined, extensionAttribute3: undefined }),
})

/**
 * The API document's look-up ("Look up the provisioned group"), exactly:
 * `GET {directory_url}/v1.0/groups?$filter={extension}/requestId eq '{requestId}'&$select=id,displayName,{extension}`.
 * The answer is somebody else's text: groups that carry another request's id are not ours, a URL that is not on the
 * tenant's SharePoint host is left out, and so are URL and site id when several groups claim the request.
 * Throws `TypeError` for a request id that is no UUID, since it becomes part of a filter.
 */
async function findProvisionedGroup({ graph, call, sharePoint, extension, warn }: DirectoryParts, requestId: string) {
  if (!z.uuid().safeParse(requestId).success) throw new TypeError('A request id is a UUID.')
  const filter = `${extension}/requestId eq ${quoted(requestId)}`
  const url = `${graph.root}/groups${query({ $filter: filter, $select: `id,displayName,${extension}` })}`
  const answer = await call({ url, purpose: "looking for the site's security group" })
  const { value } = readAs(z.object({ value: z.array(z.record(z.string(), z.unknown())) }), answer, graphService)
  const groups = value
    .map((group) => readAs(provisioned, { ...answer, body: { ...group, extension: group[extension] } }, graphService))
    .filter((group) => (group.extension.requestId ?? requestId).toLowerCase() === requestId.toLowerCase())
  const [first] = groups
  if (!first) return undefined
  const { id, displayName } = first
  if (groups.length > 1) {
    warn('Several groups carry the same request id', { requestId, groups: groups.map((group) => group.id) })
    return { id, displayName }
  }
  const { extensionAttribute1: siteId, extensionAttribute3: address } = first.extension
  const isOurs = address !== undefined && sharePoint.isOnTenant(address)
  if (address !== undefined && !isOurs) warn('A group carries a URL outside the tenant', { requestId, group: id })
  return { id, displayName, ...(siteId && { siteId }), ...(isOurs && { url: address }) }
}
