import { because, type Reason, type ResourceKind } from '../shared/index.ts'

/** What stands for `{kind}` in a name. */
export const kindWords = {
  teamSite: 'team',
  communicationSite: 'news',
  sharedMailbox: 'shared',
  equipmentMailbox: 'equipment',
  roomMailbox: 'room',
} as const satisfies Record<ResourceKind, string>

/** What a pattern can name, beside `{metadata.<key>}`: `input` is what the person typed. */
export const nameTokens = [
  'input',
  'kind',
  'department',
  'city',
  'country',
  'company',
  'office',
  'year',
  'counter',
] as const
const known: readonly string[] = nameTokens

/** How a token's value is changed, in order: letters, or how many characters of it there are at most. */
export const letterTransforms = {
  upper: (text: string) => text.toLocaleUpperCase('en'),
  lower: (text: string) => text.toLocaleLowerCase('en'),
  title: (text: string) => text.replace(/(?<=^|[^\p{L}\p{M}\p{N}'’])\p{L}/gu, (first) => first.toLocaleUpperCase('en')),
  initials: (text: string) => (text.match(/(?<=^|[^\p{L}\p{M}\p{N}'’])[\p{L}\p{N}]/gu) ?? []).join(''),
} as const satisfies Record<string, (text: string) => string>
type LetterTransform = keyof typeof letterTransforms
const isLetterTransform = (word: string): word is LetterTransform => Object.hasOwn(letterTransforms, word)

/** A part of a pattern: words of its own, or something that stands for words. */
export type PatternPart =
  | { readonly literal: string }
  | {
      readonly token: string
      readonly transforms: readonly LetterTransform[]
      /** Characters at most; of the counter digits at least. */
      readonly width?: number
    }
type TokenPart = Extract<PatternPart, { token: string }>
export const isToken = (part: PatternPart): part is TokenPart => 'token' in part

/** The most characters of a token's value in an address, and in a display name, where the pattern says nothing. */
const mostOfToken = { address: 20, displayName: 64 } as const
/** Digits of a counter, at least and at most. */
const digits = { least: 1, most: 6 } as const
export type NameForm = keyof typeof mostOfToken

/** `{city:upper:3}` as a token with its transforms; a brace that belongs to nothing is a literal, and refused later. */
export function partsOfPattern(pattern: string): PatternPart[] {
  return pattern.split(/(\{[^{}]*\})/).flatMap((piece): PatternPart[] => {
    if (piece === '') return []
    if (!/^\{.*\}$/.test(piece)) return [{ literal: piece }]
    const [token = '', ...modifiers] = piece.slice(1, -1).split(':')
    const width = modifiers.find((one) => /^\d+$/.test(one))
    return [{ token, transforms: modifiers.filter(isLetterTransform), ...(width !== undefined && { width: +width }) }]
  })
}

/** Whether a pattern names a token. */
export const names = (pattern: string, token: string): boolean =>
  partsOfPattern(pattern).some((part) => isToken(part) && part.token === token)

/** The tokens of a pattern. */
export const tokensOf = (pattern: string): string[] =>
  partsOfPattern(pattern).flatMap((part) => (isToken(part) ? [part.token] : []))

/** The most characters that a pattern adds to what is typed. */
export function widthBeside(pattern: string, form: NameForm): number {
  const widths = partsOfPattern(pattern).map((part) => {
    if (!isToken(part)) return [...part.literal].length
    if (part.token === 'input') return 0
    if (part.token === 'counter') return Math.max(part.width ?? digits.least, digits.most)
    return Math.min(part.width ?? mostOfToken[form], mostOfToken[form])
  })
  return widths.reduce((sum, width) => sum + width, 0)
}

/** What is wrong with the tokens of a pattern; undefined when nothing is. */
export function tokenFault(pattern: string, metadataKeys: readonly string[]): Reason | undefined {
  for (const piece of pattern.split(/(\{[^{}]*\})/)) {
    if (/^\{.*\}$/.test(piece)) {
      const [token = '', ...modifiers] = piece.slice(1, -1).split(':')
      const key = token.startsWith('metadata.') ? token.slice('metadata.'.length) : undefined
      if (key !== undefined && !metadataKeys.includes(key))
        return because('tokenOfNoField', { token: piece, count: metadataKeys.length, fields: metadataKeys })
      if (key === undefined && !known.includes(token))
        return because('tokenUnknown', {
          token: piece,
          tokens: nameTokens.map((one) => `{${one}}`),
          ofField: '{metadata.<key of a field>}',
        })
      const odd = modifiers.find((one) => !isLetterTransform(one) && !/^[1-9]\d?$/.test(one))
      if (odd !== undefined)
        return because('transformUnknown', { token: piece, transform: odd, known: Object.keys(letterTransforms) })
      if (token === 'counter' && modifiers.some((one) => !/^[1-6]$/.test(one)))
        return because('counterDigits', { token: piece, example: '{counter:3}' })
    } else if (/[{}]/.test(piece)) return because('braceMissing', { example: '{city}' })
  }
  for (const once of ['input', 'counter'])
    if (tokensOf(pattern).filter((token) => token === once).length > 1)
      return because('tokenRepeated', { token: `{${once}}` })
  return undefined
}

/** What tokens stand for in one request, by their name; a token that is missing or empty leaves nothing. */
export type TokenValues = Readonly<Record<string, string>>

/** A pattern around what was typed: what comes before it and after it. `hasInput`: whether there is room for it at all. */
export interface Affixes {
  readonly prefix: string
  readonly suffix: string
}
export interface Rendered extends Affixes {
  readonly hasInput: boolean
  /** What was typed, with the transforms of `{input}`. */
  readonly shaped: (typed: string) => string
}

/** Where words meet. An empty token takes the one after it along, so that no two stand side by side. */
const separators = { address: /^[-_.]+/, displayName: /^[\s\-–—_.,:;/|·]+/ } as const
const trailing = { address: /[-_.]+$/, displayName: /[\s\-–—_.,:;/|·]+$/ } as const
const endsInSeparator = { address: /[-_.]$/, displayName: /[\s\-–—_.,:;/|·([]$/ } as const

/** What a pattern makes of the tokens' values. `clean`: how a value is written in such a name. */
export function render(
  pattern: string,
  values: TokenValues,
  form: NameForm,
  clean: (value: string) => string,
): Rendered {
  const sides = ['', '']
  let side = 0
  let dropped = false
  let hasEmpty = false
  let input: TokenPart | undefined
  for (const part of partsOfPattern(pattern)) {
    if (isToken(part) && part.token === 'input') {
      side = 1
      dropped = false
      input = part
      continue
    }
    const before = sides[side] ?? ''
    const isAtSeparator = (side === 0 && before === '') || endsInSeparator[form].test(before)
    const text = isToken(part) ? wordsOf(part, values, form, clean) : part.literal
    sides[side] = before + (dropped && isAtSeparator && !isToken(part) ? text.replace(separators[form], '') : text)
    dropped = isToken(part) ? text === '' : dropped && sides[side] === before
    hasEmpty ||= dropped
  }
  // What led up to the last token, when that is empty, leads nowhere.
  if (dropped) sides[side] = (sides[side] ?? '').replace(trailing[form], '')
  const [prefix = '', suffix = ''] = hasEmpty ? sides.map(withoutEmptyBrackets) : sides
  const shaped = (typed: string) => changed(typed, input?.transforms ?? [])
  return { prefix, suffix, hasInput: input !== undefined, shaped }
}

/** A pattern with what stands for its tokens, or, of a token that nothing stands for yet, what `unknown` has for it. */
export const sketch = (
  pattern: string,
  values: TokenValues,
  form: NameForm,
  clean: (value: string) => string,
  unknown: (token: string) => string,
): string =>
  partsOfPattern(pattern)
    .map((part) => (isToken(part) ? wordsOf(part, values, form, clean, unknown(part.token)) : part.literal))
    .join('')

function wordsOf(
  { token, transforms, width }: TokenPart,
  values: TokenValues,
  form: NameForm,
  clean: (value: string) => string,
  otherwise = '',
) {
  const value = Object.hasOwn(values, token) ? (values[token] ?? '') : ''
  if (value === '' && otherwise !== '') return otherwise
  if (token === 'counter') return value.padStart(width ?? digits.least, '0')
  return cutTo(clean(changed(value, transforms)), Math.min(width ?? mostOfToken[form], mostOfToken[form]))
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** At most so many characters, without half of one, and without a separator at its end. */
const cutTo = (text: string, most: number): string => {
  let cut = ''
  for (const { segment } of segmenter.segment(text)) {
    if (cut.length + segment.length > most) break
    cut += segment
  }
  return cut.replace(/[-_.\s]+$/, '')
}

const changed = (value: string, transforms: readonly LetterTransform[]): string =>
  transforms.reduce((text, transform) => letterTransforms[transform](text), value)

/** What brackets held is empty, so they go. */
const withoutEmptyBrackets = (text: string): string => text.replace(/\s*(\(\s*\)|\[\s*\])/g, '')
