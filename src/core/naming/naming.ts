import { isMailboxKind } from '../shared/index.ts'
import {
  type Affixes,
  addressRule,
  addressRuleOf,
  allows,
  displayNameRule,
  longestName,
  type NameRule,
  names,
  render,
  type Template,
  type TemplateSnapshot,
  type TokenValues,
} from '../templates/index.ts'

const spelledOut: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  þ: 'th',
  ð: 'd',
  ı: 'i',
}

/**
 * Returns a name as an address: "Projekt Zürich (Süd)" → `projekt-zurich-sud`. Letters outside ASCII lose their marks (a group's
 * mailNickname is ASCII). Returns `''` if nothing is left.
 */
export function slug(name: string): string {
  const plain = [...name.toLowerCase()].map((letter) => spelledOut[letter] ?? letter).join('')
  // Lower case again: some characters, such as ℡, become capitals by the normalisation.
  return plain
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/** The affixes around the typed part of an address, and its separator. */
export interface Around extends Affixes {
  readonly separator: string
}

export interface Address {
  /** The address by the naming policy. */
  readonly alias: string
  /** Whether a person typed the address. A taken typed address is a fault with a suggestion; a derived one is replaced. */
  readonly isTyped: boolean
  /** The maximum number of typed characters, if the typed address is longer. */
  readonly longest?: number
  readonly around: Around
}
type Named = Pick<TemplateSnapshot, 'kind' | 'naming'>

/** Returns the first allowed separator, or `''`. */
const separatorOf = (rule: Pick<NameRule, 'allowed'>): string => ['-', '_'].find((one) => allows(rule, one)) ?? ''

/**
 * Returns the address of a request by its template's naming policy. A name that leaves no characters falls back to the request's
 * id. A name that already has the policy's prefix and suffix does not get them twice, so a suggested address stays unchanged.
 */
export function addressOf(
  { kind, naming }: Named,
  typed: { alias: string; displayName: string },
  requestId: string,
  values: TokenValues = {},
): Address {
  return addressBy(addressRule(naming, kind), typed, isMailboxKind(kind) ? 'mailbox' : 'site', requestId, values)
}

/** Returns an address by one rule, for example of a mailbox's additional address. `noun`: the text before a part of the id. */
export function addressBy(
  rule: NameRule,
  typed: { alias: string; displayName: string },
  noun: 'site' | 'mailbox',
  requestId: string,
  values: TokenValues,
): Address {
  const separator = separatorOf(rule)
  const clean = (text: string) => slug(text).replaceAll('-', separator)
  const { prefix, suffix, hasInput } = render(rule.pattern, values, 'address', clean)
  const own = `${noun}${separator}${shortId(requestId)}`
  // The pattern contains no typed part, so there are no affixes around one.
  if (!hasInput) return { alias: prefix || own, isTyped: false, around: { prefix: '', suffix: '', separator } }
  const around = { prefix, suffix, separator }
  const wanted = typed.alias === '' ? clean(typed.displayName) || own : typed.alias.toLowerCase()
  const core = bare(around, wanted)
  const room = longestName.address - prefix.length - suffix.length
  const isTyped = typed.alias !== ''
  return { alias: affixed(around, core), isTyped, ...(isTyped && core.length > room && { longest: room }), around }
}

/** Returns the display name by the policy. `longest`: the maximum number of typed characters, if the name is too long. */
export function displayNameOf(
  { naming }: Pick<Named, 'naming'>,
  typed: string,
  values: TokenValues,
): { displayName: string; longest?: number } {
  const clean = (text: string) => text.replace(/[\s\p{C}]+/gu, ' ').trim()
  const { prefix, suffix, shaped } = render(displayNameRule(naming).pattern, values, 'displayName', clean)
  const has = typed.startsWith(prefix) && typed.endsWith(suffix) && typed.length > prefix.length + suffix.length
  const own = has ? typed.slice(prefix.length, typed.length - suffix.length) : typed
  const displayName = `${prefix}${shaped(own)}${suffix}`
  const longest = longestName.displayName - prefix.length - suffix.length
  return { displayName, ...(displayName.length > longestName.displayName && { longest }) }
}

/** The number of readable addresses that are tried before the one with the request's id. */
const maxChosen = 8

/**
 * Yields the address itself, then with `-2`, `-3` … `-8`, and last with a part of the request's id, which is unique. They are for
 * a taken address. All of them match the naming policy.
 */
export function* alternatives(around: Around, alias: string, requestId: string): Generator<string> {
  yield alias
  const core = bare(around, alias)
  for (let number = 2; number <= maxChosen; number += 1) yield affixed(around, core, `${around.separator}${number}`)
  yield ownAddress(around, alias, requestId)
}

/** Returns the address with a noun after its typed part. */
export const withWord = (around: Around, alias: string, word: string): string =>
  affixed(around, bare(around, alias), `${around.separator}${word}`)

/** Returns a similar address with a part of the request's id, which no other request can have. */
export const ownAddress = (around: Around, alias: string, requestId: string): string =>
  affixed(around, bare(around, alias), `${around.separator}${shortId(requestId)}`)

const shortId = (requestId: string): string => requestId.slice(0, 8)

function affixed({ prefix, suffix }: Affixes, core: string, tail = ''): string {
  const room = longestName.address - prefix.length - tail.length - suffix.length
  return `${prefix}${core.slice(0, room).replace(/[-_.]+$/, '')}${tail}${suffix}`
}

/** Returns the part between prefix and suffix, or the whole name without both of them or without such a part. */
function bare({ prefix, suffix }: Affixes, name: string): string {
  const core = name.slice(prefix.length, name.length - suffix.length)
  const has = name.startsWith(prefix) && name.endsWith(suffix) && name.length > prefix.length + suffix.length
  return has && /^[a-z0-9]/.test(core) ? core : name
}

/** Whether the form has a field for the address. A template can hide the field, or derive the address without typed text. */
export const asksForAddress = ({
  kind,
  naming,
  properties,
}: Pick<Template, 'kind' | 'naming' | 'properties'>): boolean =>
  properties[addressRuleOf(kind)]?.shown !== false && names(addressRule(naming, kind).pattern, 'input')
