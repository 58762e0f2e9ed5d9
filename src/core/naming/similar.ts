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

/** From this likeness on, of 1, two names are shown as similar. "Marketing" and "Marketing EMEA" have 0.67. */
export const similarFrom = 0.6

/** What stands in so many names that it says little of any: it counts as much as this, and every other word as 1. */
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

/** Below this likeness two words are two words. Shorter ones than this have no letter to spare for a slip. */
const sameWordFrom = 0.8
const shortestFuzzy = 5
/** Names run together are alike from here on, where they have at least so many letters. */
const sameRunFrom = 0.85
const shortestRun = 8

/** Scripts that put no spaces between words. */
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー'
const chunks = new RegExp(`[${unspaced}]+|\\p{N}+|[[\\p{L}\\p{M}'’]--[${unspaced}]]+`, 'gv')
const isUnspaced = new RegExp(`^[${unspaced}]`, 'v')
const isNumber = /^\p{N}/u

/** The words of a name as people wrote them, in lower case: spaces, signs, digits and capitals inside divide them. */
const written = (name: string): string[] =>
  (
    name
      .normalize('NFKC')
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .match(chunks) ?? []
  ).map((word) => word.toLowerCase())

/** Letters without their marks, so that "Zürich" is "zurich"; what is not Latin stays as it is. */
const plain = (word: string): string => slug(word) || word

/**
 * What a name is compared by: its words, of which "Süd" and "Sued" are one, and of a script without spaces each two
 * letters that stand together.
 */
const wordsOf = (name: string): string[] =>
  written(name).flatMap((word) =>
    isUnspaced.test(word) ? pairsOf([...word]) : [plain(word).replace(/([aou])e/g, '$1')],
  )

const pairsOf = (letters: readonly string[]): string[] =>
  letters.length < 2 ? [...letters] : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)

const weightOf = (word: string): number => (commonWords.has(word) ? commonWeight : 1)

/**
 * How alike two names are, from 0 to 1: the weight of the words that they share, of all their words (Dice's coefficient),
 * a slip of the pen allowed; or the same letters with other spaces. A number is another one or the same.
 */
export function likeness(one: string, other: string): number {
  const [words, others] = [wordsOf(one), wordsOf(other)]
  if (words.length === 0 || others.length === 0) return 0
  return Math.max(sharedWords(words, others), sameLetters(words, others))
}

function sharedWords(words: readonly string[], others: readonly string[]): number {
  const left = [...others]
  let shared = 0
  for (const word of words) {
    const alike = left.map((each) => sameWord(word, each))
    const best = Math.max(0, ...alike)
    if (best === 0) continue
    const [taken = word] = left.splice(alike.indexOf(best), 1)
    shared += best * (weightOf(word) + weightOf(taken))
  }
  return shared / [...words, ...others].reduce((sum, word) => sum + weightOf(word), 0)
}

function sameWord(one: string, other: string): number {
  if (one === other) return 1
  if (isNumber.test(one) || isNumber.test(other) || Math.min(one.length, other.length) < shortestFuzzy) return 0
  const likely = closeness(one, other)
  return likely >= sameWordFrom ? likely : 0
}

/** "Salesforce" and "Sales Force"; and with a slip, when what tells them apart is long enough to tell. */
function sameLetters(words: readonly string[], others: readonly string[]): number {
  if (words.join('') === others.join('')) return 1
  const numbers = (of: readonly string[]) => of.filter((word) => isNumber.test(word)).join(' ')
  const telling = (of: readonly string[]) => of.filter((word) => weightOf(word) === 1).join('')
  const [run, otherRun] = [telling(words), telling(others)]
  if (numbers(words) !== numbers(others) || Math.min(run.length, otherRun.length) < shortestRun) return 0
  const likely = closeness(run, otherRun)
  return likely >= sameRunFrom ? likely : 0
}

const closeness = (one: string, other: string): number => 1 - distance(one, other) / Math.max(one.length, other.length)

/** So many words of a name are looked for, the longest first, each as it is written and without marks. */
const mostWords = 3
const shortestBeginning = 4
const beginningPart = 0.6

/**
 * What similar names have a word begin with: directories look words up by their beginnings, and slips are mostly made
 * later in a word. Common words are looked for only when there is no other.
 */
export function beginningsOf(name: string): string[] {
  const words = [...new Set(written(name))]
  const telling = words.filter((word) => weightOf(plain(word)) === 1)
  const longestFirst = (telling.length > 0 ? telling : words).sort((a, b) => b.length - a.length)
  const sought = longestFirst.slice(0, mostWords).flatMap((word) => [beginningOf(word), beginningOf(plain(word))])
  return [...new Set(sought)].filter((beginning) => beginning !== '')
}

function beginningOf(word: string): string {
  const letters = [...word.replace(/['’]/g, '')]
  if (isUnspaced.test(word)) return letters.slice(0, 2).join('')
  return letters.slice(0, Math.max(shortestBeginning, Math.ceil(letters.length * beginningPart))).join('')
}

/** This many are told of one by one, with this many owners each. */
const mostShown = 3
const mostOwners = 3
/** Of more than these, the most alike, nobody asks who may know of them: the number of the others ends here. */
const mostAsked = 25
/** For so long a person waits for each of the two questions, in milliseconds; then there is nothing similar. */
const patience = 1500

export const similarResource = z.object({
  kind: resourceKind.optional().describe('What it is; left out for a site of which the directory does not say more.'),
  displayName: z.string().describe('Its name.'),
  address: z.string().describe('The URL of a site, or a mail address where that is all that is known.'),
  access: z
    .enum(['own', 'open', 'ask'])
    .describe(
      '`own`: the person owns it. `open`: they can open or book it already. `ask`: somebody has to let them in.',
    ),
  owners: z
    .array(person)
    .max(mostOwners)
    .describe('Whom to ask for access: at most three; none where they are unknown.'),
})
export type SimilarResource = z.output<typeof similarResource>

export const similarResources = z.object({
  resources: z.array(similarResource).max(mostShown).describe('The most similar ones, at most three.'),
  more: z.int().min(0).describe('How many others there are.'),
})
export type SimilarResources = z.output<typeof similarResources>

/** What is asked for: `address` is that which the request keeps for itself, once it is known. */
export interface Sought {
  readonly kind: ResourceKind
  readonly displayName: string
  readonly address?: string
}
const nothing: SimilarResources = { resources: [], more: 0 }

/**
 * Finds resources of the tenant with a similar name. This needs no address yet, so it runs while the request is checked. It is a
 * hint that stops nobody: when the directory does not answer in time, the result is empty.
 */
export async function similarCandidates(
  { directory }: NamingPorts,
  { kind, displayName }: Sought,
): Promise<readonly Candidate[]> {
  const beginnings = beginningsOf(displayName)
  if (beginnings.length === 0) return []
  const found = await inTime((signal) => directory.similar({ kind, beginnings, signal }))
  return mostAlike(found ?? [], displayName)
}

/** Returns the candidates whose names this person may read, and the owners who can give access. */
export async function similarAmong(
  context: Context<NamingPorts>,
  sought: Sought,
  candidates: readonly Candidate[],
): Promise<SimilarResources> {
  const others = candidates.filter((candidate) => !isOwn(candidate, sought)).slice(0, mostAsked)
  if (others.length === 0) return nothing
  const { kind, displayName } = sought
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
  const shown = visible.slice(0, mostShown)
  const resources = await Promise.all(shown.map((candidate) => resourceOf(ports, actor, candidate, query.kind)))
  return { resources, more: visible.length - shown.length }
}

async function resourceOf(
  { directory }: NamingPorts,
  actor: Actor,
  { of, id, displayName, address, isPublic }: Candidate,
  kind: ResourceKind,
): Promise<SimilarResource> {
  // Everybody may book a room or a device; a shared mailbox has no owner that the directory could name.
  if (of === 'account')
    return { kind, displayName, address, access: kind === 'sharedMailbox' ? 'ask' : 'open', owners: [] }
  // What is no group's is visible to those alone who can open it.
  if (of === 'site') return { displayName, address, access: 'open', owners: [] }
  const [owners, groups] = await Promise.all([directory.ownersOf(id), directory.groupsOf(actor.id)])
  const owns = owners.some((owner) => owner.id === actor.id)
  const isIn = isPublic || groups.has(id)
  const contacts = owners
    .filter((owner) => owner.id !== actor.id && !owner.isBlocked && !owner.unread)
    .slice(0, mostOwners)
  return {
    kind: 'teamSite',
    displayName,
    address,
    access: owns ? 'own' : isIn ? 'open' : 'ask',
    owners: contacts.map(asPerson),
  }
}

/** Those with a similar name, the most alike first. */
function mostAlike(candidates: readonly Candidate[], displayName: string): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, alike: likeness(displayName, candidate.displayName) }))
    .filter(({ alike }) => alike >= similarFrom)
    .sort((a, b) => b.alike - a.alike || a.candidate.displayName.localeCompare(b.candidate.displayName, 'en'))
    .map(({ candidate }) => candidate)
}

/** What a failed request has left behind is what this one takes over: nobody needs access to it. */
function isOwn({ address, alias }: Candidate, sought: Sought): boolean {
  const kept = sought.address?.toLowerCase().replace(/\/+$/, '')
  if (kept === undefined) return false
  return address.toLowerCase() === kept || (alias !== '' && kept.endsWith(`/${alias.toLowerCase()}`))
}

/** What was asked, or nothing when Microsoft 365 refuses or takes longer than anybody wants to wait. */
async function inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
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
