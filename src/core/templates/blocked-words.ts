/** A text as it is compared: without case, accents and width, and without the signs that nobody sees. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replaceAll('ß', 'ss')
    .toLocaleLowerCase('en')

/** Scripts that put no space between words: there a blocked word is found anywhere. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/**
 * Those of the blocked words that a text has, as they were written. Whole words only, as Microsoft's own naming policy
 * has it ("Groups naming policy"), so that "class" is none because of what is in it; a blocked phrase is found whatever
 * stands between its words.
 */
export function blockedWordsIn(text: string, blockedWords: readonly string[]): string[] {
  if (blockedWords.length === 0) return []
  const plain = folded(text)
  const words = ` ${plain.split(/[^\p{L}\p{N}]+/u).join(' ')} `
  return blockedWords.filter((blocked) => {
    const wanted = folded(blocked)
    if (unspaced.test(wanted)) return plain.includes(wanted)
    const phrase = wanted.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
    return phrase.length > 0 && words.includes(` ${phrase.join(' ')} `)
  })
}
