import { readFile, rename, writeFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { z } from 'zod'
import { UsageError } from './define-command.ts'
import { fill, words } from './words.ts'

/** What became of one request of a list. `sending`: it was about to be sent; whether it was, the service knows. */
const resultLine = z.object({
  key: z.string(),
  name: z.string(),
  status: z.string(),
  reference: z.string(),
  requestId: z.string(),
  error: z.string(),
  /** The Idempotency-Key of the call that sent it. */
  sentAs: z.string(),
  fingerprint: z.string().regex(/^[0-9a-f]{16}$/),
})
export type ResultLine = z.output<typeof resultLine>
const columns = Object.keys(resultLine.shape) as (keyof ResultLine)[]

/** `rooms.csv` → `rooms.results.csv`, beside it. */
export const resultsPathOf = (path: string): string => `${path.replace(/\.csv$/i, '')}.results.csv`

/** What became of a list before; nothing, where it was never sent. Throws {@link UsageError} for a file that is something else. */
export async function readResults(path: string): Promise<ResultLine[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new UsageError(fill(words.usage.noFile, { path, why: error instanceof Error ? error.message : '' }))
  }
  try {
    const [header = [], ...lines]: string[][] = parse(text, { bom: true, skip_empty_lines: true })
    if (header.join() !== columns.join()) throw new TypeError('other columns')
    const given = lines.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
    return z
      .array(resultLine)
      .parse(given)
      .map((line) => ({ ...line, key: line.key.replace(defused, '$1') }))
  } catch {
    throw new UsageError(fill(words.csv.notResults, { path }))
  }
}

/** Replaces the file as a whole, so that a crash leaves the one before. */
export async function writeResults(path: string, lines: readonly ResultLine[]): Promise<void> {
  const rows = lines.map((line) => columns.map((column) => cell(line[column])).join(','))
  const draft = `${path}.${process.pid}.tmp`
  // Excel takes a file for UTF-8 by its first bytes alone.
  await writeFile(draft, `\ufeff${[columns.join(','), ...rows].join('\r\n')}\r\n`)
  await rename(draft, path)
}

/** A spreadsheet takes these for the beginning of a formula (OWASP, "CSV Injection"); names come from other people. */
const formula = /^[ \u00a0'"]*[=+\-@＝＋－＠]|^'*[\t\r]/
const defused = /^'([ \u00a0'"]*[=+\-@＝＋－＠]|'*[\t\r])/
const cell = (text: string): string => `"${text.replace(formula, "'$&").replaceAll('"', '""')}"`
