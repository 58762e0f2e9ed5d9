import { nameIn } from './name-in-sentence.ts'
import { isNear } from './near.ts'
import {
  type AnsweredQuestion,
  answeredQuestions,
  type DescribedCommand,
  describedCommands,
  foundIn,
  lengthAt,
  type NamedKind,
  namedKinds,
  type Phrases,
  vocabulary,
  type Word,
  wordsOf,
} from './words.ts'

/** The meaning of a sentence. */
export type Meaning =
  /**
   * A request for something new. `kinds` is empty if the person named no kind. `rest` is the sentence without the name; it
   * can contain the name of a template.
   */
  | { readonly does: 'new'; readonly kinds: readonly NamedKind[]; readonly name: string; readonly rest: string }
  | { readonly does: 'command'; readonly command: DescribedCommand; readonly argument: string }
  | { readonly does: 'question'; readonly about: AnsweredQuestion }
  | { readonly does: 'greeting' | 'thanks' }

/** A longer text is read up to this length. */
const longestSentence = 1000

/**
 * Returns the meaning of a sentence in any of our languages; undefined if its words say nothing that we can do. A request
 * number is in the argument of the command. A number that can be a part of a name is not: `status` and `cancel` search the
 * names first, and then read it with `onlyNumberIn`. A command that changes something is never a guess: only
 * `cancel` is returned, because it needs a confirmation, and the request's card for all others. A decision is returned only
 * with several numbers: then the command decides nothing and says so.
 */
export function meaningOf(typed: string): Meaning | undefined {
  const text = withDigits(typed.slice(0, longestSentence).toWellFormed())
  const { name, rest } = nameIn(text)
  const words = untilReason(wordsOf(rest))
  const has = (phrases: Phrases) => foundIn(phrases, words).length > 0
  const described = commandsIn(words)
  const numbered = aboutNumber(text, described)
  if (numbered) return numbered
  const question = answeredQuestions.find((one) => has(vocabulary.questions.get(one) ?? none))
  if (addsSomebody(wordsOf(text))) return { does: 'question', about: 'change' }
  if (question !== undefined && question !== 'change') return { does: 'question', about: question }
  const isRequest = has(vocabulary.create) && !has(vocabulary.not) && !has(vocabulary.other)
  const kinds = kindsIn(words, isRequest)
  const command = withoutNumber(described, text)
  // “delete my sites” names the sites, and wants no list of them.
  const isList = command?.does === 'command' && command.command === 'my requests'
  if (command && !(isList && question === 'change')) return command
  const isShort =
    kinds.length > 0 && !has(vocabulary.thanks) && isOnly(words, [...vocabulary.kinds.values(), ...smallTalk])
  if (kinds.length > 0 && (isRequest || isShort)) return { does: 'new', kinds, name, rest }
  if (described.includes('help')) return { does: 'command', command: 'help', argument: '' }
  if (described.includes('delegate')) return { does: 'command', command: 'delegate', argument: '' }
  if (isRequest) return { does: 'new', kinds: [], name, rest }
  if (has(vocabulary.thanks)) return { does: 'thanks' }
  if (question === 'change') return { does: 'question', about: question }
  return has(vocabulary.greetings) && isOnly(words, smallTalk) ? { does: 'greeting' } : undefined
}

const none: Phrases = new Map()

/** Returns the commands that words describe. “already approved” requests the status; the part “approved” is no command. */
function commandsIn(words: readonly Word[]): DescribedCommand[] {
  const found = describedCommands.flatMap((command) =>
    foundIn(vocabulary.commands.get(command) ?? none, words).map((at) => ({ command, ...at })),
  )
  return describedCommands.filter((command) => found.some((one) => one.command === command && !isPart(one, found)))
}

/** A phrase in a text: its first word and its number of words. */
interface Found {
  readonly index: number
  readonly count: number
}

/** Whether a longer phrase contains this one: “shared mailbox” is not also a “mailbox”. */
const isPart = ({ index, count }: Found, all: readonly Found[]): boolean =>
  all.some((other) => other.count > count && other.index <= index && index + count <= other.index + other.count)

/** Returns a text in which request numbers have only digits: people type “REQ-1O42” with the letter O, and l or I for 1. */
const withDigits = (text: string): string =>
  text.replace(/\breq[\s-]*(?=[oil]*\d)[\doil]+\b/giu, (typed) => {
    const start = typed.search(/[\doil]+$/i)
    return `${typed.slice(0, start)}${typed.slice(start).replace(/o/gi, '0').replace(/[il]/gi, '1')}`
  })

/** Whether somebody wants to add a person to a resource: “add Omar to my site”, but not “add a site to our team”. */
const addsSomebody = (words: readonly Word[]): boolean =>
  vocabulary.addTo.some(({ before, after }) => {
    const [start] = foundIn(before, words)
    const end = foundIn(after, words).find(({ index }) => start !== undefined && index > start.index + 1)
    if (!start || !end) return false
    const isKind = (part: readonly Word[]) => kindsIn(part, false).length > 0
    return !isKind(words.slice(start.index, end.index)) && isKind(words.slice(end.index))
  })

/** Returns the words before a reason: “because the old site is full” says nothing about the request. */
function untilReason(words: readonly Word[]): readonly Word[] {
  // “car” is a reason in French and a part of “company car” in English.
  const kinds = [...vocabulary.kinds.values()].flatMap((phrases) => foundIn(phrases, words))
  const isKind = (at: number) => kinds.some(({ index, count }) => index <= at && at < index + count)
  const reason = foundIn(vocabulary.reasons, words).find(({ index }) => !isKind(index))
  return reason && reason.index > 0 ? words.slice(0, reason.index) : words
}

const smallTalk = [vocabulary.greetings, vocabulary.polite, vocabulary.fillers, vocabulary.articles, vocabulary.generic]

/** Whether all words belong to these phrases. */
function isOnly(words: readonly Word[], lists: readonly Phrases[]): boolean {
  const covered = new Set<number>()
  for (const list of lists)
    for (const { index, count } of foundIn(list, words))
      for (let offset = 0; offset < count; offset += 1) covered.add(index + offset)
  return covered.size === words.length
}

/** Whether a sentence has only words that we know: a kind of resource, a verb and polite words. */
export const isPlainRequest = (text: string): boolean =>
  isOnly(wordsOf(text), [...vocabulary.kinds.values(), vocabulary.create, ...smallTalk])

/** The commands about one request that run with a number from a sentence. Others show the request's card. */
const safe: readonly DescribedCommand[] = ['cancel', 'why']
const aboutOne: readonly DescribedCommand[] = ['cancel', 'why', 'status', 'nudge', 'approve', 'reject']

function aboutNumber(text: string, described: readonly DescribedCommand[]): Meaning | undefined {
  const verbs = described.filter((command) => aboutOne.includes(command))
  const { numbers, isName } = numbersIn(text, verbs.length > 0)
  const [number, ...more] = numbers
  if (number === undefined) return undefined
  const isNegated = foundIn(vocabulary.not, wordsOf(text)).length > 0
  const [verb = nearCancel(wordsOf(text)), ...others] = verbs
  const argument = numbers.map((one) => `REQ-${one}`).join(' ')
  // The command decides one request. With several numbers it decides nothing and says so.
  if (more.length > 0 && (verb === 'approve' || verb === 'reject')) return { does: 'command', command: verb, argument }
  const command = safe.includes(verb) && others.length === 0 && more.length === 0 && !isNegated ? verb : 'status'
  return { does: 'command', command, argument: isName && command !== 'why' ? '' : argument }
}

/** Returns `cancel` for a misspelt “cancel”, which asks before it changes anything; `status` for any other text. */
function nearCancel(words: readonly Word[]): 'cancel' | 'status' {
  const verbs = [...(vocabulary.commands.get('cancel')?.values() ?? [])].flat().filter(({ length }) => length === 1)
  return words.some(({ folded }) => verbs.some(([verb = '']) => isNear(folded, verb))) ? 'cancel' : 'status'
}

/** A marked request number: “REQ-1007”, “# 1007”. “C# 2026” is a name. */
const marked = /(?:\breq[\s-]*|(?<!\p{L})#\s*)(\d{1,9})(?!\d)/giu
/** The mark of a number, with or without the number. */
const mark = /\breq(?!\p{L})|(?<!\p{L})#/iu
const isNumber = ({ folded }: Word): boolean => /^\d+$/.test(folded)

/**
 * Returns the numbers of requests in a text, each once. A number without a mark needs a verb such as “status”, or is alone.
 * `isName`: the number can be a part of a name, as in “Summer party 2026”.
 */
function numbersIn(text: string, hasVerb: boolean): { readonly numbers: string[]; readonly isName: boolean } {
  const numbers = [...text.matchAll(marked)].map(([, number = '']) => number)
  if (numbers.length > 0) return { numbers: [...new Set(numbers)], isName: false }
  const words = wordsOf(text)
  const after = ({ index, count }: Found) => {
    const next = index + count
    return words[next + lengthAt(vocabulary.number, words, next)]?.folded ?? []
  }
  const named = foundIn(vocabulary.request, words).flatMap(after)
  const read = wordsWithNumber(text, words)
  const all = [...named, ...unmarkedIn(read, hasVerb || words.length === 1)].filter((word) => /^\d{3,9}$/.test(word))
  return { numbers: [...new Set(all)], isName: !named.some((word) => all.includes(word)) && !hasOnlyNumbers(read) }
}

/** Returns the numbers without a mark. `isLong`: also those that no word such as “number” announces, if they have 4 digits. */
function unmarkedIn(words: readonly Word[], isLong: boolean): string[] {
  const numbered = new Set(
    hasOnlyNumbers(words) ? foundIn(vocabulary.number, words).map(({ index, count }) => index + count) : [],
  )
  const isMeant = ({ folded }: Word, index: number) => numbered.has(index) || (folded.length >= 4 && isLong)
  return words.filter(isMeant).flatMap((word) => (isNumber(word) ? word.folded : []))
}

/** Returns the only number of a text that has the length of a request number. */
export function onlyNumberIn(text: string): string | undefined {
  const [number, ...more] = new Set(wordsOf(text).flatMap(({ folded }) => (/^\d{4,9}$/.test(folded) ? folded : [])))
  return more.length === 0 ? number : undefined
}

/** Returns the words that say which request is meant: no reason, and no other sentence: “cancel 1007. We moved.” */
function wordsWithNumber(text: string, all: readonly Word[]): readonly Word[] {
  const words = untilReason(all)
  const number = words.find(isNumber)
  const stop = number && /[.,;:!?–—](?=\s|$)/.exec(text.slice(number.to))
  if (!stop || hasOnlyNumbers(words)) return words
  return words.filter(({ from }) => from < number.to + stop.index)
}

/** Whether no word but the numbers can be a part of a name. “Team”, “site” and “room” can. */
const hasOnlyNumbers = (words: readonly Word[]): boolean =>
  isOnly(
    words.filter((word) => !isNumber(word)),
    besideNumber,
  )
const besideNumber = [
  ...aboutOne.map((command) => vocabulary.commands.get(command) ?? none),
  ...[vocabulary.request, vocabulary.number, vocabulary.aroundNumber, vocabulary.not, vocabulary.thanks],
  ...[vocabulary.greetings, vocabulary.polite, vocabulary.fillers, vocabulary.articles],
]

/** Whether a text has the number of a request or the beginning of one, such as “REQ-”. “Team 12” is a name. */
export function hasRequestNumber(text: string): boolean {
  const words = wordsWithNumber(text, wordsOf(text))
  return mark.test(text) || (words.some(isNumber) && hasOnlyNumbers(words))
}

/** The commands that need no number, or that require the number. */
function withoutNumber(described: readonly DescribedCommand[], text: string): Meaning | undefined {
  const command = described.find((one) => one !== 'why' && one !== 'help' && one !== 'delegate')
  if (command === undefined) return undefined
  if (command === 'approve' || command === 'reject') return { does: 'command', command: 'approvals', argument: '' }
  // Alone, the command would remind the approvers. With a text, it requires the number.
  const isUnclear = command === 'nudge' || (command === 'status' && /\breq\b|#/i.test(text))
  return { does: 'command', command, argument: isUnclear ? text.trim() : '' }
}

/** Returns the kinds that a sentence names. A misspelt kind counts in a clear request. */
function kindsIn(words: readonly Word[], isRequest: boolean): NamedKind[] {
  const found = namedKinds.flatMap((kind) =>
    foundIn(vocabulary.kinds.get(kind) ?? none, words).map(({ index, count }) => ({ kind, index, count })),
  )
  const kinds = [...new Set(found.filter((one) => !isPart(one, found)).map(({ kind }) => kind))]
  const exact = kinds.some((kind) => kind !== 'any') ? kinds.filter((kind) => kind !== 'any') : kinds
  if (exact.some((kind) => kind !== 'any') || !isRequest) return exact
  const near = namedKinds.filter((kind) =>
    [...(vocabulary.kinds.get(kind)?.values() ?? [])]
      .flat()
      .some((phrase) => phrase.length === 1 && words.some(({ folded }) => isNear(folded, phrase[0] ?? ''))),
  )
  return near.length > 0 ? near.slice(0, 1) : exact
}

/** Returns a text in which a kind of resource replaces a name: “a working group” becomes “a site”. */
export function withKindFor(text: string, name: string, kind: NamedKind): string {
  const [words, wanted] = [wordsOf(text), wordsOf(name)]
  const at = words.findIndex((_, index) =>
    wanted.every(({ folded }, offset) => words[index + offset]?.folded === folded),
  )
  const [first, last] = [words[at], words[at + wanted.length - 1]]
  const [phrase] = vocabulary.kinds.get(kind)?.values().next().value ?? []
  if (!first || !last || !phrase) return text
  return `${text.slice(0, first.from)}${phrase.join(' ')}${text.slice(last.to)}`
}

/** Whether a name is only the name of its kind: a template “Shared mailbox” for shared mailboxes. */
export const isKindAlone = (name: string, kind: NamedKind): boolean =>
  isOnly(wordsOf(name), [vocabulary.kinds.get(kind) ?? none])

/**
 * Returns a function that counts the words of a name in a text. Words that every name can have, such as “team” or “site”, do
 * not count. A number in the text belongs to the name: “Room 12” is not “Room 13”.
 */
export function wordsSharedWith(text: string): (name: string) => number {
  const words = wordsOf(text)
  const all = new Set(words.map(({ folded }) => folded))
  const numbers = words.filter(isNumber).map(({ folded }) => folded)
  const counts = (word: Word) => isNumber(word) || (word.folded.length > 1 && !isOnly([word], commonWords))
  return (name) => {
    const shared = wordsOf(name).filter(({ folded }) => all.has(folded))
    const inName = new Set(shared.map(({ folded }) => folded))
    if (numbers.some((number) => !inName.has(number))) return 0
    return new Set(shared.filter(counts).map(({ folded }) => folded)).size
  }
}
const commonWords = [...vocabulary.kinds.values(), vocabulary.create, vocabulary.ends, vocabulary.for, ...smallTalk]

/** Returns the words of a text, each after a space. */
const spaced = (text: string): string =>
  wordsOf(text)
    .map(({ folded }) => ` ${folded}`)
    .join('')

/** Returns a function that says whether a text contains all words of a name, one after the other. Splits the text once. */
export function mentionedIn(text: string): (name: string) => boolean {
  const inText = `${spaced(text)} `
  return (name) => spaced(name) !== '' && inText.includes(`${spaced(name)} `)
}

/** Returns a function that says whether a name contains some words, one after the other. Splits the words once. */
export function nameWith(words: string): (name: string) => boolean {
  const wanted = spaced(words)
  return (name) => wanted !== '' && `${spaced(name)} `.includes(`${wanted} `)
}

/** As {@link nameWith}, but the last word can be incomplete: “open comm”. */
export function nameWithStart(words: string): (name: string) => boolean {
  const wanted = spaced(words)
  return (name) => wanted !== '' && spaced(name).includes(wanted)
}

/** Returns a text without polite words and final punctuation: “REQ-1007 please” is “REQ-1007”. */
export function withoutPoliteness(text: string): string {
  const words = wordsOf(text)
  const [lists, kept] = [[vocabulary.polite, vocabulary.thanks], new Set(words.keys())]
  for (const list of lists)
    for (const { index, count } of foundIn(list, words))
      for (let offset = 0; offset < count; offset += 1) kept.delete(index + offset)
  const [first, last] = [words[Math.min(...kept)], words[Math.max(...kept)]]
  if (!first || !last) return ''
  const before = /[#\s]*$/.exec(text.slice(0, first.from))?.[0].trim() ?? ''
  return `${before}${text.slice(first.from, last.to)}`
}

/** Whether a text names a task that we do not do, such as “delete my site”. */
export const isOtherTask = (text: string): boolean =>
  foundIn(vocabulary.other, wordsOf(text.slice(0, longestSentence))).length > 0

/** Whether a text is no clear approval: it has a question, a denial, a condition, a delay or a rejection. */
export const isDoubtful = (text: string): boolean =>
  text.includes('?') ||
  wordsOf(text).some(({ from, to }, index, words) => {
    const count = (phrases: Phrases) => lengthAt(phrases, words, index)
    // Only its accent distinguishes the Spanish “yes” from “if”.
    if (text.slice(from, to).normalize('NFC').toLowerCase() === 'sí') return false
    // “s'il vous plaît” is polite; “s'il accepte” is a condition.
    return Math.max(count(vocabulary.not), count(vocabulary.undecided)) > count(vocabulary.polite)
  })
