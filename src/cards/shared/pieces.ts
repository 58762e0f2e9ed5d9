import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type CardJson, isPlainObject } from './literal.ts'

/** Members that an element may have beside its piece's arguments: when and where it shows. */
const placement = new Set(['$when', '$data', 'id', 'spacing', 'separator', 'style'])

export type Pieces = ReadonlyMap<string, CardJson>

/** Returns the pieces in a folder by name: `<name>.json`. Throws if a file is not a JSON object. */
export function piecesIn(folder: URL): Pieces {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return new Map(
    files.map((file): [string, CardJson] => {
      const piece: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
      if (!isPlainObject(piece)) throw new Error(`the piece ${file} is not an object`)
      return [basename(file, '.json'), piece]
    }),
  )
}

/**
 * Replaces each `{ "$piece": "<name>", …arguments }` in a template by the content of that piece. In a piece, the text
 * `"@<argument>"` is replaced by the argument, and the member `"...": "@<argument>"` by the argument's members.
 * Throws, with the template's file, if a piece is unknown, needs an argument that is missing or takes no such argument.
 */
export function withPieces(file: string, template: unknown, pieces: Pieces): unknown {
  if (Array.isArray(template)) return template.map((item) => withPieces(file, item, pieces))
  if (!isPlainObject(template)) return template
  const { $piece, ...given } = template
  if ($piece !== undefined) return withPieces(file, filled(file, String($piece), given, pieces), pieces)
  return Object.fromEntries(Object.entries(template).map(([key, member]) => [key, withPieces(file, member, pieces)]))
}

function filled(file: string, name: string, given: CardJson, pieces: Pieces): CardJson {
  const piece = pieces.get(name)
  if (!piece) throw new Error(`${file}: there is no piece ${name}`)
  const used = new Set<string>()
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill)
    if (isPlainObject(value)) return fillMembers(value)
    if (typeof value !== 'string' || !value.startsWith('@')) return value
    const argument = value.slice(1)
    if (!Object.hasOwn(given, argument)) throw new Error(`${file}: the piece ${name} needs the argument ${argument}`)
    used.add(argument)
    return given[argument]
  }
  const membersOf = (value: unknown): [string, unknown][] => {
    const argument = fill(value)
    if (!isPlainObject(argument)) throw new Error(`${file}: the piece ${name} needs an object as ${value}`)
    return Object.entries(argument)
  }
  const fillMembers = (members: CardJson): CardJson => {
    const filledIn = Object.entries(members).flatMap(([key, member]): [string, unknown][] =>
      key === '...' ? membersOf(member) : [[key, fill(member)]],
    )
    return Object.fromEntries(filledIn)
  }
  const content = fillMembers(piece)
  const beside = Object.entries(given).filter(([key]) => !used.has(key))
  const refused = beside.find(([key]) => !placement.has(key))
  if (refused) throw new Error(`${file}: the piece ${name} takes no argument ${refused[0]}`)
  return { ...content, ...Object.fromEntries(beside) }
}
