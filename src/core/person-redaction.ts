import { z } from 'zod'
import { canonical } from './audit.ts'
import { erasedName } from './person-data.ts'
import { provisioningRequest, type Request } from './request.ts'
import type { Person } from './resource.ts'
import { reduced } from './retention.ts'

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is an address or an id of a resource, and no word about a person. */
const structural: readonly string[] = ['address', 'alias', 'aliasAddress', 'url', 'name', 'domain', 'code', 'status']
/** A shorter name could be a part of any word. */
export const shortestName = 4

/**
 * A value without a person: their name and address in it, wherever they stand, and the comments that they wrote. Who has the same
 * name and another id keeps it.
 */
export function withoutPerson(value: unknown, person: Person, key = ''): unknown {
  if (typeof value === 'string') return structural.includes(key) ? value : withoutNames(value, person)
  if (Array.isArray(value)) return value.map((one) => withoutPerson(one, person, key))
  if (!isObject(value)) return value
  if (value['id'] === person.id && typeof value['displayName'] === 'string')
    return {
      ...value,
      displayName: erasedName,
      ...('userPrincipalName' in value && { userPrincipalName: '' }),
    }
  const isTheirs = isObject(value['by']) && value['by']['id'] === person.id
  const members = Object.entries(value).filter(([name]) => !(isTheirs && name === 'comment'))
  const isAnother = z.uuid().safeParse(value['id']).success && typeof value['displayName'] === 'string'
  const isOwnName = (name: string) => isAnother && (name === 'displayName' || name === 'userPrincipalName')
  return Object.fromEntries(
    members.map(([name, one]) => [name, isOwnName(name) ? one : withoutPerson(one, person, name)]),
  )
}

/** Whether a value tells of a person, by id or by name. */
export const tellsOf = (value: unknown, person: Person): boolean =>
  JSON.stringify(value).includes(person.id) || canonical(withoutPerson(value, person)) !== canonical(value)

/** The same of a text, also where it is JSON in a string. */
function withoutNames(text: string, person: Person): string {
  const inside = jsonIn(text)
  if (inside !== undefined) {
    const left = withoutPerson(inside, person)
    return canonical(left) === canonical(inside) ? text : JSON.stringify(left)
  }
  const { displayName, userPrincipalName } = person
  const names = [userPrincipalName, displayName].filter((name) => name.length >= shortestName && name !== erasedName)
  return names.reduce((left, name) => left.replace(wordsOf(name), erasedName), text)
}

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A name as whole words: `Ann Lee` is not in `Joann Leeds`. One of a single word may be a word as well, and is meant as it is written. */
function wordsOf(name: string): RegExp {
  const escaped = name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, /[\s@]/.test(name) ? 'giu' : 'gu')
}

/** A request without a person. One of their own that has ended keeps no words at all. */
export function requestWithout(request: Request, person: Person, at: string): Request {
  const isOwn = request.requester.id === person.id && request.finishedAt !== null && request.reducedAt === undefined
  const bare = isOwn ? reduced(request, at) : request
  const isTheirEnd = bare.cancelledBy?.id === person.id
  const { displayName } = bare.details
  const left = withoutPerson({ ...bare, ...(isTheirEnd && { cancelComment: '' }) }, person)
  const read = provisioningRequest.parse(left)
  // What the resource is called is the organisation's: the tenant has it too.
  const named = { ...read.details, displayName }
  return provisioningRequest.parse({ ...read, details: named })
}
