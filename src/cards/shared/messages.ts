import { IntlMessageFormat } from 'intl-messageformat'
import english from '../../../cards/strings/en.json' with { type: 'json' }

/**
 * Every text of cards, and the API's sentences about codes: ICU messages by their keys. A message without arguments is used
 * unchanged; `format` fills all others.
 */
export const strings = english

/** A message about what a card leaves out; `''` if it leaves out nothing. */
export const restText = (message: string, count: number): string => (count > 0 ? format(message, { count }) : '')

/** The keys of a part of the catalogue, for an enumeration. */
export const keysOf = <K extends string>(texts: Readonly<Record<K, unknown>>) => Object.keys(texts) as [K, ...K[]]

/** The arguments of a message by name. A number is written without separators, except by `#` or a number format. */
export type Values = Readonly<Record<string, string | number>>

const compiled = new Map<string, IntlMessageFormat>()

/**
 * A message of the catalogue with its arguments (ICU MessageFormat). Values are never parsed: braces in a person's name stay
 * unchanged. Each message is parsed once, when it is first used. Throws when an argument is missing.
 */
export function format(message: string, values: Values, locale: string = strings.locale): string {
  const key = `${locale} ${message}`
  const known = compiled.get(key)
  // Angle brackets are text: no message has rich text.
  const parsed = known ?? new IntlMessageFormat(message, locale, undefined, { ignoreTag: true })
  if (known === undefined) compiled.set(key, parsed)
  return String(parsed.format(values))
}
