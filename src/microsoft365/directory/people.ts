import { z } from 'zod'
import type { Account, MailDomains, Person, Profile, UnreadProperty } from '../../core/index.ts'
import {
  checkedId,
  type Exchange,
  type Graph,
  knownAs,
  query,
  quoted,
  segment,
  type UserEntry,
  userEntry,
  userFields,
  type workplaceEntry,
} from '../wire/index.ts'

/** What somebody is called now. `names` are all by which Exchange may call them, in lower case. */
export interface Names {
  readonly userPrincipalName: string
  readonly names: readonly string[]
}

const text = z.string().nullish().catch(null)
const named = z.object({
  id: z.guid(),
  userPrincipalName: z.string().min(1),
  mail: text,
  proxyAddresses: z.array(z.string()).catch([]),
})

/** Graph takes fifteen values in one `in`; and this many questions are asked at once. */
const idsInFilter = 15
const atOnce = 4
/** A filter of this many ids is some 2 kB long. */
const idsInOpath = 25

/**
 * What people are called now, by their object id: they are renamed, and the id that was asked for decides. Who is no
 * longer in the directory is left out.
 */
export async function namesOf(
  graph: Graph,
  people: readonly Pick<Person, 'id'>[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Names>> {
  const ids = [...new Set(people.map(({ id }) => id.toLowerCase()))]
  const found = await eachGroup(ids, idsInFilter, (some) => {
    const $filter = `id in (${some.map((id) => quoted(checkedId(id))).join(',')})`
    const $select = 'id,userPrincipalName,mail,proxyAddresses'
    return graph.list(`${graph.root}/users${query({ $filter, $select })}`, named, 'looking people up', signal)
  })
  return new Map(
    found.map(({ id, userPrincipalName, mail, proxyAddresses }) => {
      const addresses = proxyAddresses.filter((one) => /^smtp:/i.test(one)).map((one) => one.slice('smtp:'.length))
      const names = [id, userPrincipalName, ...(mail ? [mail] : []), ...addresses].map((name) => name.toLowerCase())
      return [id.toLowerCase(), { userPrincipalName, names }]
    }),
  )
}

/** Those of these people who are in the directory (List users, `$filter` with `in`). Whoever was deleted is not. */
export const peopleOf = async (graph: Graph, ids: readonly string[]): Promise<Account[]> =>
  (await usersOf(graph, ids)).map(toAccount)

/** The same as Microsoft Graph shows them. Throws `TypeError` for an object id that is none. */
export function usersOf(graph: Graph, ids: readonly string[]): Promise<UserEntry[]> {
  const all = [...new Set(ids.map((id) => id.toLowerCase()))]
  return eachGroup(all, idsInFilter, (some) => {
    const $filter = `id in (${some.map((id) => quoted(checkedId(id))).join(',')})`
    return graph.list(`${graph.root}/users${query({ $filter, $select: userFields })}`, userEntry, 'looking people up')
  })
}

/** Every mail address of a person, in lower case; none of a person who is not in the directory. */
export async function addressesOf(graph: Graph, id: string): Promise<string[]> {
  const known = await namesOf(graph, [{ id }])
  return (known.get(id.toLowerCase())?.names ?? []).filter((name) => name.includes('@'))
}

const recipient = z.object({ ExternalDirectoryObjectId: z.string().catch('') })

/** The ids of those people who are no recipients of Exchange's. */
export async function unknownToExchange(
  exchange: Exchange,
  people: readonly Pick<Person, 'id'>[],
  signal?: AbortSignal,
): Promise<string[]> {
  const ids = people.map(({ id }) => id)
  const found = await eachGroup(ids, idsInOpath, (some) =>
    exchange.read('Get-Recipient', { Filter: knownAs(some) }, recipient, signal && { signal }),
  )
  const known = new Set(found.map(({ ExternalDirectoryObjectId: id }) => id.toLowerCase()))
  return ids.filter((id) => !known.has(id.toLowerCase()))
}

/** Asks about so many at a time, a few questions at once; answers in any order. */
async function eachGroup<T, R>(
  all: readonly T[],
  size: number,
  ask: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const groups = Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
  const answers: R[] = []
  for (let from = 0; from < groups.length; from += atOnce)
    answers.push(...(await Promise.all(groups.slice(from, from + atOnce).map(ask))).flat())
  return answers
}

const purposes = {
  transitiveMembers: 'reading the members of a group',
  owners: 'reading the owners of a group',
} as const

/**
 * People of a group, and of the groups in it (List group transitive members); or its owners, who are people or
 * applications, never groups (List group owners). Whatever is no person is left out; a group that is not there has none.
 */
export async function accountsOf(
  graph: Graph,
  groupId: string,
  relation: 'transitiveMembers' | 'owners',
): Promise<Account[]> {
  const url = `${graph.root}/groups/${segment(groupId)}/${relation}${query({ $select: userFields, $top: '999' })}`
  return (await graph.list(url, userEntry, purposes[relation])).map(toAccount)
}

/** The most people that are found of what somebody typed. */
const mostFound = 10

/** People by what others type of them: a sign-in name or mail address decides, else the beginning of a name (List users). */
export async function findPeople(graph: Graph, typed: string): Promise<Account[]> {
  // Everybody's name begins with nothing.
  if (typed.trim() === '') return []
  const wanted = quoted(typed.trim())
  const ask = async ($filter: string): Promise<Account[]> => {
    const url = `${graph.root}/users${query({ $filter, $select: userFields, $top: String(mostFound) })}`
    // The first page alone: of a single letter there are as many pages as the organisation has.
    return (await graph.first(url, userEntry, 'looking a person up')).slice(0, mostFound).map(toAccount)
  }
  const exact = typed.includes('@') ? await ask(`userPrincipalName eq ${wanted} or mail eq ${wanted}`) : []
  return exact.length > 0 ? exact : ask(`startswith(displayName,${wanted})`)
}

/**
 * From outside is a guest; a person who signs in elsewhere, whom Entra ID names `anna_fabrikam.com#EXT#@…` also as a member; and
 * a person whose mail is of a domain that the organisation does not have. So is a person whom the directory does not know, or
 * whose user type it does not tell: nothing proves the opposite.
 */
export async function isExternal(user: UserEntry | undefined, domains: () => Promise<MailDomains>): Promise<boolean> {
  if (!user || !isMember(user) || user.userPrincipalName.toUpperCase().includes('#EXT#@')) return true
  const domain = user.mail?.split('@').at(-1)?.toLowerCase()
  return domain !== undefined && domain !== '' && !(await domains()).accepted.includes(domain)
}

export const toAccount = (user: UserEntry): Account => {
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
 * Entra ID always knows whether an account is enabled, so a missing `accountEnabled` was not readable. `userType` is also null
 * for accounts that nobody has classified, very old or synchronised ones; nothing proves that such an account is a member.
 */
export const unreadOf = ({
  accountEnabled,
  userType,
}: Pick<UserEntry, 'accountEnabled' | 'userType'>): UnreadProperty[] => [
  ...(typeof accountEnabled === 'boolean' ? [] : (['accountEnabled'] as const)),
  ...(userType ? [] : (['userType'] as const)),
]

/** Whether the directory says that an account is a member: nothing else than that word counts. */
export const isMember = ({ userType }: Pick<UserEntry, 'userType'>): boolean => userType?.toLowerCase() === 'member'

/** The same by the tokens of names; what is not known is left out. */
export function asProfile(entry: Partial<z.output<typeof workplaceEntry>>): Profile {
  const { department, city, country, companyName: company, officeLocation: office } = entry
  const told = Object.entries({ department, city, country, company, office }).filter(([, value]) => value)
  return Object.fromEntries(told)
}
