import { type AnyTemplate, type Client, DirectoryError } from '../index.ts'
import type { Body } from './body.ts'
import type { Scope } from './define-command.ts'
import { NotFoundError, UsageError } from './exit-codes.ts'
import { clean } from './terminal.ts'
import { fill, nearest, words } from './words.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The id of a request by what people call it: `REQ-1042`, `1042`, or the id itself. Throws {@link UsageError} for what is no
 * such thing, {@link NotFoundError} when there is none that the caller may see.
 */
export async function findRequest(client: Client, said: string, signal: AbortSignal): Promise<string> {
  if (uuid.test(said)) return said.toLowerCase()
  const number = /^(?:req-?|#)?(\d{1,9})$/i.exec(said)?.[1]
  if (number === undefined) throw new UsageError(fill(words.usage.noRequest, { said: clean(said) }))
  const reference = `REQ-${Number(number)}`
  const [found] = (await client.listRequests({ reference }, { signal })).value
  if (found) return found.requestId
  throw new NotFoundError(fill(words.refused.noRequest, { reference }))
}

/** A template by its id, or by its name in any case. What is no name of one goes to the service as it is. */
export async function templateIdOf(client: Client, said: string, kinds: Kinds, signal: AbortSignal): Promise<string> {
  if (uuid.test(said)) return said.toLowerCase()
  const templates = (await client.templates({ signal })).filter(({ kind }) => kinds.includes(kind))
  const named = templates.filter(({ name }) => name.toLowerCase() === said.trim().toLowerCase())
  const [only] = named
  if (only && named.length === 1) return only.id
  if (named.length > 1) throw new UsageError(fill(words.usage.severalTemplates, { said: clean(said) }))
  const names = templates.map(({ name }) => clean(name))
  const meant = nearest(said, names)
  const hint = meant === undefined ? words.usage.seeTemplates : fill(words.usage.didYouMean, { meant })
  throw new UsageError(`${fill(words.usage.noTemplate, { said: clean(said) })} ${hint}`)
}
type Kinds = readonly AnyTemplate['kind'][]
export const siteKinds: Kinds = ['teamSite', 'communicationSite']
export const mailboxKinds: Kinds = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox']

/** People call each other by sign-in names; the API takes user ids. Gives a body with ids in place of names, each looked up once. */
export function peopleBySignInName(scope: Scope): (body: Body) => Promise<Body> {
  const known = new Map<string, Promise<string>>()
  const idOf = (said: string): Promise<string> => {
    const name = said.trim().toLowerCase()
    if (!name.includes('@')) return Promise.resolve(said)
    const found = known.get(name) ?? lookUp(scope, name)
    known.set(name, found)
    return found
  }
  return async (body) => {
    const changed: Record<string, unknown> = { ...body }
    for (const field of ['primaryOwner', 'secondaryOwner'])
      if (typeof body[field] === 'string') changed[field] = await idOf(body[field])
    const { owners, permissions } = body
    if (Array.isArray(owners))
      changed['owners'] = await Promise.all(owners.map((one) => (typeof one === 'string' ? idOf(one) : one)))
    if (typeof permissions === 'object' && permissions !== null) {
      const given: [string, unknown][] = []
      for (const [person, access] of Object.entries(permissions)) given.push([await idOf(person), access])
      changed['permissions'] = Object.fromEntries(given)
    }
    return changed
  }
}

async function lookUp(scope: Scope, name: string): Promise<string> {
  try {
    const id = await (await scope.client()).findUserId(name, { signal: scope.signal })
    if (id !== undefined && id !== '') return id
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.status !== 403) throw error
    throw new UsageError(fill(words.csv.noDirectory, { why: error.code || String(error.status) }))
  }
  throw new UsageError(fill(words.csv.noPerson, { said: clean(name) }))
}
