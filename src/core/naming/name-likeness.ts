import { distance } from 'fastest-levenshtein'
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
