import { shortestName } from '../core/index.ts'

/** What a name looks like inside of JSON. A short one could be a part of any word. */
export const patterns = (written: readonly string[]): string[] =>
  written
    .filter((name) => name.length >= shortestName)
    .map((name) => JSON.stringify(name).slice(1, -1).toLowerCase())
    .map((name) => `%${name.replace(/[\\%_]/g, '\\$&')}%`)
