import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
// Imports this file directly, because the types of the package's index pull the card renderer's source into our type check.
import type * as TemplateEngine from 'adaptivecards-templating/lib/template-engine.js'
import type { z } from 'zod'
import { frozen, isRecord } from '../../core/index.ts'
import { type Catalogue, strings } from './messages.ts'
import { withRowTitles } from './row-titles.ts'

/** A card as it is sent: plain JSON. */
export type CardJson = { readonly [key: string]: unknown }

/** Names of JSON members with text that people see. Values of inputs stay unchanged, because the card sends them back. */
const shownMembers = new Set(['text', 'title', 'label', 'placeholder', 'tooltip'])

/** Control characters and bidirectional formatting characters (Unicode UAX #9). */
const unseen = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu
const lineBreak = /\r\n?|[\u0085\u2028\u2029]/g
/**
 * Renderers replace `{{DATE(…)}}` by a date, also in plain text. An invisible joiner (U+2060) between the braces prevents
 * this.
 */
const dateFunction = /\{(?=\{(?:DATE|TIME)\()/gi

/**
 * The text as a card shows it. Keeps every visible character in its order. Removes control characters and marks that change
 * the direction of the text around them; makes all line breaks alike.
 */
export const literal = (text: string): string =>
  text.toWellFormed().replace(lineBreak, '\n').replace(unseen, '').replace(dateFunction, '{\u2060')

/** Applies {@link literal} to every text of a card. */
function withLiteralTexts(card: CardJson): CardJson {
  return Object.fromEntries(Object.entries(card).map(([name, member]) => [name, literalMember(name, member)]))
}

function literalMember(name: string, member: unknown): unknown {
  if (typeof member === 'string') return shownMembers.has(name) ? literal(member) : member
  if (Array.isArray(member)) return member.map((one) => literalMember('', one))
  return isRecord(member) ? withLiteralTexts(member) : member
}

/** Members that the caller of a piece may set in addition to the piece's arguments. */
const placement = new Set(['$when', '$data', 'id', 'spacing', 'separator', 'style', 'tooltip'])

type Pieces = ReadonlyMap<string, CardJson>

/** Returns the pieces in a folder by name: `<name>.json`. Throws if a file is not a JSON object. */
export function piecesIn(folder: URL): Pieces {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return new Map(
    files.map((file): [string, CardJson] => {
      const piece: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
      if (!isRecord(piece)) throw new Error(`the piece ${file} is not an object`)
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
  if (!isRecord(template)) return template
  const { $piece, ...args } = template
  if ($piece !== undefined) return withPieces(file, filled(file, String($piece), args, pieces), pieces)
  return Object.fromEntries(Object.entries(template).map(([key, member]) => [key, withPieces(file, member, pieces)]))
}

function filled(file: string, name: string, args: CardJson, pieces: Pieces): CardJson {
  const piece = pieces.get(name)
  if (!piece) throw new Error(`${file}: there is no piece ${name}`)
  const used = new Set<string>()
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill)
    if (isRecord(value)) return fillMembers(value)
    if (typeof value !== 'string' || !value.startsWith('@')) return value
    const argument = value.slice(1)
    if (!Object.hasOwn(args, argument)) throw new Error(`${file}: the piece ${name} needs the argument ${argument}`)
    used.add(argument)
    return args[argument]
  }
  const membersOf = (value: unknown): [string, unknown][] => {
    const argument = fill(value)
    if (!isRecord(argument)) throw new Error(`${file}: the piece ${name} needs an object as ${value}`)
    return Object.entries(argument)
  }
  const fillMembers = (members: CardJson): CardJson => {
    const filledIn = Object.entries(members).flatMap(([key, member]): [string, unknown][] =>
      key === '...' ? membersOf(member) : [[key, fill(member)]],
    )
    return Object.fromEntries(filledIn)
  }
  const content = fillMembers(piece)
  const placed = Object.entries(args).filter(([key]) => !used.has(key))
  const refused = placed.find(([key]) => !placement.has(key))
  if (refused) throw new Error(`${file}: the piece ${name} takes no argument ${refused[0]}`)
  return { ...content, ...Object.fromEntries(placed) }
}

/**
 * The maximum length of a card's JSON, in UTF-16 code units of two bytes, as Teams counts them: just under 25 kB. Teams
 * rejects messages over 28 kB.
 */
export const maxCharacters = 12_499
const fits = (card: CardJson): boolean => JSON.stringify(card).length <= maxCharacters

/**
 * Returns the first card that is small enough for Teams, or the last card if every card is too large. The list goes from the
 * richest card to the simplest.
 */
export function firstThatFits([first, ...plainer]: readonly (() => CardJson)[]): CardJson {
  if (!first) throw new Error('firstThatFits needs at least one card')
  const card = first()
  return plainer.length === 0 || fits(card) ? card : firstThatFits(plainer)
}

type Texts = { readonly [key: string]: string | Texts }

const labelsOf = new Map<Catalogue, Texts>()

/** The messages without arguments, in the card's language: templates name them as `strings`, and get all other texts from views. */
export function labels(): Texts {
  const { commands: _, sentences: __, typed: ___, countries: ____, ...texts } = strings
  const known = labelsOf.get(strings) ?? withoutArguments(texts)
  labelsOf.set(strings, known)
  return known
}

function withoutArguments(texts: Texts): Texts {
  const kept = Object.entries(texts).flatMap(([key, text]): [string, string | Texts][] => {
    if (typeof text !== 'string') return [[key, withoutArguments(text)]]
    return text.includes('{') ? [] : [[key, text]]
  })
  return Object.fromEntries(kept)
}

let engine: typeof TemplateEngine | undefined

/** Loads the template engine for the first card: a sixth of all files of the service, which no start should wait for. */
function templateEngine(): typeof TemplateEngine {
  engine ??= createRequire(import.meta.url)('adaptivecards-templating/lib/template-engine.js') as typeof TemplateEngine
  return engine
}

const templates = new Map<string, TemplateEngine.Template>()

/** The file of each card's template by the card's name: `cards/<room>/<name>.template.json`. */
export const templateFiles: ReadonlyMap<string, URL> = templatesIn(new URL('../../../cards/', import.meta.url))

/** Returns the template files in a folder. Throws if two folders have a template of the same name. */
export function templatesIn(folder: URL): ReadonlyMap<string, URL> {
  const ending = '.template.json'
  const files = new Map<string, URL>()
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith(ending)) continue
    const name = basename(path, ending)
    if (files.has(name)) throw new Error(`two folders have a template for the card ${name}`)
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

function templateOf(name: string): TemplateEngine.Template {
  const known = templates.get(name)
  if (known) return known
  const loaded = new (templateEngine().Template)(templateJson(name))
  templates.set(name, loaded)
  return loaded
}

/**
 * Expands a template once with data and our texts. Never expand the result again: people's text may look like `${…}`. Throws
 * if the template names a field that the data lacks. The library would leave `${field}` on the card and ignores errors in
 * its callback, so the callback collects the missing paths.
 */
export function expand(name: string, data: Readonly<Record<string, unknown>>): CardJson {
  const missing: string[] = []
  const { GlobalSettings } = templateEngine()
  GlobalSettings.getUndefinedFieldValueSubstitutionString = (path) => {
    missing.push(path)
    return '?'
  }
  try {
    const card: unknown = templateOf(name).expand({ $root: { ...data, strings: labels() } })
    if (missing.length > 0) throw new Error(`card ${name} lacks ${[...new Set(missing)].join(', ')}`)
    if (!isRecord(card)) throw new Error(`card ${name} is not an object`)
    // Strict parsers refuse an empty list of buttons.
    const { actions, ...rest } = card
    const short = withLiteralTexts(withoutEmpty(Array.isArray(actions) && actions.length === 0 ? rest : card))
    return firstThatFits([() => withRowTitles(short), () => withRowTitles(short, 2), () => short])
  } finally {
    GlobalSettings.getUndefinedFieldValueSubstitutionString = undefined
  }
}

/** Members of an input that have no meaning while they are empty or false. Strict parsers reject empty members. */
const optional = new Set(['isRequired', 'errorMessage', 'regex', 'isMultiline', 'isMultiSelect', 'placeholder'])
const measures = new Set(['min', 'max', 'maxLength'])

/** Removes members of inputs that are empty, false or 0, so that one element of a template serves every form of an input. */
function withoutEmpty(card: CardJson): CardJson {
  const type = String(card['type'] ?? '')
  if (!type.startsWith('Input.')) return withoutEmptyInside(card)
  const isMeasured = type === 'Input.Number' || type === 'Input.Date'
  const kept = Object.entries(card).filter(([name, member]) => {
    if (optional.has(name)) return member !== '' && member !== false
    if (measures.has(name)) return member !== '' && member !== 0
    return name !== 'value' || !isMeasured || member !== ''
  })
  return Object.fromEntries(kept)
}

function withoutEmptyInside(card: CardJson): CardJson {
  const inner = (member: unknown): unknown =>
    Array.isArray(member) ? member.map(inner) : isRecord(member) ? withoutEmpty(member) : member
  return Object.fromEntries(Object.entries(card).map(([name, member]) => [name, inner(member)]))
}

/** Maximum number of cards that are kept for equal data: some 2 MB. */
const maxRendered = 50
const rendered = new Map<string, CardJson>()

/**
 * Returns the card that the same data gave before in this language, or renders it. Help is the same for most people, and several approvers
 * get the same card.
 */
function onceFor(name: string, view: unknown, render: () => CardJson): CardJson {
  const key = `${strings.locale} ${name} ${JSON.stringify(view)}`
  const known = rendered.get(key)
  if (known) return known
  const card = frozen(render())
  const [oldest] = rendered.keys()
  if (rendered.size >= maxRendered && oldest !== undefined) rendered.delete(oldest)
  rendered.set(key, card)
  return card
}

/**
 * A card: the name of its template and the schema of its data. `render` checks the data and expands the template; equal data
 * give the same frozen card. It throws on invalid data, which is a defect of the service and not a fault in a person's input.
 */
export function defineCard<S extends z.ZodType<Record<string, unknown>>>(card: { name: string; data: S }) {
  const { name, data } = card
  const render = (view: z.output<S>): CardJson => onceFor(name, view, () => expand(name, data.parse(view)))
  return { name, data, render }
}

/** The data that a card shows: what its view returns. */
export type ViewOf<C extends { readonly data: z.ZodType }> = z.output<C['data']>

/** Returns the names of the cards. Throws if two cards have the same name, a card has no template, or a template has no card. */
export function cardRegistry(...defined: readonly { readonly name: string }[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { name } of defined) {
    if (names.has(name)) throw new Error(`two cards are named ${name}`)
    names.add(name)
  }
  for (const name of names) if (!templateFiles.has(name)) throw new Error(`the card ${name} has no template`)
  for (const name of templateFiles.keys())
    if (!names.has(name)) throw new Error(`the template ${name} belongs to no card`)
  return names
}

/** One sentence for the activity's `summary`, which is the notification on a phone. It never contains text that a person typed. */
export function summaryOf(card: CardJson): string {
  return typeof card['fallbackText'] === 'string' ? card['fallbackText'] : ''
}
