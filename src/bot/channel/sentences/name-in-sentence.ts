import { longestName } from '../../../core/index.ts'
import { foundIn, lengthAt, type Phrases, vocabulary, type Word, wordsOf } from './words.ts'

/** A name in a text: the name, and the text without it. */
export interface NameInText {
  readonly name: string
  readonly rest: string
}

/** A longer name is cut after a word. */
const longest = longestName.displayName

/** From the first to the last word of a name. `from` and `to` include the words around it, such as “called”. */
interface Region {
  readonly first: number
  readonly last: number
  readonly from: number
  readonly to: number
}

/**
 * Finds the name that a person gives to the resource: a text in quotation marks, after “called” or after “for”. Without a
 * name, as in “for us”, the name is `''`.
 */
export function nameIn(text: string): NameInText {
  return quoted(text) ?? nameOfWords(text) ?? { name: '', rest: text }
}

/** A text in quotation marks with a letter or a digit. Each part of the pattern ends at one place, so the time is linear. */
const quotation = /["“”„«»](?=[^\p{L}\p{N}"“”„«»\n]*[\p{L}\p{N}])([^"“”„«»\n]*)["“”«»]/u

function quoted(text: string): NameInText | undefined {
  const match = quotation.exec(text)
  if (!match) return undefined
  return {
    name: shortened(match[1] ?? ''),
    rest: `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`,
  }
}

function nameOfWords(text: string): NameInText | undefined {
  const words = wordsOf(text)
  const region = afterCalled(text, words) ?? between(words) ?? afterFor(text, words) ?? afterKind(text, words)
  const [first, last] = [words[region?.first ?? -1], words[region?.last ?? -1]]
  if (!region || !first || !last) return undefined
  const name = shortened(text.slice(first.from, last.to))
  const capital = first.folded === text.slice(first.from, first.to) && region.from !== first.from
  return {
    name: capital ? `${name.slice(0, 1).toUpperCase()}${name.slice(1)}` : name,
    rest: `${text.slice(0, region.from)} ${text.slice(region.to)}`,
  }
}

/** The name after “called”: up to a polite word, the end of the sentence, or “for”. */
function afterCalled(text: string, words: readonly Word[]): Region | undefined {
  const [found] = foundIn(vocabulary.called, words)
  if (!found) return undefined
  const first = found.index + found.count
  return regionOf(text, words, first, found.index, [
    vocabulary.polite,
    vocabulary.thanks,
    vocabulary.ends,
    vocabulary.for,
  ])
}

/** The name in “soll Aurora heißen”. */
function between(words: readonly Word[]): Region | undefined {
  for (const { before, after } of vocabulary.around) {
    const start = foundIn(before, words)[0]
    const end = foundIn(after, words).findLast(({ index }) => start !== undefined && index > start.index + start.count)
    if (start && end)
      return regionFrom(words, start.index, start.index + start.count, end.index - 1, end.index + end.count - 1)
  }
  return undefined
}

/** The purpose after “for”, as in “for project Aurora”. The first purpose that is more than “for us” is the name. */
function afterFor(text: string, words: readonly Word[]): Region | undefined {
  const stops = [vocabulary.polite, vocabulary.thanks, vocabulary.ends, vocabulary.create, vocabulary.greetings]
  for (const { index, count } of foundIn(vocabulary.for, words)) {
    let first = index + count
    while (lengthAt(vocabulary.articles, words, first) > 0) first += 1
    const region = regionOf(text, words, first, index, stops)
    // “looking for a site for Aurora” has two purposes; the first is the resource.
    if (region && isName(words.slice(region.first, region.last + 1))) return region
  }
  return undefined
}

/** The name directly after the resource, as in “create the site Aurora”, if it begins with a capital letter. */
function afterKind(text: string, words: readonly Word[]): Region | undefined {
  const kinds = [...vocabulary.kinds.values()].flatMap((phrases) => foundIn(phrases, words))
  const [end] = kinds.map(({ index, count }) => index + count).toSorted((one, other) => other - one)
  const first = end === undefined ? undefined : words[end]
  if (end === undefined || !first || !/^\p{Lu}/u.test(text.slice(first.from))) return undefined
  // In a sentence in capital letters, no word is a name.
  if (!/\p{Ll}/u.test(text)) return undefined
  const known = [vocabulary.fillers, vocabulary.create, vocabulary.not, vocabulary.other, vocabulary.greetings]
  const stops = [vocabulary.polite, vocabulary.thanks, vocabulary.ends]
  if ([...known, ...stops].some((phrases) => lengthAt(phrases, words, end) > 0)) return undefined
  return regionOf(text, words.slice(0, lengthWithoutCancel(words)), end, end, stops)
}

/** Returns the number of words before a “cancel” at the end: “die Seite Aurora stornieren” requests no site. */
function lengthWithoutCancel(words: readonly Word[]): number {
  const isRequest = foundIn(vocabulary.create, words).length > 0
  const found = foundIn(vocabulary.commands.get('cancel') ?? new Map(), words)
  const atEnd = found.find(({ index, count }) => index + count === words.length)
  return isRequest || !atEnd ? words.length : atEnd.index
}

const regionFrom = (words: readonly Word[], from: number, first: number, last: number, to = last): Region => ({
  first,
  last,
  from: words[from]?.from ?? 0,
  to: words[to]?.to ?? 0,
})

/** Returns the words from an index up to a stop, without verbs at the end: “für Aurora anlegen”. */
function regionOf(
  text: string,
  words: readonly Word[],
  first: number,
  marker: number,
  stops: readonly Phrases[],
): Region | undefined {
  let end = first
  while (end < words.length && !isStop(text, words, end, first, stops)) end += 1
  while (end > first && lengthAt(vocabulary.create, words, end - 1) > 0) end -= 1
  return end > first ? regionFrom(words, marker, first, end - 1) : undefined
}

function isStop(
  text: string,
  words: readonly Word[],
  index: number,
  first: number,
  stops: readonly Phrases[],
): boolean {
  const gap = index > first ? text.slice(words[index - 1]?.to, words[index]?.from) : ''
  if (/[.!?,;:](\s|$)|[\n()]/.test(gap)) return true
  return stops.some((phrases) => lengthAt(phrases, words, index) > 0)
}

/** Whether words are more than “my team” or “12 people”, and do not name a resource. */
function isName(words: readonly Word[]): boolean {
  const isGeneric = (_: Word, index: number) =>
    [vocabulary.generic, vocabulary.articles, vocabulary.fillers].some(
      (phrases) => lengthAt(phrases, words, index) > 0,
    ) || /^\d+$/.test(words[index]?.folded ?? '')
  const isKind = [...vocabulary.kinds.values()].some((phrases) => lengthAt(phrases, words, 0) === words.length)
  const isResource =
    [...vocabulary.kinds.values()].some((phrases) => lengthAt(phrases, words, 0) > 0) &&
    words.some((_, index) => lengthAt(vocabulary.for, words, index) > 0)
  return !isKind && !isResource && !words.every(isGeneric)
}

/** Returns a name of at most 256 characters, on one line. */
export function shortened(name: string): string {
  const line = name.replace(/[\s\p{C}]+/gu, ' ').trim()
  if (line.length <= longest) return line.toWellFormed()
  const cut = line.slice(0, longest + 1)
  const end = cut.lastIndexOf(' ')
  return line
    .slice(0, end > 0 ? end : longest)
    .toWellFormed()
    .trim()
}
