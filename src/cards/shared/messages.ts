import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import english from '../../../cards/strings/en.json' with { type: 'json' }

/** All texts of one language. English has the type of all catalogues. */
export type Catalogue = typeof english

/**
 * All catalogues by language: one file `cards/strings/<language>.json` each. `test/cards/languages.test.ts` checks that a
 * catalogue has every text of the English one.
 */
export const catalogues: ReadonlyMap<string, Catalogue> = cataloguesIn(
  new URL('../../../cards/strings/', import.meta.url),
)

function cataloguesIn(folder: URL): ReadonlyMap<string, Catalogue> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json') && file !== 'en.json')
  const read = (file: string): Catalogue => JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
  return new Map([['en', english], ...files.map((file) => [basename(file, '.json'), read(file)] as const)])
}

/**
 * Every text of cards, and the API's sentences about codes: ICU messages by their keys, in the language of the card that
 * is being rendered, else in English. A message without arguments is used unchanged; `format` fills all others. Modules
 * must not copy texts when they are loaded, because the language changes from card to card.
 */
export let strings: Catalogue = english
/** The locale of {@link strings}, with the reader's region: `de-CH`. It formats dates, numbers and lists. */
export let locale = 'en'

/**
 * Runs a synchronous function, such as the view and the template of one card, in the language of a reader. Nested calls
 * restore the outer language. `tag` is the locale that the channel sends; an unknown one counts as English.
 */
export function inLanguage<T>(tag: string, render: () => T): T {
  const outer = { strings, locale }
  const { language, locale: own } = languageOf(tag)
  strings = catalogues.get(language) ?? english
  locale = own
  try {
    return render()
  } finally {
    strings = outer.strings
    locale = outer.locale
  }
}

/**
 * Returns the language of the catalogue for a BCP 47 tag, and the locale for dates and numbers: `de-CH` for a reader in
 * Switzerland. Without a catalogue of the language, both are English, in the reader's region.
 */
export function languageOf(tag: string): { readonly language: string; readonly locale: string } {
  const known = tags.get(tag)
  if (known) return known
  const parsed = parseTag(tag)
  const language = [parsed?.baseName, parsed?.language].find((name) => name !== undefined && catalogues.has(name))
  const region = parsed?.region === undefined ? '' : `-${parsed.region}`
  const found =
    language === undefined
      ? { language: 'en', locale: `en${region}` }
      : { language, locale: parsed?.baseName ?? language }
  if (tags.size >= maxTags) tags.clear()
  tags.set(tag, found)
  return found
}

/** Clients send any text as their locale, so the number of remembered tags is limited. */
const tags = new Map<string, { readonly language: string; readonly locale: string }>()
const maxTags = 500

function parseTag(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The name of a command in the language of the card: `mes demandes` for `my requests`. */
export function commandName(command: string): string {
  const names: Readonly<Record<string, readonly string[]>> = strings.commands
  return names[command]?.[0] ?? command
}

/** A message about what a card leaves out; `''` if it leaves out nothing. */
export const restText = (message: string, count: number): string => (count > 0 ? format(message, { count }) : '')

/** The keys of a part of the catalogue, for an enumeration. */
export const keysOf = <K extends string>(texts: Readonly<Record<K, unknown>>) => Object.keys(texts) as [K, ...K[]]

/** The arguments of a message by name. A number is written without separators, except by `#` or a number format. */
export type Values = Readonly<Record<string, string | number>>

/** Compiled messages by locale and text: a region has its own numbers in plurals. Limited, because clients choose the locale. */
const maxCompiled = 20_000
const compiled = new Map<string, IntlMessageFormat>()

/**
 * A message of the catalogue with its arguments (ICU MessageFormat). Values are never parsed: braces in a person's name stay
 * unchanged. Each message is parsed once, when it is first used. Throws when an argument is missing.
 */
export function format(message: string, values: Values): string {
  const key = `${locale} ${message}`
  const known = compiled.get(key)
  // Angle brackets are text: no message has rich text.
  const parsed = known ?? new IntlMessageFormat(message, locale, undefined, { ignoreTag: true })
  if (known === undefined) {
    if (compiled.size >= maxCompiled) compiled.clear()
    compiled.set(key, parsed)
  }
  return String(parsed.format(values))
}
