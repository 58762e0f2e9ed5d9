import { shortestName } from '../core/index.ts'

/** What a name looks like inside of JSON. A short one could be a part of any word, so it is not looked for. */
export const patterns = (written: readonly string[]): string[] =>
  written
    .filter((name) => name.length >= shortestName)
    .map((name) => JSON.stringify(name).slice(1, -1))
    .map((name) => `%${name.replace(/[\\%_]/g, '\\$&')}%`)

/** Whether a text of SQL has one of these patterns in it, in any case. Both sides by the store: it may know fewer letters than we do. */
export const hasAny = (text: string, parameter: string): string =>
  `lower(${text}) LIKE ANY (SELECT lower(one) FROM unnest(${parameter}::text[]) AS these (one))`
