import { createRequire } from 'node:module'
import { distance } from 'fastest-levenshtein'

/** All texts of the command line. Read as a file: Node 20 warns of JSON that is imported. */
export const words: typeof import('../strings/en.json', { with: { type: 'json' }}) = createRequire(import.meta.url)(
  '../strings/en.json',
)

/** A sentence with its blanks filled in: `{name}`. A blank without a value stays as it is, and so is seen in tests. */
export const fill = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (blank, name: string) => String(values[name] ?? blank))

/** What somebody probably meant: the name that differs in the fewest letters, if it differs in few. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const ranked = names.map((name) => ({ name, off: distance(typed.toLowerCase(), name.toLowerCase()) }))
  const [best] = ranked.sort((one, other) => one.off - other.off)
  return best && best.off <= Math.max(1, Math.floor(typed.length / 3)) ? best.name : undefined
}
