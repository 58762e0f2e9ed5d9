import { z } from 'zod'
import type { Account, Person } from '../core/index.ts'
import { checkedId, type Exchange, knownAs } from './exchange.ts'
import { type Graph, type UserEntry, userEntry, userFields } from './graph.ts'
import { query, quoted } from './graph-pages.ts'
import { toAccount } from './user.ts'

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
