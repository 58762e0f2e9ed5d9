import { z } from 'zod'
import {
  type Account,
  because,
  type MailDomains,
  type Person,
  type Profile,
  type UnreadProperty,
} from '../../core/index.ts'
import {
  accountsFilter,
  checkedId,
  type Exchange,
  type Graph,
  query,
  quoted,
  segment,
  type UserEntry,
  userEntry,
  userFields,
  type workplaceEntry,
} from '../wire/index.ts'

/** A person's current names. `names` has every name that Exchange may show for the person, in lower case. */
export interface Names {
  readonly userPrincipalName: string
  readonly names: readonly string[]
}

const text = z.string().nullish().catch(null)
const namesEntry = z.object({
  id: z.guid(),
  userPrincipalName: z.string().min(1),
  mail: text,
  proxyAddresses: z.array(z.string()).catch([]),
})

/** Maximum number of values in one `in` of Graph. */
const idsInFilter = 15
const parallelRequests = 4
/** Number of ids in one filter of Exchange: such a filter has some 2 kB. */
const idsInOpath = 25

/**
 * Looks up people's current names by object id, because people are renamed. Omits people who have left the directory.
 */
export async function namesOf(
  graph: Graph,
  people: readonly Pick<Person, 'id'>[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Names>> {
  const ids = people.map(({ id }) => id)
  const found = await usersById(graph, ids, namesEntry, 'id,userPrincipalName,mail,proxyAddresses', signal)
  return new Map(
    found.map(({ id, userPrincipalName, mail, proxyAddresses }) => {
      const all = [id, userPrincipalName, ...(mail ? [mail] : []), ...smtpAddresses(proxyAddresses)]
      const names = all.map((name) => name.toLowerCase())
      return [id.toLowerCase(), { userPrincipalName, names }]
    }),
  )
}

/** Looks up people by id. Omits people who have left the directory. Throws `TypeError` for an invalid object id. */
export const peopleOf = async (graph: Graph, ids: readonly string[]): Promise<Account[]> =>
  (await usersOf(graph, ids)).map(toAccount)

/** Returns the same people as {@link peopleOf}, as entries of Microsoft Graph. */
export const usersOf = (graph: Graph, ids: readonly string[]): Promise<UserEntry[]> =>
  usersById(graph, ids, userEntry, userFields)

/** Lists users by their ids (List users, `$filter` with `in`). */
function usersById<S extends z.ZodType>(
  graph: Graph,
  ids: readonly string[],
  entry: S,
  $select: string,
  signal?: AbortSignal,
): Promise<z.output<S>[]> {
  const all = [...new Set(ids.map((id) => id.toLowerCase()))]
  return inChunks(all, idsInFilter, (some) => {
    const $filter = `id in (${some.map((id) => quoted(checkedId(id))).join(',')})`
    return graph.list(`${graph.root}/users${query({ $filter, $select })}`, entry, because('findingPeople'), signal)
  })
}

/** Returns the SMTP addresses among proxy addresses, which can have other types (X500, SIP). */
export const smtpAddresses = (proxyAddresses: readonly string[]): string[] =>
  proxyAddresses.filter((one) => /^smtp:/i.test(one)).map((one) => one.slice('smtp:'.length))

/** Returns a person's mail addresses in lower case; `[]` for an unknown person. */
export async function addressesOf(graph: Graph, id: string): Promise<string[]> {
  const known = await namesOf(graph, [{ id }])
  return (known.get(id.toLowerCase())?.names ?? []).filter((name) => name.includes('@'))
}

const recipient = z.object({ ExternalDirectoryObjectId: z.string().catch('') })

/** Returns the ids of the people who are not recipients in Exchange. */
export async function unknownToExchange(
  exchange: Exchange,
  people: readonly Pick<Person, 'id'>[],
  signal?: AbortSignal,
): Promise<string[]> {
  const ids = people.map(({ id }) => id)
  const found = await inChunks(ids, idsInOpath, (some) =>
    exchange.read('Get-Recipient', { Filter: accountsFilter(some) }, recipient, signal && { signal }),
  )
  const known = new Set(found.map(({ ExternalDirectoryObjectId: id }) => id.toLowerCase()))
  return ids.filter((id) => !known.has(id.toLowerCase()))
}

/** Splits a list into chunks and requests a few chunks at the same time. */
async function inChunks<T, R>(
  all: readonly T[],
  size: number,
  load: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const groups = Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
  const answers: R[] = []
  for (let from = 0; from < groups.length; from += parallelRequests)
    answers.push(...(await Promise.all(groups.slice(from, from + parallelRequests).map(load))).flat())
  return answers
}

const purposes = {
  transitiveMembers: because('readingGroupMembers'),
  owners: because('readingGroupOwners'),
} as const

/**
 * Lists the people in a group and its nested groups (List group transitive members), or the group's owners (List group
 * owners). Omits all other objects. Returns `[]` for an unknown group.
 */
export async function accountsOf(
  graph: Graph,
  groupId: string,
  relation: 'transitiveMembers' | 'owners',
): Promise<Account[]> {
  const url = `${graph.root}/groups/${segment(groupId)}/${relation}${query({ $select: userFields, $top: '999' })}`
  return (await graph.list(url, userEntry, purposes[relation])).map(toAccount)
}

/** Maximum number of results. */
const maxFound = 10

/**
 * Finds people by sign-in name or mail address, or else by the beginning of the display name (List users). If nobody matches, also
 * compares first and last names, and ignores marks of letters: "Siobhan" finds "Siobhán O'Brien".
 */
export async function findPeople(graph: Graph, text: string): Promise<Account[]> {
  // Every name begins with an empty text.
  if (text.trim() === '') return []
  const wanted = quoted(text.trim())
  const search = async ($filter: string, most = maxFound): Promise<Account[]> => {
    const url = `${graph.root}/users${query({ $filter, $select: userFields, $top: String(most) })}`
    // Only the first page: a single letter may match the whole organisation.
    return (await graph.first(url, userEntry, because('findingPerson'))).slice(0, most).map(toAccount)
  }
  const exact = text.includes('@') ? await search(`userPrincipalName eq ${wanted} or mail eq ${wanted}`) : []
  if (exact.length > 0) return exact
  const found = await search(`startswith(displayName,${wanted})`)
  if (found.length > 0 || text.includes('@')) return found
  const named = await search(`startswith(givenName,${wanted}) or startswith(surname,${wanted})`)
  if (named.length > 0) return named
  const beginnings = spellingsOf(text.trim()).map((one) => `startswith(displayName,${quoted(one)})`)
  const alike = beginnings.length === 0 ? [] : await search(beginnings.join(' or '), maxAlike)
  return alike.filter(({ displayName }) => unmarked(displayName).startsWith(unmarked(text.trim()))).slice(0, maxFound)
}

/** Maximum number of people whose names begin with the same two letters, of which the service compares the whole names. */
const maxAlike = 999
/** The frequent spellings of a letter with marks. A filter with more spellings would be too long for Graph. */
const marked: Readonly<Record<string, string>> = {
  ...{
    a: 'àáâäãå',
    c: 'çćč',
    e: 'èéêëę',
    i: 'ìíîï',
    l: 'ł',
    n: 'ñń',
    o: 'òóôöõø',
    s: 'šśş',
    u: 'ùúûüů',
    y: 'ýÿ',
    z: 'žźż',
  },
}

/** Returns a text in lower case without the marks of its letters. */
const unmarked = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ø', 'o').replaceAll('ł', 'l')

/** Returns the first two letters of a name, and the same with a mark on one of them. */
function spellingsOf(text: string): string[] {
  const [first = '', second = ''] = unmarked(text)
  if (second === '') return []
  const others = (letter: string) => [...(marked[letter] ?? '')]
  return [`${first}${second}`, ...others(first).map((one) => one + second), ...others(second).map((one) => first + one)]
}

const groupEntry = z.object({ id: z.guid(), displayName: z.string() })

/** Finds groups by their display name, or else by its beginning (List groups). */
export async function findGroups(graph: Graph, text: string): Promise<z.output<typeof groupEntry>[]> {
  if (text.trim() === '') return []
  const wanted = quoted(text.trim())
  const search = async ($filter: string) => {
    const url = `${graph.root}/groups${query({ $filter, $select: 'id,displayName', $top: String(maxFound) })}`
    return (await graph.first(url, groupEntry, because('findingGroup'))).slice(0, maxFound)
  }
  // Many groups may begin with this text, so the exact name may be on a later page.
  const exact = await search(`displayName eq ${wanted}`)
  return exact.length > 0 ? exact : search(`startswith(displayName,${wanted})`)
}

/**
 * Returns whether a person is external: a guest, a person who signs in elsewhere (`anna_fabrikam.com#EXT#@…`, even as a
 * member), or a person with a mail domain of another organisation. Unknown people and people without a user type also
 * count as external.
 */
export async function isExternal(user: UserEntry | undefined, domains: () => Promise<MailDomains>): Promise<boolean> {
  if (!user || !isMember(user) || user.userPrincipalName.toUpperCase().includes('#EXT#@')) return true
  const domain = user.mail?.split('@').at(-1)?.toLowerCase()
  return domain !== undefined && domain !== '' && !(await domains()).accepted.includes(domain)
}

const toAccount = (user: UserEntry): Account => {
  const unread = unreadOf(user)
  return {
    id: user.id,
    displayName: user.displayName || user.userPrincipalName,
    userPrincipalName: user.userPrincipalName,
    ...(user.accountEnabled === false && { isBlocked: true }),
    ...(user.userType && !isMember(user) && { isGuest: true }),
    ...(unread.length > 0 && { unread }),
  }
}
export const asAccount = (user: UserEntry | undefined): Account | undefined => user && toAccount(user)

/**
 * Lists the properties that Graph did not show. Entra ID always knows `accountEnabled`, so a missing value means a missing
 * permission. `userType` is also null for some very old or synchronised accounts, which may not be members.
 */
const unreadOf = ({ accountEnabled, userType }: Pick<UserEntry, 'accountEnabled' | 'userType'>): UnreadProperty[] => [
  ...(typeof accountEnabled === 'boolean' ? [] : (['accountEnabled'] as const)),
  ...(userType ? [] : (['userType'] as const)),
]

/** Returns whether the directory lists an account as a member. */
const isMember = ({ userType }: Pick<UserEntry, 'userType'>): boolean => userType?.toLowerCase() === 'member'

/** Converts to the tokens of naming policies. Omits unknown values. */
export function asProfile(entry: Partial<z.output<typeof workplaceEntry>>): Profile {
  const { department, city, country, companyName: company, officeLocation: office } = entry
  const profile = Object.entries({ department, city, country, company, office })
  return Object.fromEntries(profile.filter(([, value]) => value))
}
