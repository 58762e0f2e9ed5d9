import { createRequire } from 'node:module'

/** All words of the command line. Read as a file: Node 20 warns of JSON that is imported. */
export const words: typeof import('../strings/en.json', { with: { type: 'json' }}) = createRequire(import.meta.url)(
  '../strings/en.json',
)

/** A sentence with its blanks filled in: `{name}`. A blank that nobody fills stays as it is, and so is seen in tests. */
export const fill = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (blank, name: string) => String(values[name] ?? blank))
