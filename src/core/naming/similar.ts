import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import {
  type Actor,
  asPerson,
  type Candidate,
  type Context,
  person,
  type ResourceKind,
  resourceKind,
  type SimilarQuery,
  TenantError,
} from '../shared/index.ts'
import type { NamingPorts } from './inquiry.ts'
import { slug } from './naming.ts'

/** The minimum likeness of similar names, 0 to 1. "Marketing" and "Marketing EMEA" have 0.67. */
export const similarFrom = 0.6

/** The weight of words that many names contain; all other words have the weight 1. */
const commonWeight = 0.2
const commonWords = new Set(
  [
    'a an and at for in of on our the to',
    'area club community department dept equipment group hub intranet mailbox meeting office project room shared site',
    'space team workspace',
    'groups projects rooms sites spaces teams',
    'abteilung der die das fuer fur gruppe im in postfach projekt raum seite und von',
    'de des du equipe et groupe la le les projet salle site',
  ].flatMap((words) => words.split(' ')),
)

/** The minimum likeness of two spellings of one word. Shorter words must be equal. */
const sameWordFrom = 0.8
const shortestFuzzy = 5
/** The minimum likeness, and length, of names without their spaces. */
const sameRunFrom = 0.85
const shortestRun = 8

/** Scripts without spaces between words. */
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー'
const chunks = new RegExp(`[${unspaced}]+|\\p{N}+|[[\\p{L}\\p{M}'’]--[${unspaced}]]+`, 'gv')
const isUnspaced = new RegExp(`^[${unspaced}]`, 'v')
const isNumber = /^\p{N}/u

/** Returns the words of a name in lower case. Spaces, signs, digits and inner capitals separate words. */
const written = (name: string): string[] =>
  (
    name
      .normalize('NFKC')
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .match(chunks) ?? []
  ).map((word) => word.toLowerCase())

/** Removes the marks of letters ("Zürich" → "zurich"). The words of other scripts stay unchanged. */
const plain = (word: string): string => slug(word) || word

/**
 * Returns the words by which names are compared. "Süd" and "Sued" are equal. A script without spaces gives pairs of adjacent
 * letters.
 */
const wordsOf = (name: string): string[] =>
  written(name).flatMap((word) =>
    isUnspaced.test(word) ? pairsOf([...word]) : [plain(word).replace(/([aou])e/g, '$1')],
  )

const pairsOf = (letters: readonly string[]): string[] =>
  letters.length < 2 ? [...letters] : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)

const weightOf = (word: string): number => (commonWords.has(word) ? commonWeight : 1)

/**
 * Returns the likeness of two names, 0 to 1: the weight of their common words in all words (Dice's coefficient) with tolerance for
 * typing errors, or the likeness without spaces. Numbers must be equal. Two names that each have a word of their own have the
 * likeness 0, although they have other words in common: "Northwind customer care" and "Tailspin customer care".
 */
export function likeness(one: string, other: string): number {
  const [words, others] = [wordsOf(one), wordsOf(other)]
  if (words.length === 0 || others.length === 0) return 0
  return Math.max(sharedWords(words, others), sharedWords(others, words), sameLetters(words, others))
}

function sharedWords(words: readonly string[], others: readonly string[]): number {
  const left = [...others]
  const own: string[] = []
  let shared = 0
  for (const word of words) {
    const alike = left.map((each) => sameWord(word, each))
    const best = Math.max(0, ...alike)
    if (best === 0) {
      own.push(word)
      continue
    }
    const [taken = word] = left.splice(alike.indexOf(best), 1)
    shared += best * (weightOf(word) + weightOf(taken))
  }
  if (own.some(distinguishes) && left.some(distinguishes)) return 0
  return shared / [...words, ...others].reduce((sum, word) => sum + weightOf(word), 0)
}

/** Whether a word shows which of two resources is meant. Pairs of letters do not: another order gives other pairs. */
const distinguishes = (word: string): boolean => weightOf(word) === 1 && !isUnspaced.test(word)

/** Returns the words that the other name does not have, each as often as it has more of them. */
function without(words: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return words.filter((word) => {
    const at = left.indexOf(word)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

function sameWord(one: string, other: string): number {
  if (one === other) return 1
  if (isNumber.test(one) || isNumber.test(other) || Math.min(one.length, other.length) < shortestFuzzy) return 0
  const likely = closeness(one, other)
  return likely >= sameWordFrom ? likely : 0
}

/**
 * Compares names without spaces ("Salesforce", "Sales Force"), with tolerance for typing errors in the long part that is not equal
 * word by word.
 */
function sameLetters(words: readonly string[], others: readonly string[]): number {
  if (words.join('') === others.join('')) return 1
  const numbers = (of: readonly string[]) => of.filter((word) => isNumber.test(word)).join(' ')
  const uncommon = (of: readonly string[]) => of.filter((word) => weightOf(word) === 1).join('')
  const [run, otherRun] = [uncommon(without(words, others)), uncommon(without(others, words))]
  if (numbers(words) !== numbers(others) || Math.min(run.length, otherRun.length) < shortestRun) return 0
  const likely = closeness(run, otherRun)
  return likely >= sameRunFrom ? likely : 0
}

const closeness = (one: string, other: string): number => 1 - distance(one, other) / Math.max(one.length, other.length)

/** The number of words that a search uses, the longest first, each with and without marks. */
const maxWords = 3
const shortestBeginning = 4
const beginningPart = 0.6

/**
 * Returns the beginnings of words for a search: directories search by the beginning of words, and typing errors are mostly
 * later in a word. Common words count only if the name has no other.
 */
export function beginningsOf(name: string): string[] {
  const words = [...new Set(written(name))]
  const uncommon = words.filter((word) => weightOf(plain(word)) === 1)
  const longestFirst = (uncommon.length > 0 ? uncommon : words).sort((a, b) => b.length - a.length)
  const beginnings = longestFirst.slice(0, maxWords).flatMap((word) => [beginningOf(word), beginningOf(plain(word))])
  return [...new Set(beginnings)].filter((beginning) => beginning !== '')
}

function beginningOf(word: string): string {
  const letters = [...word.replace(/['’]/g, '')]
  if (isUnspaced.test(word)) return letters.slice(0, 2).join('')
  return letters.slice(0, Math.max(shortestBeginning, Math.ceil(letters.length * beginningPart))).join('')
}

/** The maximum number of resources in the result, and of owners for each. */
const maxShown = 3
const maxOwners = 3
/** The maximum number of candidates, the most similar first, that are checked for visibility. */
const maxChecked = 25
/** The maximum wait for each of the two searches, in milliseconds. After that the result is empty. */
const patience = 1500

const similarResource = z.object({
  kind: resourceKind.optional().describe('The kind; absent for a site if the directory does not show it.'),
  displayName: z.string().describe('The name.'),
  address: z.string().describe('The URL of a site, or a mail address if the URL is unknown.'),
  access: z
    .enum(['own', 'open', 'ask'])
    .describe('`own`: the person owns it. `open`: the person can open or book it. `ask`: an owner has to give access.'),
  owners: z.array(person).max(maxOwners).describe('People who can give access: at most three, empty if unknown.'),
})
export type SimilarResource = z.output<typeof similarResource>

export const similarResources = z.object({
  resources: z.array(similarResource).max(maxShown).describe('The most similar ones, at most three.'),
  more: z.int().min(0).describe('The number of other similar resources.'),
})
export type SimilarResources = z.output<typeof similarResources>

/** The requested resource. `address`: the address that the request holds, if it is known. */
export interface RequestedName {
  readonly kind: ResourceKind
  readonly displayName: string
  readonly address?: string
}
const nothing: SimilarResources = { resources: [], more: 0 }

/**
 * Finds resources of the tenant with a similar name. Needs no address, so it runs in parallel with the check of the request. The
 * result is only a hint: it is empty if the directory does not answer in time.
 */
export async function similarCandidates(
  { directory }: NamingPorts,
  { kind, displayName }: RequestedName,
): Promise<readonly Candidate[]> {
  const beginnings = beginningsOf(displayName)
  if (beginnings.length === 0) return []
  const found = await inTime((signal) => directory.similar({ kind, beginnings, signal }))
  return maxAlike(found ?? [], displayName)
}

/** Returns the candidates whose names this person may read, and the owners who can give access. */
export async function similarAmong(
  context: Context<NamingPorts>,
  wanted: RequestedName,
  candidates: readonly Candidate[],
): Promise<SimilarResources> {
  const others = candidates.filter((candidate) => !isOwn(candidate, wanted)).slice(0, maxChecked)
  if (others.length === 0) return nothing
  const { kind, displayName } = wanted
  const query = { kind, beginnings: beginningsOf(displayName) }
  const found = await inTime((signal) => similarDetails(context, others, { ...query, signal }))
  return found ?? nothing
}

async function similarDetails(
  { ports, actor }: Context<NamingPorts>,
  candidates: readonly Candidate[],
  query: SimilarQuery,
): Promise<SimilarResources> {
  const visible = await ports.directory.visibleTo(actor, candidates, query)
  const shown = visible.slice(0, maxShown)
  const resources = await Promise.all(shown.map((candidate) => resourceOf(ports, actor, candidate, query.kind)))
  return { resources, more: visible.length - shown.length }
}

async function resourceOf(
  { directory }: NamingPorts,
  actor: Actor,
  { of, id, displayName, address, isPublic }: Candidate,
  kind: ResourceKind,
): Promise<SimilarResource> {
  // Everybody may book a room or a device. The directory does not know the owners of a shared mailbox.
  if (of === 'account')
    return { kind, displayName, address, access: kind === 'sharedMailbox' ? 'ask' : 'open', owners: [] }
  // A site without a group is visible only to people who can open it.
  if (of === 'site') return { displayName, address, access: 'open', owners: [] }
  const [owners, groups] = await Promise.all([directory.ownersOf(id), directory.groupsOf(actor.id)])
  const owns = owners.some((owner) => owner.id === actor.id)
  const isIn = isPublic || groups.has(id)
  const contacts = owners
    .filter((owner) => owner.id !== actor.id && !owner.isBlocked && !owner.unread)
    .slice(0, maxOwners)
  return {
    kind: 'teamSite',
    displayName,
    address,
    access: owns ? 'own' : isIn ? 'open' : 'ask',
    owners: contacts.map(asPerson),
  }
}

/** Returns the candidates with a similar name, the most similar first. */
function maxAlike(candidates: readonly Candidate[], displayName: string): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, alike: likeness(displayName, candidate.displayName) }))
    .filter(({ alike }) => alike >= similarFrom)
    .sort((a, b) => b.alike - a.alike || a.candidate.displayName.localeCompare(b.candidate.displayName, 'en'))
    .map(({ candidate }) => candidate)
}

/** Whether a candidate is the resource of the request itself, left by a failed attempt. */
function isOwn({ address, alias }: Candidate, wanted: RequestedName): boolean {
  const kept = wanted.address?.toLowerCase().replace(/\/+$/, '')
  if (kept === undefined) return false
  return address.toLowerCase() === kept || (alias !== '' && kept.endsWith(`/${alias.toLowerCase()}`))
}

/** Returns the answer; undefined if Microsoft 365 refuses the call or does not answer in time. */
export async function inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const signal = AbortSignal.timeout(patience)
  const late = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const answer = ask(signal).catch((error: unknown) => {
    if (error instanceof TenantError) return undefined
    throw error
  })
  return Promise.race([answer, late])
}
