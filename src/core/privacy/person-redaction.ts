import { z } from 'zod'
import { canonical, type KnownPerson } from '../audit/index.ts'
import { isForMailbox, provisioningRequest, type Request } from '../requests/index.ts'
import { isRecord, parsedJson } from '../shared/index.ts'
import { erasedName } from './known-person.ts'
import { reduced } from './retention.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Keys whose values are addresses or ids of resources, not texts about a person. The fact `name` of a reason
 * may be a person's name.
 */
const structural: readonly string[] = ['address', 'alias', 'aliasAddress', 'url', 'name', 'domain', 'code', 'status']
/** Shorter names are not searched for: they could be a part of other names and texts. */
export const shortestName = 4
/** Replaces names if `erasedName` is too long: it is shorter than each name, so that no text grows. */
const shortMark = '…'

/**
 * Where a value is: its key, and whether people chose the keys there, so that the service cannot know their meaning.
 */
interface Place {
  readonly key: string
  readonly isFree: boolean
  /** The text that replaces the names. */
  readonly mark: string
}

/**
 * Returns a value without a person: without their names and addresses anywhere, and without the comments that they
 * wrote. In `metadata`, whose keys people choose, removes their id too, also from keys. A person with the same name and
 * another id keeps it.
 */
export const withoutPerson = (value: unknown, person: KnownPerson, mark = erasedName): unknown =>
  without(value, person, { key: '', isFree: false, mark })

/** Returns a value without a person within the limits of its schema. Uses a short mark if `erasedName` exceeds a limit. */
export function withoutPersonIn(schema: z.ZodType, value: unknown, person: KnownPerson): unknown {
  const left = withoutPerson(value, person)
  return schema.safeParse(left).success ? left : withoutPerson(value, person, shortMark)
}

const within = ({ key: parent, isFree, mark }: Place, key: string): Place => ({
  key: parent === 'facts' && key === 'name' ? 'facts.name' : key,
  isFree: isFree || key === 'metadata' || key.startsWith('metadata.'),
  mark,
})

function without(value: unknown, person: KnownPerson, place: Place): unknown {
  if (typeof value === 'string')
    return structural.includes(place.key) && !place.isFree ? value : withoutNames(value, person, place)
  if (Array.isArray(value)) return value.map((one) => without(one, person, place))
  if (!isRecord(value)) return value
  if (place.isFree) return freeWithout(value, person, place)
  if (isIdOf(value['id'], person) && typeof value['displayName'] === 'string')
    return {
      ...value,
      displayName: erasedName,
      ...('userPrincipalName' in value && { userPrincipalName: '' }),
    }
  const free = { ...place, isFree: true }
  const isAnswer = isAboutMetadata(value)
  const isTheirs = isRecord(value['by']) && isIdOf(value['by']['id'], person)
  const members = Object.entries(value).filter(([name]) => !(isTheirs && name === 'comment'))
  const isAnother = z.uuid().safeParse(value['id']).success && typeof value['displayName'] === 'string'
  const isOwnName = (name: string) => isAnother && (name === 'displayName' || name === 'userPrincipalName')
  return Object.fromEntries(
    members.map(([name, one]) => [
      // A form's answer is kept under its input: `metadata.contact`.
      name.startsWith('metadata.') ? withoutNames(name, person, free) : name,
      isOwnName(name)
        ? one
        : without(one, person, isAnswer && name !== 'field' ? { ...free, key: name } : within(place, name)),
    ]),
  )
}

/** Whether a value is a judged condition or an applied default of a metadata field: both contain the field's value. */
function isAboutMetadata({ field, condition }: Json): boolean {
  const about = field ?? (isRecord(condition) ? condition['field'] : undefined)
  return typeof about === 'string' && about.startsWith('metadata.')
}

/** Returns an object with free keys without a person. Numbers keys that become equal, so that no value is lost. */
function freeWithout(value: Json, person: KnownPerson, place: Place): Json {
  const left = new Map<string, unknown>()
  for (const [name, one] of Object.entries(value)) {
    const key = withoutNames(name, person, place)
    const isFreeKey = (wanted: string) => !left.has(wanted) && (wanted === name || !Object.hasOwn(value, wanted))
    left.set(key === name ? name : numbered(key, isFreeKey), without(one, person, within(place, name)))
  }
  return Object.fromEntries(left)
}

function numbered(key: string, isFree: (key: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : ` ${number}`
    const wanted = `${key}${end}`
    if (isFree(wanted)) return wanted
  }
}

const isIdOf = (id: unknown, person: Pick<KnownPerson, 'id'>): boolean =>
  typeof id === 'string' && id.toLowerCase() === person.id

/** Whether a value contains a person's id or name. */
export const mentions = (value: unknown, person: KnownPerson): boolean =>
  JSON.stringify(value).toLowerCase().includes(person.id) ||
  canonical(withoutPerson(value, person)) !== canonical(value)

/** Removes a person's names from a text, also from JSON in a string. Removes the id too if people chose the key. */
function withoutNames(text: string, person: KnownPerson, { isFree: withId, mark }: Place): string {
  const inside = jsonIn(text)
  if (inside !== undefined) {
    const left = without(inside, person, { key: '', isFree: withId, mark })
    return canonical(left) === canonical(inside) ? text : JSON.stringify(left)
  }
  const composed = text.normalize('NFC')
  // The whole answer is the person's name, with or without a mark or capital.
  if (withId && namesOf(person).some((name) => isSame(name, composed))) return mark
  const patterns = [...namesOf(person).map(patternOf), ...(withId ? [new RegExp(person.id, 'gi')] : [])]
  const left = patterns.reduce((rest, pattern) => rest.replace(pattern, mark), composed)
  if (left === composed) return text
  // Some letters are longer in the composed form, such as qa in Hindi.
  return mark === shortMark ? left.slice(0, text.length).toWellFormed() : left
}

const isSame = (one: string, other: string): boolean =>
  one.normalize('NFC').trim().toLowerCase() === other.trim().toLowerCase()

/** Returns a person's names and addresses, the longest first: a short name may be a part of a long one. */
export const namesOf = ({ displayName, userPrincipalName, alsoKnownAs = [] }: KnownPerson): string[] =>
  [...new Set([userPrincipalName, displayName, ...alsoKnownAs])]
    .filter((name) => name.length >= shortestName && name !== erasedName)
    .toSorted((one, other) => other.length - one.length)

const jsonIn = (text: string): unknown => (/^\s*[[{]/.test(text) ? parsedJson(text) : undefined)

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/**
 * Returns the pattern of a name. It does not match inside longer names: `Ann Lee` is not in `Joann Leeds`. A name
 * without a space may be a common noun too, so its case must match. An address may have a tag (`ann+news@…`) or be in a
 * link (`ann%40…`), and is never a part of another address.
 */
function patternOf(name: string): RegExp {
  const written = name.normalize('NFC').trim()
  const [local, domain] = written.split('@')
  if (local !== undefined && domain !== undefined) {
    const before = '(?<![\\p{L}\\p{N}])(?<![\\p{L}\\p{N}][._%+-])'
    const after = '(?![\\p{L}\\p{N}])(?![.-][\\p{L}\\p{N}])'
    return new RegExp(`${before}${escaped(local)}(?:\\+[\\p{L}\\p{N}._-]+)?(?:@|%40)${escaped(domain)}${after}`, 'giu')
  }
  const parts = written.split(/\s+/u).map(escaped).join('\\s+')
  return new RegExp(`(?<![\\p{L}\\p{N}])${parts}(?![\\p{L}\\p{N}])`, /\s/.test(written) ? 'giu' : 'gu')
}

/** Returns a request without a person. Removes all texts from their own ended requests. */
export function requestWithout(request: Request, person: KnownPerson, at: string): Request {
  const isOwn = request.requester.id === person.id && request.finishedAt !== null && request.reducedAt === undefined
  const base = isOwn ? reduced(request, at) : request
  const isTheirEnd = base.cancelledBy?.id === person.id
  const { displayName } = base.details
  const kept = { ...base, ...(isTheirEnd && { cancelComment: '' }) }
  const left = withoutPersonIn(provisioningRequest, kept, person)
  const read = provisioningRequest.parse(left)
  // The name of the resource belongs to the organisation, and the tenant has it too.
  const named = { ...read.details, displayName }
  const createdAs = isForMailbox(base) ? undefined : base.progress.createdAs
  const progress = { ...read.progress, ...(createdAs && { createdAs }) }
  return provisioningRequest.parse({ ...read, details: named, progress })
}
