import { because, type Reason, type ResourceKind } from '../shared/index.ts'

/** The value of `{kind}` in a name. */
export const kindWords = {
  teamSite: 'team',
  communicationSite: 'news',
  sharedMailbox: 'shared',
  equipmentMailbox: 'equipment',
  roomMailbox: 'room',
} as const satisfies Record<ResourceKind, string>

/** The tokens of a pattern, in addition to `{metadata.<key>}`. `input`: the text that the person typed. */
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
const knownTokens: readonly string[] = nameTokens

/** The transforms that change the letters of a token's value. */
export const letterTransforms = {
  upper: (text: string) => text.toLocaleUpperCase('en'),
  lower: (text: string) => text.toLocaleLowerCase('en'),
  title: (text: string) => text.replace(/(?<=^|[^\p{L}\p{M}\p{N}'’])\p{L}/gu, (first) => first.toLocaleUpperCase('en')),
  initials: (text: string) => (text.match(/(?<=^|[^\p{L}\p{M}\p{N}'’])[\p{L}\p{N}]/gu) ?? []).join(''),
} as const satisfies Record<string, (text: string) => string>
type LetterTransform = keyof typeof letterTransforms
const isLetterTransform = (name: string): name is LetterTransform => Object.hasOwn(letterTransforms, name)

/** A part of a pattern: literal text or a token. */
export type PatternPart =
  | { readonly literal: string }
  | {
      readonly token: string
      readonly transforms: readonly LetterTransform[]
      /** The maximum number of characters; for the counter, the minimum number of digits. */
      readonly width?: number
    }
type TokenPart = Extract<PatternPart, { token: string }>
export const isToken = (part: PatternPart): part is TokenPart => 'token' in part

/** The maximum characters of a token's value in an address and in a display name, if the pattern sets none. */
const maxOfToken = { address: 20, displayName: 64 } as const
/** The minimum and maximum digits of a counter. */
const digits = { least: 1, most: 6 } as const
export type NameForm = keyof typeof maxOfToken

/**
 * Parses a pattern, for example `{city:upper:3}` as a token with its transforms. A single brace is a literal, which
 * `tokenFault` refuses.
 */
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

/** Returns the tokens of a pattern. */
export const tokensOf = (pattern: string): string[] =>
  partsOfPattern(pattern).flatMap((part) => (isToken(part) ? [part.token] : []))

/** Returns the maximum number of characters that a pattern adds to the typed text. */
export function addedWidth(pattern: string, form: NameForm): number {
  const widths = partsOfPattern(pattern).map((part) => {
    if (!isToken(part)) return [...part.literal].length
    if (part.token === 'input') return 0
    if (part.token === 'counter') return Math.max(part.width ?? digits.least, digits.most)
    return Math.min(part.width ?? maxOfToken[form], maxOfToken[form])
  })
  return widths.reduce((sum, width) => sum + width, 0)
}

/** Returns the first fault in the tokens of a pattern; undefined for a valid pattern. */
export function tokenFault(pattern: string, metadataKeys: readonly string[]): Reason | undefined {
  for (const piece of pattern.split(/(\{[^{}]*\})/)) {
    if (/^\{.*\}$/.test(piece)) {
      const [token = '', ...modifiers] = piece.slice(1, -1).split(':')
      const key = token.startsWith('metadata.') ? token.slice('metadata.'.length) : undefined
      if (key !== undefined && !metadataKeys.includes(key))
        return because('tokenOfNoField', { token: piece, count: metadataKeys.length, fields: metadataKeys })
      if (key === undefined && !knownTokens.includes(token))
        return because('tokenUnknown', {
          token: piece,
          tokens: nameTokens.map((one) => `{${one}}`),
          ofField: '{metadata.<key of a field>}',
        })
      const unknown = modifiers.find((one) => !isLetterTransform(one) && !/^[1-9]\d?$/.test(one))
      if (unknown !== undefined)
        return because('transformUnknown', { token: piece, transform: unknown, known: Object.keys(letterTransforms) })
      if (token === 'counter' && modifiers.some((one) => !/^[1-6]$/.test(one)))
        return because('counterDigits', { token: piece, example: '{counter:3}' })
    } else if (/[{}]/.test(piece)) return because('braceMissing', { example: '{city}' })
  }
  for (const once of ['input', 'counter'])
    if (tokensOf(pattern).filter((token) => token === once).length > 1)
      return because('tokenRepeated', { token: `{${once}}` })
  return undefined
}

/** The values of tokens in one request, by token. A missing or empty token adds nothing to a name. */
export type TokenValues = Readonly<Record<string, string>>

/** The text before and after the typed text in a name. */
export interface Affixes {
  readonly prefix: string
  readonly suffix: string
}
export interface Rendered extends Affixes {
  /** Whether the pattern contains `{input}`. */
  readonly hasInput: boolean
  /** Applies the transforms of `{input}` to the typed text. */
  readonly shaped: (typed: string) => string
}

/** Separators. An empty token also removes the separator after it, so that two never follow each other. */
const separators = { address: /^[-_.]+/, displayName: /^[\s\-–—_.,:;/|·]+/ } as const
const trailing = { address: /[-_.]+$/, displayName: /[\s\-–—_.,:;/|·]+$/ } as const
const endsInSeparator = { address: /[-_.]$/, displayName: /[\s\-–—_.,:;/|·([]$/ } as const

/** Renders a pattern with the tokens' values. `clean`: formats a value for this form of name. */
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
    const text = isToken(part) ? textOf(part, values, form, clean) : part.literal
    sides[side] = before + (dropped && isAtSeparator && !isToken(part) ? text.replace(separators[form], '') : text)
    dropped = isToken(part) ? text === '' : dropped && sides[side] === before
    hasEmpty ||= dropped
  }
  // If the last token is empty, the separator before it is removed.
  if (dropped) sides[side] = (sides[side] ?? '').replace(trailing[form], '')
  const [prefix = '', suffix = ''] = hasEmpty ? sides.map(withoutEmptyBrackets) : sides
  const shaped = (typed: string) => changed(typed, input?.transforms ?? [])
  return { prefix, suffix, hasInput: input !== undefined, shaped }
}

/** Renders a pattern with `unknown` for tokens that have no value yet. */
export const sketch = (
  pattern: string,
  values: TokenValues,
  form: NameForm,
  clean: (value: string) => string,
  unknown: (token: string) => string,
): string =>
  partsOfPattern(pattern)
    .map((part) => (isToken(part) ? textOf(part, values, form, clean, unknown(part.token)) : part.literal))
    .join('')

function textOf(
  { token, transforms, width }: TokenPart,
  values: TokenValues,
  form: NameForm,
  clean: (value: string) => string,
  otherwise = '',
) {
  const value = Object.hasOwn(values, token) ? (values[token] ?? '') : ''
  if (value === '' && otherwise !== '') return otherwise
  if (token === 'counter') return value.padStart(width ?? digits.least, '0')
  return cutTo(clean(changed(value, transforms)), Math.min(width ?? maxOfToken[form], maxOfToken[form]))
}

/** Creating it loads data of languages, which the start of the process should not pay. */
let segmenter: Intl.Segmenter | undefined
/** Cuts a text at a whole character, and removes a separator from its end. */
const cutTo = (text: string, most: number): string => {
  let cut = ''
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const { segment } of segmenter.segment(text)) {
    if (cut.length + segment.length > most) break
    cut += segment
  }
  return cut.replace(/[-_.\s]+$/, '')
}

const changed = (value: string, transforms: readonly LetterTransform[]): string =>
  transforms.reduce((text, transform) => letterTransforms[transform](text), value)

/** Removes brackets whose content is empty. */
const withoutEmptyBrackets = (text: string): string => text.replace(/\s*(\(\s*\)|\[\s*\])/g, '')
