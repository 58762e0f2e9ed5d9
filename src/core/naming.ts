import type { TemplateSnapshot } from './template.ts'

const longest = 64
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

export interface Address {
  /** The address that the naming policy makes of what was asked. */
  readonly alias: string
  /** True when it was asked for as it stands: then a clash is the person's to solve, and we only suggest. */
  readonly asked: boolean
  /** How many characters may be asked for, when it is more than that and would have to be cut. */
  readonly longest?: number
}
type Naming = TemplateSnapshot['naming']

/**
 * The address of a request by its template's naming policy. A name without a Latin letter falls back on the request's
 * id. What has the policy's prefix and suffix already keeps them as they are, so an address that we suggested stays.
 */
export function addressOf(
  { naming }: Pick<TemplateSnapshot, 'naming'>,
  asked: { alias: string; displayName: string },
  requestId: string,
): Address {
  const wanted =
    asked.alias === '' ? slug(asked.displayName) || `site-${shortId(requestId)}` : asked.alias.toLowerCase()
  const core = bare(naming, wanted)
  const room = longest - naming.prefix.length - naming.suffix.length
  const isCut = asked.alias !== '' && core.length > room
  return { alias: affixed(naming, core), asked: asked.alias !== '', ...(isCut && { longest: room }) }
}

/** How many addresses are tried that people would choose, before the one that is made of the request's id. */
const mostChosen = 8

/**
 * The address itself, then with `-2`, `-3` … `-8`, last with a part of the request's id, which nobody else has: what to
 * try, or to suggest, when one is held. Each is an address of the same naming policy.
 */
export function* alternatives(naming: Naming, alias: string, requestId: string): Generator<string> {
  yield alias
  const core = bare(naming, alias)
  for (let number = 2; number <= mostChosen; number += 1) yield affixed(naming, core, `-${number}`)
  yield ownAddress(naming, alias, requestId)
}

/** An address like this one that no other request can have. */
export const ownAddress = (naming: Naming, alias: string, requestId: string): string =>
  affixed(naming, bare(naming, alias), `-${shortId(requestId)}`)

const shortId = (requestId: string): string => requestId.slice(0, 8)

function affixed({ prefix, suffix }: Naming, core: string, tail = ''): string {
  const room = longest - prefix.length - tail.length - suffix.length
  return `${prefix}${core.slice(0, room).replace(/[-_.]+$/, '')}${tail}${suffix}`
}

/** What stands between prefix and suffix; all of it, when they are not both there or nothing stands between them. */
function bare({ prefix, suffix }: Naming, name: string): string {
  const core = name.slice(prefix.length, name.length - suffix.length)
  const has = name.startsWith(prefix) && name.endsWith(suffix) && name.length > prefix.length + suffix.length
  return has && /^[a-z0-9]/.test(core) ? core : name
}
