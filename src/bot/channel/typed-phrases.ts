import { z } from 'zod'
import { catalogues } from '../../cards/index.ts'
import { periodNames } from '../../core/index.ts'
import { fold } from './sentences/index.ts'

/** The phrases and names in arguments of commands. People may type them in any of our languages, after any command. */

const phrases = z.array(z.string().min(1)).min(1)

/** The phrases of one language, from `typed` of its catalogue. Accents, case and apostrophes do not matter. */
const language = z.strictObject({
  /** Between a delegate and the last day, or the number of days: “until”, “for”. */
  until: phrases,
  /** Between two days: “to”. */
  between: phrases,
  /** Around a day, without a meaning of their own: “on”, “the”. Each phrase has no space. */
  inDay: phrases,
  /** Around a number of days, without a meaning of their own: “next”. Each phrase has no space. */
  inPeriod: phrases,
  /** The names of the numbers from 1. */
  numbers: z.array(phrases).min(12),
  units: z.record(z.enum(['day', 'week', 'month']), phrases),
  periods: z.record(z.enum(periodNames), phrases),
  /** Between a template and a person: “as”. */
  as: phrases,
  /** Before a person: “to”. Each phrase has no space. */
  toPerson: phrases,
  /** The person who types. */
  myself: phrases,
  on: phrases,
  off: phrases,
})
type Language = z.output<typeof language>

const languages: readonly Language[] = [...catalogues.values()].map(({ typed }) => language.parse(typed))

/** Returns a text for comparisons: without case, accents, commas, apostrophes and hyphens inside it, and marks at its end. */
export const plain = (text: string): string =>
  fold(text)
    .replace(/(?<=\p{L})['’-](?=\p{L})/gu, ' ')
    .replace(/[\s,]+/g, ' ')
    .trim()
    .replace(/[.!?]+$/, '')

/** Returns a phrase as people type it: “für” and “fuer”. */
const spellings = (phrase: string): string[] =>
  [phrase, phrase.replace(/[äöü]/gi, (letter) => `${letter.normalize('NFD').charAt(0)}e`)].map(plain)

const all = (of: (one: Language) => readonly string[]): ReadonlySet<string> =>
  new Set(languages.flatMap(of).flatMap(spellings))

/** Returns each phrase with its meaning. */
const meanings = <Meaning>(of: (one: Language) => Iterable<readonly [Meaning, readonly string[]]>) =>
  new Map(
    languages.flatMap((one) =>
      [...of(one)].flatMap(([meaning, list]) => list.flatMap(spellings).map((phrase) => [phrase, meaning] as const)),
    ),
  )

const entries = <Key extends string>(record: Readonly<Record<Key, readonly string[]>>) =>
  Object.entries(record) as [Key, readonly string[]][]

/** The phrases of all languages. */
export const typedPhrases = {
  until: all(({ until }) => until),
  between: new Set([...all(({ between }) => between), '-', '–']),
  inDay: all(({ inDay }) => inDay),
  inPeriod: all(({ inPeriod }) => inPeriod),
  as: all(({ as }) => as),
  toPerson: all(({ toPerson }) => toPerson),
  myself: all(({ myself }) => myself),
  numbers: meanings(({ numbers }) => numbers.map((names, index) => [index + 1, names])),
  units: meanings(({ units }) => entries(units)),
  periods: meanings(({ periods }) => entries(periods)),
  switches: meanings(({ on, off }) => entries({ on, off })),
}

/** Austria has its own name of January. */
const locales = [...catalogues.keys(), 'de-AT']

/**
 * Returns a function that returns the names of numbered days or months in all languages, each with its number. The first
 * call makes them: they need the dates of all languages, for which the start of the process should not wait.
 */
function named(numbers: readonly number[], nameIn: (locale: string) => (number: number) => string) {
  let names: ReadonlyMap<string, number> | undefined
  const make = () =>
    locales.flatMap((locale) => {
      const nameOf = nameIn(locale)
      return numbers.flatMap((number) => spellings(nameOf(number)).map((name) => [name, number] as const))
    })
  return (): ReadonlyMap<string, number> => {
    names ??= new Map(make())
    return names
  }
}

const dates = (style: Intl.DateTimeFormatOptions, dateOf: (number: number) => number) => (locale: string) => {
  const format = new Intl.DateTimeFormat(locale, { ...style, timeZone: 'UTC' })
  return (number: number) => format.format(dateOf(number))
}

/** The names of the weekdays. 1 November 2026 is a Sunday, the first day as JavaScript counts them. */
export const weekdays = named(
  [0, 1, 2, 3, 4, 5, 6],
  dates({ weekday: 'long' }, (index) => Date.UTC(2026, 10, 1 + index)),
)

/** The names of the months, from 1 for January. */
export const months = named(
  [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  dates({ month: 'long' }, (month) => Date.UTC(2026, month - 1, 1)),
)

/** The names of the days near today, with their distance: yesterday is -1. */
export const nearDays = named([-2, -1, 0, 1, 2], (locale) => {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  return (days) => format.format(days, 'day')
})

/** Splits a text at the last of these phrases. Undefined for a text without them. */
export function splitAt(
  text: string,
  separators: ReadonlySet<string>,
): { readonly before: string; readonly after: string } | undefined {
  const parts = text.trim().split(/\s+/)
  for (let at = parts.length - 1; at >= 0; at -= 1) {
    const length = [3, 2, 1].find((count) => separators.has(plain(parts.slice(at, at + count).join(' '))))
    if (length !== undefined) return { before: parts.slice(0, at).join(' '), after: parts.slice(at + length).join(' ') }
  }
  return undefined
}
