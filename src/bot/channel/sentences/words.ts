import { z } from 'zod'
import { catalogues } from '../../../cards/index.ts'

const phrases = z.array(z.string().min(1))

/** The kinds of resource that people name. `any` is a request without a kind. */
export const namedKinds = [
  'site',
  'teamSite',
  'communicationSite',
  'room',
  'sharedMailbox',
  'equipment',
  'mailbox',
  'any',
] as const
export type NamedKind = (typeof namedKinds)[number]

/** The commands that people describe in a sentence. */
export const describedCommands = [
  'my drafts',
  'approvals',
  'my requests',
  'cancel',
  'nudge',
  'approve',
  'reject',
  'why',
  'status',
  'delegate',
  'help',
] as const
export type DescribedCommand = (typeof describedCommands)[number]

/** The questions that get one short answer: how long a request takes, who approves it, and tasks that are not ours. */
export const answeredQuestions = ['duration', 'approvers', 'change'] as const
export type AnsweredQuestion = (typeof answeredQuestions)[number]

/**
 * The words of one language, from `sentences` of its catalogue. Each entry is a phrase of one or more words. Accents, case
 * and punctuation do not matter.
 */
const language = z.strictObject({
  greetings: phrases,
  thanks: phrases,
  /** Words that ask politely. They also end a name. */
  polite: phrases,
  /** Words without a meaning of their own. */
  fillers: phrases,
  /** Words with which a person requests something new. */
  create: phrases,
  kinds: z.record(z.enum(namedKinds), phrases),
  commands: z.record(z.enum(describedCommands), phrases),
  questions: z.record(z.enum(answeredQuestions), phrases),
  /** Pairs of words around the name of a person to add: “add … to my site”. */
  addTo: z.array(z.tuple([z.string(), z.string()])),
  /** Words before a name: “called”. */
  called: phrases,
  /** Pairs of words around a name: “soll … heißen”. */
  around: z.array(z.tuple([z.string(), z.string()])),
  /** Words before a purpose, which becomes the name: “for”. */
  for: phrases,
  /** Words that are not a name alone: “for us”, “for my team”. */
  generic: phrases,
  articles: phrases,
  /** Words that end a name: “because”. */
  ends: phrases,
  /** Words that begin a reason, which says nothing about the request. */
  reasons: phrases,
  not: phrases,
  /** Words of a condition, a delay or a rejection: “if”, “later”, “wrong”. */
  undecided: phrases,
  /** Words for tasks that no form of ours does: “delete”. */
  other: phrases,
  /** Words for a request. A number after them is a request number: “request 1007”. */
  request: phrases,
  /** Words before any number: “no. 1007”. */
  number: phrases,
  /** Other words around a request number that are no part of a name: “has 1007 been approved”. */
  aroundNumber: phrases,
})
type Language = z.output<typeof language>

/** The words of all languages. People write in any of them. */
const languages: readonly Language[] = [...catalogues.values()].map(({ sentences }) => language.parse(sentences))

/** A word of a text: its letters in lower case without accents, and its place in the text. */
export interface Word {
  readonly folded: string
  readonly from: number
  readonly to: number
}

/** Returns a text in lower case and without accents. */
export const fold = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/ß/g, 'ss').replace(/œ/g, 'oe')

/** Splits a text into words. Apostrophes and hyphens separate words: “j'ai” has two. */
export const wordsOf = (text: string): Word[] =>
  [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].map(({ 0: found, index }) => ({
    folded: fold(found),
    from: index,
    to: index + found.length,
  }))

/** Phrases by their first word, longest first. */
export type Phrases = ReadonlyMap<string, readonly (readonly string[])[]>

const phrasesOf = (list: readonly string[]): Phrases => {
  const split = list.map((phrase) => wordsOf(phrase).map(({ folded }) => folded))
  const byFirst = Map.groupBy(split, ([first = '']) => first)
  return new Map([...byFirst].map(([first, all]) => [first, all.toSorted((one, other) => other.length - one.length)]))
}

const all = (part: Exclude<keyof Language, 'kinds' | 'commands' | 'questions' | 'addTo' | 'around'>): Phrases =>
  phrasesOf(languages.flatMap((words) => words[part]))

/** Returns the phrases of each key, in all languages. */
const byKey = <Key extends string>(keys: readonly Key[], of: (words: Language) => Readonly<Record<Key, string[]>>) =>
  new Map(keys.map((key) => [key, phrasesOf(languages.flatMap((words) => of(words)[key]))]))

/** Returns the pairs of all languages. */
const pairs = (of: (words: Language) => readonly (readonly [string, string])[]) =>
  languages.flatMap((words) =>
    of(words).map(([before, after]) => ({ before: phrasesOf([before]), after: phrasesOf([after]) })),
  )

/** The words of all languages, ready for a search. */
export const vocabulary = {
  greetings: all('greetings'),
  thanks: all('thanks'),
  polite: all('polite'),
  fillers: all('fillers'),
  create: all('create'),
  kinds: byKey(namedKinds, ({ kinds }) => kinds),
  commands: byKey(describedCommands, ({ commands }) => commands),
  called: all('called'),
  questions: byKey(answeredQuestions, ({ questions }) => questions),
  addTo: pairs(({ addTo }) => addTo),
  around: pairs(({ around }) => around),
  for: all('for'),
  generic: all('generic'),
  articles: all('articles'),
  ends: all('ends'),
  reasons: all('reasons'),
  not: all('not'),
  undecided: all('undecided'),
  other: all('other'),
  request: all('request'),
  number: all('number'),
  aroundNumber: all('aroundNumber'),
}

/** Returns the number of words of the longest phrase that begins at a word; 0 if no phrase does. */
export function lengthAt(phrases: Phrases, words: readonly Word[], index: number): number {
  const candidates = phrases.get(words[index]?.folded ?? '') ?? []
  const fits = (phrase: readonly string[]) => phrase.every((part, offset) => words[index + offset]?.folded === part)
  return candidates.find(fits)?.length ?? 0
}

/** Returns the index of each word at which a phrase begins, and the phrase's number of words. */
export function foundIn(
  phrases: Phrases,
  words: readonly Word[],
): { readonly index: number; readonly count: number }[] {
  return words.flatMap((_, index) => {
    const count = lengthAt(phrases, words, index)
    return count > 0 ? [{ index, count }] : []
  })
}
