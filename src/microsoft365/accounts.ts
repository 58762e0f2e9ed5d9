import { z } from 'zod'
import type { Account, MailDomains } from '../core/index.ts'
import { type Graph, query, quoted, segment } from './graph.ts'
import { isGuest, toAccount, userEntry, userFields } from './user.ts'

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

const text = z.string().nullish().catch(null)
const origin = z.object({ userPrincipalName: z.string(), userType: text, mail: text })

/**
 * From outside is a guest; who signs in elsewhere, whom Entra ID names `anna_fabrikam.com#EXT#@…` also as a member; and whose
 * mail is of a domain that the organisation has not. So is whom the directory does not know: nobody can say otherwise.
 */
export async function isExternal(
  graph: Graph,
  domains: () => Promise<MailDomains>,
  personId: string,
): Promise<boolean> {
  const $filter = `id eq '${z.uuid().parse(personId)}'`
  const url = `${graph.root}/users${query({ $filter, $select: 'id,userPrincipalName,userType,mail' })}`
  const [found] = await graph.list(url, origin, 'asking whether a person is from outside')
  if (!found || isGuest(found) || found.userPrincipalName.toUpperCase().includes('#EXT#@')) return true
  const domain = found.mail?.split('@').at(-1)?.toLowerCase()
  return domain !== undefined && domain !== '' && !(await domains()).accepted.includes(domain)
}
