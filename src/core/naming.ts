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
  const plain = [...name.toLowerCase()]
    .map((letter) => spelledOut[letter] ?? letter)
    .join('')
    .normalize('NFKD')
  return plain
    .replace(/[\u0300-\u036f'’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

export interface Address {
  /** The address that the naming policy makes of what was asked. */
  readonly alias: string
  /** True when it was asked for as it stands: then a clash is the person's to solve, and we only suggest. */
  readonly asked: boolean
}

/** The address of a request by its template's naming policy. A name without a Latin letter falls back on the request's id. */
export function addressOf(
  template: Pick<TemplateSnapshot, 'naming'>,
  asked: { alias: string; displayName: string },
  requestId: string,
): Address {
  const { prefix, suffix } = template.naming
  const core =
    asked.alias === '' ? slug(asked.displayName) || `site-${requestId.slice(0, 8)}` : asked.alias.toLowerCase()
  const room = longest - prefix.length - suffix.length
  return { alias: `${prefix}${core.slice(0, room).replace(/[-_]+$/, '')}${suffix}`, asked: asked.alias !== '' }
}

/** The address itself, then `-2`, `-3` … `-20`: what to try, or to suggest, when one is held. */
export function* alternatives(alias: string): Generator<string> {
  yield alias
  for (let number = 2; number <= 20; number += 1) {
    const tail = `-${number}`
    yield `${alias.slice(0, longest - tail.length)}${tail}`
  }
}
