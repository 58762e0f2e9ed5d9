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
 * A name people gave, as an address: "Projekt Zürich (Süd)" → `projekt-zurich-sud`. Letters outside ASCII lose their
 * marks (a group's mailNickname is ASCII); a name with nothing left gives `''`.
 */
export function slug(name: string): string {
  const plain = [...name.toLowerCase()].map((letter) => spelledOut[letter] ?? letter).join('')
  // Once more in lower case: some signs, such as ℡, become capitals only when they are taken apart.
  return plain
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/** What stands around the part of an address that is the person's own, and what joins words in it. */
export interface Around extends Affixes {
  readonly separator: string
}

export interface Address {
  /** The address that the naming policy makes of what was asked. */
  readonly alias: string
  /** True when it was asked for as it stands: then a clash is the person's to solve, and we only suggest. */
  readonly asked: boolean
  /** How many characters may be asked for, when it is more than that and would have to be cut. */
  readonly longest?: number
  readonly around: Around
}
type Named = Pick<TemplateSnapshot, 'kind' | 'naming'>

/** What joins words where hyphens are not allowed: the first of these that is. */
export const separatorOf = (rule: Pick<NameRule, 'allowed'>): string =>
  ['-', '_'].find((one) => allows(rule, one)) ?? ''

/**
 * The address of a request by its template's naming policy. A name without a Latin letter falls back on the request's
 * id. What has the policy's prefix and suffix already keeps them as they are, so an address that we suggested stays.
 */
export function addressOf(
  { kind, naming }: Named,
  asked: { alias: string; displayName: string },
  requestId: string,
  values: TokenValues = {},
): Address {
  return addressBy(addressRule(naming, kind), asked, isMailboxKind(kind) ? 'mailbox' : 'site', requestId, values)
}

/** The same by one rule, such as that of a mailbox's additional address. `noun`: what stands before a part of the id. */
export function addressBy(
  rule: NameRule,
  asked: { alias: string; displayName: string },
  noun: 'site' | 'mailbox',
  requestId: string,
  values: TokenValues,
): Address {
  const separator = separatorOf(rule)
  const clean = (text: string) => slug(text).replaceAll('-', separator)
  const { prefix, suffix, hasInput } = render(rule.pattern, values, 'address', clean)
  const own = `${noun}${separator}${shortId(requestId)}`
  // Nothing of it is the person's, so there is nothing to keep apart.
  if (!hasInput) return { alias: prefix || own, asked: false, around: { prefix: '', suffix: '', separator } }
  const around = { prefix, suffix, separator }
  const wanted = asked.alias === '' ? clean(asked.displayName) || own : asked.alias.toLowerCase()
  const core = bare(around, wanted)
  const room = longestName.address - prefix.length - suffix.length
  const isCut = asked.alias !== '' && core.length > room
  return { alias: affixed(around, core), asked: asked.alias !== '', ...(isCut && { longest: room }), around }
}

/** What people see, by the policy. `longest`: how many characters may be typed, when it is more than that. */
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

/** How many addresses are tried that people would choose, before the one that is made of the request's id. */
const mostChosen = 8

/**
 * The address itself, then with `-2`, `-3` … `-8`, last with a part of the request's id, which nobody else has: what to
 * try, or to suggest, when one is held. Each is an address of the same naming policy.
 */
export function* alternatives(around: Around, alias: string, requestId: string): Generator<string> {
  yield alias
  const core = bare(around, alias)
  for (let number = 2; number <= mostChosen; number += 1) yield affixed(around, core, `${around.separator}${number}`)
  yield ownAddress(around, alias, requestId)
}

/** The address with a word after the part of it that is the person's own. */
export const withWord = (around: Around, alias: string, word: string): string =>
  affixed(around, bare(around, alias), `${around.separator}${word}`)

/** An address like this one that no other request can have. */
export const ownAddress = (around: Around, alias: string, requestId: string): string =>
  affixed(around, bare(around, alias), `${around.separator}${shortId(requestId)}`)

const shortId = (requestId: string): string => requestId.slice(0, 8)

function affixed({ prefix, suffix }: Affixes, core: string, tail = ''): string {
  const room = longestName.address - prefix.length - tail.length - suffix.length
  return `${prefix}${core.slice(0, room).replace(/[-_.]+$/, '')}${tail}${suffix}`
}

/** What stands between prefix and suffix; all of it, when they are not both there or nothing stands between them. */
function bare({ prefix, suffix }: Affixes, name: string): string {
  const core = name.slice(prefix.length, name.length - suffix.length)
  const has = name.startsWith(prefix) && name.endsWith(suffix) && name.length > prefix.length + suffix.length
  return has && /^[a-z0-9]/.test(core) ? core : name
}

/** Whether the form asks for an address: the template may hide that, or make one that has nothing of what is typed. */
export const asksForAddress = ({
  kind,
  naming,
  properties,
}: Pick<Template, 'kind' | 'naming' | 'properties'>): boolean =>
  properties[addressRuleOf(kind)]?.shown !== false && names(addressRule(naming, kind).pattern, 'input')
