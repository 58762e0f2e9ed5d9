/** What a name looks like inside of JSON. A short one could be a part of any word. */
export const patterns = (written: readonly string[]): string[] =>
  written
    .filter((name) => name.length > 3)
    .map((name) => JSON.stringify(name).slice(1, -1).toLowerCase())
    .map((name) => `%${name.replace(/[\\%_]/g, '\\$&')}%`)
