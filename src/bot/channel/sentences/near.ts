import { distance } from 'fastest-levenshtein'

/** A word with a larger share of different letters is another word. */
const largestShare = 0.25

/**
 * Whether a word is a misspelling of another word: letters in another order, a letter typed
 * twice, or few different letters.
 */
export function isNear(word: string, other: string): boolean {
  if (word === other || Math.min(word.length, other.length) < 4) return false
  if (sorted(word) === sorted(other) || singled(word) === singled(other)) return true
  const length = Math.max(word.length, other.length)
  return length >= 6 && distance(word, other) / length <= largestShare
}

/** Returns a word without doubled letters: “rooom” is “rom”. */
const singled = (word: string): string => word.replace(/(.)\1+/g, '$1')
const sorted = (word: string): string => [...word].sort().join('')
