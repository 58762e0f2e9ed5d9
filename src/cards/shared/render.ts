import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
// Not the package's index: its types pull the source of the card renderer into our type check.
import { GlobalSettings, Template } from 'adaptivecards-templating/lib/template-engine.js'
import { type CardJson, isPlainObject, withLiteralTexts } from './literal.ts'
import { strings } from './messages.ts'
import { piecesIn, withPieces } from './pieces.ts'

/** The largest card, in code units of its JSON, of two bytes each as Teams counts them. Teams' own limit is 28 kB. */
export const mostCharacters = 12_499
const fits = (card: CardJson): boolean => JSON.stringify(card).length <= mostCharacters

/** The first card that Teams takes, of ever plainer ones; the last one if none is small enough. */
export function firstThatFits([first, ...plainer]: readonly (() => CardJson)[]): CardJson {
  if (!first) throw new Error('a card has at least one form')
  const card = first()
  return plainer.length === 0 || fits(card) ? card : firstThatFits(plainer)
}

type Texts = { readonly [key: string]: string | Texts }

/** The messages without arguments: templates name them as `strings`, and get all other texts from views. */
export const labels: Texts = withoutArguments(strings)

function withoutArguments(texts: Texts): Texts {
  const kept = Object.entries(texts).flatMap(([key, text]): [string, string | Texts][] => {
    if (typeof text !== 'string') return [[key, withoutArguments(text)]]
    return text.includes('{') ? [] : [[key, text]]
  })
  return Object.fromEntries(kept)
}

const templates = new Map<string, Template>()

/** The file of each card's template by the card's name: `cards/<room>/<name>.template.json`. */
export const templateFiles: ReadonlyMap<string, URL> = templatesIn(new URL('../../../cards/', import.meta.url))

/** Returns the template files in a folder. Throws if two rooms have a template of the same name. */
export function templatesIn(folder: URL): ReadonlyMap<string, URL> {
  const ending = '.template.json'
  const files = new Map<string, URL>()
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith(ending)) continue
    const name = basename(path, ending)
    if (files.has(name)) throw new Error(`two rooms have a template for the card ${name}`)
    files.set(name, new URL(path, folder))
  }
  return files
}

const pieces = piecesIn(new URL('../../../cards/shared/pieces/', import.meta.url))

/** Returns the file of a card's template. Throws if the card has no template. */
export function templateFile(name: string): URL {
  const file = templateFiles.get(name)
  if (!file) throw new Error(`the card ${name} has no template`)
  return file
}

/** Returns a card's template with its pieces in place. Throws if the card has no template or a piece does not fit. */
export function templateJson(name: string): unknown {
  const file = templateFile(name)
  return withPieces(basename(file.pathname), JSON.parse(readFileSync(file, 'utf8')), pieces)
}

function templateOf(name: string): Template {
  const known = templates.get(name)
  if (known) return known
  const loaded = new Template(templateJson(name))
  templates.set(name, loaded)
  return loaded
}

/**
 * Expands a template once with data and our labels. Once only: text of people that looks like `${…}` stays text, as
 * long as nobody expands the result again. Throws when the template names a field that the data lacks; the library
 * would leave `${field}` on the card instead, and swallows what its callback throws, so paths are collected.
 */
export function expand(name: string, data: Readonly<Record<string, unknown>>): CardJson {
  const missing: string[] = []
  GlobalSettings.getUndefinedFieldValueSubstitutionString = (path) => {
    missing.push(path)
    return '?'
  }
  try {
    const card: unknown = templateOf(name).expand({ $root: { ...data, strings: labels } })
    if (missing.length > 0) throw new Error(`card ${name} lacks ${[...new Set(missing)].join(', ')}`)
    if (!isPlainObject(card)) throw new Error(`card ${name} is not an object`)
    // Strict parsers refuse an empty list of buttons.
    const { actions, ...rest } = card
    return withLiteralTexts(withoutEmpty(Array.isArray(actions) && actions.length === 0 ? rest : card))
  } finally {
    GlobalSettings.getUndefinedFieldValueSubstitutionString = undefined
  }
}

/** Members of an input that say nothing while they are empty, and that strict parsers do not take so. */
const optional = new Set(['isRequired', 'errorMessage', 'regex', 'isMultiline', 'isMultiSelect', 'placeholder'])
const measures = new Set(['min', 'max', 'maxLength'])

/** The card without the members of its inputs that are empty: one element in a template stands for all its forms. */
function withoutEmpty(card: CardJson): CardJson {
  const type = String(card['type'] ?? '')
  if (!type.startsWith('Input.')) return mapped(card)
  const isMeasured = type === 'Input.Number' || type === 'Input.Date'
  const kept = Object.entries(card).filter(([name, member]) => {
    if (optional.has(name)) return member !== '' && member !== false
    if (measures.has(name)) return member !== '' && member !== 0
    return name !== 'value' || !isMeasured || member !== ''
  })
  return Object.fromEntries(kept)
}

function mapped(card: CardJson): CardJson {
  const inner = (member: unknown): unknown =>
    Array.isArray(member) ? member.map(inner) : isPlainObject(member) ? withoutEmpty(member) : member
  return Object.fromEntries(Object.entries(card).map(([name, member]) => [name, inner(member)]))
}
