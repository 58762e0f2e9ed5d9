import type { AnyTemplate, Client } from '../index.ts'
import { UsageError } from './define-command.ts'
import { nearest } from './parse.ts'
import { clean } from './terminal.ts'
import { fill, words } from './words.ts'

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

/** There is no such thing among what the caller may see. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError'
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
export type Kinds = readonly AnyTemplate['kind'][]
export const siteKinds: Kinds = ['teamSite', 'communicationSite']
export const mailboxKinds: Kinds = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox']
