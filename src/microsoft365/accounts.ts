import type { Account, MailDomains } from '../core/index.ts'
import { type Graph, type UserEntry, userEntry, userFields } from './graph.ts'
import { query, quoted, segment } from './graph-pages.ts'
import { isMember, toAccount } from './user.ts'

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
