import { readdirSync, readFileSync } from 'node:fs'
import { type MessageFormatElement, TYPE } from '@formatjs/icu-messageformat-parser'
import { IntlMessageFormat } from 'intl-messageformat'
import { type Catalogue, catalogues } from '../../src/cards/shared/messages.ts'
import { starters } from '../../src/core/index.ts'
import { isNode, type Node } from './card-rules.ts'

const [open, close] = ['⟦', '⟧']
const mark = (text: string): string => `${open}${text}${close}`

/**
 * Adds a language whose texts have marks: those of the catalogue, and everything that `Intl` writes. A text without marks is
 * data, or a text from outside the catalogue. `remove` restores `Intl` and the languages.
 */
export function markTexts(): { readonly language: string; remove(): void } {
  const language = 'qps'
  const original = Intl
  const languages = catalogues as Map<string, Catalogue>
  languages.set(language, marked(catalogues.get('en') ?? {}) as Catalogue)
  globalThis.Intl = markedIntl()
  const remove = () => {
    languages.delete(language)
    globalThis.Intl = original
  }
  return { language, remove }
}

/** Returns the catalogue with marks around the texts of each message, but not around its arguments. The locale is unchanged. */
function marked(texts: Node): Node {
  const entries = Object.entries(texts).map(([key, value]) => [key, key === 'locale' ? value : markedValue(value)])
  return Object.fromEntries(entries)
}

function markedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(markedValue)
  if (isNode(value)) return marked(value)
  return markedMessage(new IntlMessageFormat(String(value), 'en', undefined, { ignoreTag: true }).getAst())
}

function markedMessage(elements: readonly MessageFormatElement[]): string {
  return elements.map(markedElement).join('')
}

function markedElement(element: MessageFormatElement): string {
  switch (element.type) {
    case TYPE.literal:
      return mark(element.value.replaceAll("'", "''").replace(/[{}]/g, "'$&'"))
    case TYPE.pound:
      return mark('#')
    case TYPE.plural:
    case TYPE.select: {
      const forms = Object.entries(element.options).map(([form, { value }]) => `${form} {${markedMessage(value)}}`)
      return `{${element.value}, ${element.type === TYPE.plural ? 'plural' : 'select'}, ${forms.join(' ')}}`
    }
    case TYPE.argument:
      return `{${element.value}}`
    default:
      throw new Error(`no message has an element of the type ${element.type} yet`)
  }
}

/**
 * Returns `Intl` with marks around everything that it writes: dates, numbers, units and the conjunctions of lists. All of these are in the language of the reader.
 */
function markedIntl(): typeof Intl {
  class DateTimeFormat extends Intl.DateTimeFormat {
    constructor(...options: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...options)
      const { format } = this
      Object.defineProperty(this, 'format', { value: (date?: Date | number) => mark(format(date)) })
    }
    override formatToParts(date?: Date | number): Intl.DateTimeFormatPart[] {
      return super.formatToParts(date).map((part) => ({ ...part, value: mark(part.value) }))
    }
    override formatRangeToParts(from: Date, to: Date): Intl.DateTimeRangeFormatPart[] {
      return super.formatRangeToParts(from, to).map((part) => ({ ...part, value: mark(part.value) }))
    }
  }
  class NumberFormat extends Intl.NumberFormat {
    constructor(...options: ConstructorParameters<typeof Intl.NumberFormat>) {
      super(...options)
      const { format } = this
      Object.defineProperty(this, 'format', { value: (value: number) => mark(format(value)) })
    }
  }
  class RelativeTimeFormat extends Intl.RelativeTimeFormat {
    override format(value: number, unit: Intl.RelativeTimeFormatUnit): string {
      return mark(super.format(value, unit))
    }
  }
  class DisplayNames extends Intl.DisplayNames {
    override of(code: string): string | undefined {
      const name = super.of(code)
      return name && mark(name)
    }
  }
  class ListFormat extends Intl.ListFormat {
    override format(parts: Iterable<string>): string {
      return this.formatToParts(parts)
        .map(({ type, value }) => (type === 'literal' ? mark(value) : value))
        .join('')
    }
  }
  const own = {
    DateTimeFormat: withoutNew(DateTimeFormat),
    NumberFormat: withoutNew(NumberFormat),
    RelativeTimeFormat,
    DisplayNames,
    ListFormat,
  }
  const members = Object.getOwnPropertyNames(Intl).map((name) => [
    name,
    Reflect.get({ ...own }, name) ?? Reflect.get(Intl, name),
  ])
  return Object.fromEntries(members)
}

/** Some packages call these constructors as functions. */
const withoutNew = <C extends new (...args: never[]) => object>(made: C): C =>
  new Proxy(made, { apply: (target, _, args) => Reflect.construct(target, args) })

/** The parts of a text outside the marks. A text that was cut may lack its last marks. */
function unmarked(text: string): string[] {
  const parts: string[] = []
  let [depth, part] = [0, '']
  for (const letter of text) {
    if (letter === open) depth += 1
    if (depth === 0) part += letter
    else if (part !== '') {
      parts.push(part)
      part = ''
    }
    if (letter === close) depth -= 1
  }
  return part === '' ? parts : [...parts, part]
}

/** The members of a card's elements that people see or hear. */
const shownMembers = new Set([
  'text',
  'title',
  'label',
  'placeholder',
  'tooltip',
  'errorMessage',
  'altText',
  'speak',
  'fallbackText',
])

/** Returns every text of a card that a person sees or hears. */
function shownTexts(value: unknown, name = ''): string[] {
  if (typeof value === 'string') return shownMembers.has(name) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((one) => shownTexts(one, name === 'inlines' ? 'text' : ''))
  return isNode(value) ? Object.entries(value).flatMap(([key, one]) => shownTexts(one, key)) : []
}

/** The texts in quotes of the files that build the samples: people, templates, addresses and answers of Microsoft 365. */
function textsOfSamples(): string {
  const folder = new URL('./', import.meta.url)
  const files = readdirSync(folder).filter((file) => /^(card-|health-facts)/.test(file))
  const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
  const inFiles = files.flatMap((file) => readFileSync(new URL(file, folder), 'utf8').match(literal) ?? [])
  // A starter brings its texts in each language, like every template.
  const ofStarters = starters.flatMap(({ displayName, description }) => [displayName, description])
  return [...inFiles, ...ofStarters].join('\n')
}

/** References, addresses, ids, hashes and numbers, which every language writes alike. */
const machineText =
  /https?:\/\/\S+|\bREQ-\d+\b|[\w.+-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)+\/\S*|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?\b|-?\b\d+\b/giu
/** A text of samples that repeats itself to be long. */
const repeated = /(\p{L}{4,}?)\1+/gu
/** Places for line breaks, and emojis. */
const invisible = /\u200b|\ufe0f/g

/** The phrases of a text between its punctuation, without machine texts and single letters. */
const phrasesOf = (text: string): string[] =>
  text
    .replace(invisible, '')
    .replace(machineText, '\n')
    .replace(repeated, '$1')
    .split(/[^\p{L}\p{M}\p{N}'’ /@._-]+|\. |\.$/u)
    .map((phrase) => phrase.trim())
    .filter((phrase) => /\p{L}{2}/u.test(phrase))

/**
 * Returns the phrases of a card that are neither from the catalogue nor data of the samples. Data is a text of the samples, or two
 * such texts side by side, as in the name `GRP Project Aurora`.
 */
export function foreignPhrases(card: unknown): string[] {
  data ??= textsOfSamples()
  const known = data
  const isData = (phrase: string): boolean => {
    const parts = phrase.split(' ')
    const pairs = parts.map((_, index) => [parts.slice(0, index).join(' '), parts.slice(index).join(' ')] as const)
    return pairs.some(([first, second]) => known.includes(first) && known.includes(second))
  }
  const phrases = shownTexts(card).flatMap(unmarked).flatMap(phrasesOf)
  return [...new Set(phrases.filter((phrase) => !isData(phrase)))]
}
let data: string | undefined
