/**
 * People, groups, addresses and similar resources: core's `Directory` port, and the chats of people with the bot. Reads
 * only, except for the installation of the Teams app for a person. Imports `wire`.
 */
import { z } from 'zod'
import { because, type Directory, type MailDomains, type Profile, TenantError } from '../../core/index.ts'
import {
  addressFilter,
  type CallService,
  type Graph,
  graphService,
  localPartOf,
  nameFilter,
  parseAnswer,
  query,
  quoted,
  type Services,
} from '../wire/index.ts'
import { addressesInUse, deletedMail, deletedSite, isHeldByAccount } from './addresses.ts'
import { createCache, createPeopleLoader } from './cache.ts'
import {
  accountsOf,
  addressesOf,
  asAccount,
  asProfile,
  findGroups,
  findPeople,
  isExternal,
  peopleOf,
  unknownToExchange,
} from './people.ts'
import { similar, visibleTo } from './similar.ts'

export { createChatFinder } from './chats.ts'
export { type Names, namesOf, unknownToExchange } from './people.ts'

export interface DirectoryParts extends Services {
  /** Calls Graph. */
  readonly call: CallService
  /** Name of the schema extension on groups that carries request id, site id and URL: `svc_group`. */
  readonly extension: string
  readonly warn: (message: string, fields: object) => void
  readonly now: (() => number) | undefined
}

/** Creates core's `Directory` port. Every answer is validated; objects are identified by id, never by name. */
export function createDirectory(parts: DirectoryParts): Directory {
  const { graph, sharePoint, exchange } = parts
  const domains = createCache<MailDomains>(parts.now)
  const cachedDomains = () => domains('', () => mailDomains(graph))
  const isFree = async (Filter: string) => (await exchange.read('Get-Recipient', { Filter }, z.unknown())).length === 0
  const user = createPeopleLoader(graph, parts.now)
  const person = async (id: string) => asAccount(await user(id))
  const profiles = createCache<Profile>(parts.now)
  const groups = createCache<ReadonlySet<string>>(parts.now)
  const namingPolicy = createCache<{ readonly text: string | undefined }>(parts.now)
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
    findGroups: (text) => findGroups(graph, text),
    groupsOf: (personId, how) =>
      groups(personId, async () => new Set(await graph.groupIdsOf(personId)), how?.uncached === true),
    findPeople: (text) => findPeople(graph, text),
    isExternal: async (personId) => isExternal(await user(personId), cachedDomains),
    async isSiteAddressFree(alias) {
      const [isFree, policy] = await Promise.all([
        isAliasFree(parts, alias),
        namingPolicy('', async () => ({ text: await graph.groupNamingPolicy() })),
      ])
      const other = renamed(alias, policy.text)
      return isFree && (other === undefined || isAliasFree(parts, other))
    },
    unknownToExchange: (people) => unknownToExchange(exchange, people),
    async isMailboxNameFree(address) {
      const filter = nameFilter(address)
      // Exchange builds the account's sign-in name from the alias and the default domain.
      const userPrincipalName = `${localPartOf(address)}@${(await cachedDomains()).default}`
      const [free, held] = await Promise.all([isFree(filter), isHeldByAccount(graph, { userPrincipalName, address })])
      return free && !held
    },
    isMailAddressFree: async (address) => isFree(addressFilter(address)),
    deletedMail: (address) => deletedMail(graph, address),
    deletedSite: (alias) => deletedSite(graph, alias),
    addressesInUse: () => addressesInUse(graph, sharePoint),
    mailDomains: cachedDomains,
    findProvisionedGroup: (requestId) => findProvisionedGroup(parts, requestId),
    similar: (query) => similar(parts, query),
    visibleTo: (person, candidates, query) => visibleTo(parts, person, candidates, query),
  }
}

/** A group's nickname is the address of its site, even before that site exists, so it counts for both kinds of sites. */
async function isAliasFree({ graph, sharePoint }: DirectoryParts, alias: string): Promise<boolean> {
  const [groups, isSite, deletedAt] = await Promise.all([
    graph.groupsByNickname(alias),
    sharePoint.siteExists(sharePoint.addressOf(alias)),
    deletedSite(graph, alias),
  ])
  return groups.length === 0 && !isSite && !deletedAt
}

/**
 * Returns the alias that a group gets by the tenant's naming policy, if it differs. Attributes such as `[Department]`
 * come from the creator. An application has no attributes, so the result of such a policy cannot be predicted.
 */
function renamed(alias: string, policy = ''): string | undefined {
  const [before = '', after, ...more] = policy.split('[GroupName]')
  if (after === undefined || more.length > 0 || /[[\]]/.test(before + after)) return undefined
  const [prefix, suffix] = [before, after].map((text) => text.replace(/[^\w.-]/g, '')) as [string, string]
  const one = `${alias.startsWith(prefix) ? '' : prefix}${alias}${alias.endsWith(suffix) ? '' : suffix}`
  return one === alias ? undefined : one
}

async function mailDomains(graph: Graph): Promise<MailDomains> {
  const domains = await graph.mailDomains()
  const usual = domains.find(({ isDefault }) => isDefault) ?? domains[0]
  if (usual) return { default: usual.name, accepted: domains.map(({ name }) => name) }
  throw new TenantError('no-mail-domain', because('mailDomainMissing'), { retryable: false })
}

/** Values of another type count as missing, so that the group itself is still found. */
const text = z.string().optional().catch(undefined)
const provisioned = z.object({
  id: z.guid(),
  displayName: z.string(),
  extension: z
    .object({ requestId: text, extensionAttribute1: text, extensionAttribute3: text })
    .catch({ requestId: undefined, extensionAttribute1: undefined, extensionAttribute3: undefined }),
})

/**
 * Looks up the provisioned group as the API document requires ("Look up the provisioned group"): `GET
 * {directory_url}/v1.0/groups?$filter={extension}/requestId eq '{requestId}'&$select=id,displayName,{extension}`. Other
 * applications may write to the extension. Therefore the function ignores groups with another request's id and omits a
 * URL outside the tenant's SharePoint host. It omits URL and site id when several groups have the request's id. Throws
 * `TypeError` for a request id that is not a UUID, because the id becomes part of a filter.
 */
async function findProvisionedGroup({ graph, call, sharePoint, extension, warn }: DirectoryParts, requestId: string) {
  if (!z.uuid().safeParse(requestId).success) throw new TypeError('A request id is a UUID.')
  const filter = `${extension}/requestId eq ${quoted(requestId)}`
  const url = `${graph.root}/groups${query({ $filter: filter, $select: `id,displayName,${extension}` })}`
  const answer = await call({ url, purpose: because('findingSecurityGroup') }).catch(graph.explainExtension)
  const { value } = parseAnswer(z.object({ value: z.array(z.record(z.string(), z.unknown())) }), answer, graphService)
  const groups = value
    .map((group) =>
      parseAnswer(provisioned, { ...answer, body: { ...group, extension: group[extension] } }, graphService),
    )
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
