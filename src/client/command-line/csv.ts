import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { CsvError, parse } from 'csv-parse/sync'
import { type Options, stringify } from 'csv-stringify/sync'
import { z } from 'zod'
import {
  accessTwice,
  type Body,
  type Fault,
  type FieldFlag,
  type FieldFlags,
  flagsOf,
  textOfBytes,
  withValue,
} from './body.ts'
import { clean, fill, nearest, texts, UsageError } from './terminal.ts'

export interface CsvRow {
  /** The line of the file where it starts. */
  readonly line: number
  /** The key column, or the number of the line. */
  readonly key: string
  readonly body: Body
  /** The faults of its cells. */
  readonly faults: readonly Fault[]
}

/** Larger than any list that people write, so that a wrong file is noticed early. Bytes. */
const largestList = 4 * 1024 * 1024
const separators = [',', ';', '\t'] as const
/** Separates several values in one cell. */
const several = /[;|\n]+/
/** Matches keys of rows that the service accepts. */
const goodKey = /^\P{C}{1,64}$/u

/**
 * Reads a list of requests: the first line names fields of the API, each further line is a request. Returns each line
 * with its faults. Throws {@link UsageError} for a file that is not a list.
 */
export async function readRows(path: string, fields: FieldFlags): Promise<CsvRow[]> {
  const [header, ...lines] = linesOf(await textOf(path), path)
  if (!header || lines.length === 0) throw new UsageError(fill(texts.csv.empty, { path }))
  const columns = columnsOf(header.cells, fields)
  const known = new Map<string, number>()
  return lines.map((one) => {
    const row = rowOf(one, columns)
    const line = known.get(row.key)
    known.set(row.key, line ?? row.line)
    const detail = fill(texts.csv.keyTwice, { line: line ?? 0 })
    return line === undefined ? row : { ...row, faults: [...row.faults, { pointer: '#/key', detail }] }
  })
}

async function textOf(path: string): Promise<string> {
  try {
    const bytes = await readFile(path)
    if (bytes.length > largestList) throw new UsageError(fill(texts.csv.tooLarge, { path }))
    return textOfBytes(bytes)
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (error instanceof TypeError) throw new UsageError(fill(texts.csv.notUtf8, { path }))
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError(fill(texts.usage.noFile, { path, why }))
  }
}

interface Line {
  readonly line: number
  readonly cells: readonly string[]
}
/** The library's result for each line with the options `info` and `raw`. */
interface ParsedLine {
  /** `lines`: where the line ends. */
  readonly info: { readonly lines: number }
  readonly raw: string
  readonly record: string[]
}

/** Excel's separator depends on the user's country: the most frequent one in the first line counts. */
function linesOf(text: string, path: string): Line[] {
  // The library counts a line break of two characters in quotes twice.
  const plain = text.replace(/\r\n?/g, '\n')
  const [first = ''] = plain.split('\n')
  const [delimiter] = separators.toSorted((one, other) => first.split(other).length - first.split(one).length)
  const layout = { bom: true, trim: true, skip_empty_lines: true, relax_column_count: true, info: true, raw: true }
  try {
    const found: unknown = parse(plain, { ...layout, delimiter })
    // Its types do not know the option `info`.
    return (found as ParsedLine[])
      .map(({ info, raw, record }) => ({ line: info.lines - raw.trim().split('\n').length + 1, cells: record }))
      .filter(({ cells }) => cells.some((cell) => cell !== ''))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new UsageError(fill(texts.csv.notCsv, { path, why: clean(error.message) }))
  }
}

interface Column {
  readonly name: string
  readonly isKey: boolean
  put(body: Body, cell: string): Body
  /** Returns the faults of a cell, before it is sent to the service. `body` has the cells before it. */
  readonly faults?: (cell: string, body: Body) => readonly Fault[]
}

function columnsOf(header: readonly string[], fields: FieldFlags): Column[] {
  const known = new Map(flagsOf(fields).map((one) => [one.path.toLowerCase(), one]))
  const columns = header.map((title) => columnOf(title, known))
  for (const [index, { name }] of columns.entries())
    if (columns.findIndex((one) => one.name === name) < index)
      throw new UsageError(fill(texts.csv.columnTwice, { column: clean(name) }))
  return columns
}

type KnownFields = ReadonlyMap<string, FieldFlag & { readonly path: string }>

function columnOf(title: string, known: KnownFields): Column {
  const name = title.trim()
  const low = name.toLowerCase()
  if (low === 'key') return { name: low, isKey: true, put: (body) => body }
  if (low === 'template') return columnOf('templateId', known)
  const field = known.get(low)
  if (field && field.takes !== 'pairs' && field.takes !== 'person-pairs') {
    const place = field.path.split('.')
    const pointer = `#/${place.join('/')}`
    return {
      ...{ name: low, isKey: false, put: (body, cell) => withValue(body, place, readCell(field.takes, cell)) },
      faults: (cell) => faultOfCell(pointer, field.takes, cell),
    }
  }
  const [, group = '', rest = ''] = /^(metadata|permissions)\.(.+)$/i.exec(name) ?? []
  if (group.toLowerCase() === 'metadata')
    return { name, isKey: false, put: (body, cell) => withValue(body, ['metadata', rest], cell) }
  const access = ['FullAccess', 'SendAs'].find((one) => one.toLowerCase() === rest.toLowerCase())
  if (group !== '' && access && known.has('permissions')) return { name: low, isKey: false, ...peopleWith(access) }
  const names = ['key', 'template', ...[...known.values()].map(({ path }) => path), 'permissions.FullAccess']
  const meant = nearest(name, [...names, 'permissions.SendAs'])
  const hint = meant === undefined ? texts.csv.columns : fill(texts.usage.didYouMean, { meant })
  throw new UsageError(`${fill(texts.csv.unknownColumn, { column: clean(name) })} ${hint}`)
}

function peopleWith(access: string): Pick<Column, 'put' | 'faults'> {
  const pairsOf = (cell: string): [string, string][] =>
    cell
      .split(/[\s,;|]+/)
      .filter((one) => one !== '')
      .map((person) => [person, access])
  return {
    put: (body, cell) => withValue(body, ['permissions'], Object.fromEntries(pairsOf(cell))),
    faults: (cell, { permissions }) => accessTwice([...Object.entries(Object(permissions)), ...pairsOf(cell)]),
  }
}

const aNumber = /^-?\d+(\.\d+)?$/
const isOf = (values: readonly string[], cell: string): boolean => values.includes(cell.toLowerCase())

/** Unreadable text stays unchanged; {@link faultOfCell} reports it. */
function readCell(takes: FieldFlag['takes'], cell: string): unknown {
  if (takes === 'number') return aNumber.test(cell) ? Number(cell) : cell
  if (takes === 'boolean') return isOf(texts.csv.yes, cell) ? true : isOf(texts.csv.no, cell) ? false : cell
  if (takes !== 'list') return cell
  const parts = cell.split(several).map((one) => one.trim())
  return parts.filter((one) => one !== '')
}

function faultOfCell(pointer: string, takes: FieldFlag['takes'], cell: string): readonly Fault[] {
  const value = readCell(takes, cell)
  if (value !== cell || (takes !== 'number' && takes !== 'boolean')) return []
  const sentence = takes === 'number' ? texts.csv.noNumber : texts.csv.noYesOrNo
  return [{ pointer, detail: fill(sentence, { typed: clean(cell) }) }]
}

function rowOf({ line, cells }: Line, columns: readonly Column[]): CsvRow {
  let body: Body = {}
  let key = ''
  const faults: Fault[] = []
  if (cells.length !== columns.length) {
    const counts = { cells: cells.length, columns: columns.length }
    faults.push({ pointer: '', detail: fill(texts.csv.cells, counts) })
  }
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? ''
    if (column.isKey) key = cell
    if (column.isKey || cell === '') continue
    faults.push(...(column.faults?.(cell, body) ?? []))
    body = column.put(body, cell)
  }
  if (key !== '' && !goodKey.test(key)) faults.push({ pointer: '#/key', detail: texts.csv.keyForm })
  return { line, key: key || String(line), body, faults }
}

/** Identifies a request of a list, independent of its line. */
export const fingerprintOf = (body: Body): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('hex')
    .slice(0, 16)

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return members.map(([key, member]) => [key, sorted(member)])
}

/**
 * The result of one request of a list. `status`: the state of its request; otherwise `refused`, `cancelledBefore`
 * (never submitted), `waiting` (the service will submit it), `sending` (only the service knows whether the call
 * arrived), or `unknown` (the service has forgotten it).
 */
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
  /** The batch that the service created for the call. Earlier versions did not write it. */
  batchId: z.union([z.uuid(), z.literal('')]).default(''),
})
export type ResultLine = z.output<typeof resultLine>
const columns = Object.keys(resultLine.shape) as (keyof ResultLine)[]

/** `rooms.csv` → `rooms.results.csv`, in the same folder. */
export const resultsPathOf = (path: string): string => `${path.replace(/\.csv$/i, '')}.results.csv`

/** Reads the results of an earlier run; empty if the list was never sent. Throws {@link UsageError} for another file. */
export async function readResults(path: string): Promise<ResultLine[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new UsageError(fill(texts.usage.noFile, { path, why: error instanceof Error ? error.message : '' }))
  }
  try {
    const [header = [], ...lines]: string[][] = parse(text, { bom: true, skip_empty_lines: true })
    if (![columns, columns.slice(0, -1)].some((known) => known.join() === header.join()))
      throw new TypeError('other columns')
    const records = lines.map((cells) => Object.fromEntries(header.map((column, index) => [column, cells[index]])))
    return z
      .array(resultLine)
      .parse(records)
      .map((line) => ({ ...line, key: line.key.replace(defused, '$1') }))
  } catch {
    throw new UsageError(fill(texts.csv.notResults, { path }))
  }
}

/** Replaces the whole file, so that a crash leaves the earlier one. Throws {@link UsageError}. */
export async function writeResults(path: string, lines: readonly ResultLine[]): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`
  try {
    await writeFile(draft, stringify([...lines], layout))
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // On Windows nobody can replace a file that Excel has open.
    throw new UsageError(fill(texts.csv.resultsLocked, { path, why }))
  }
}

/** Matches texts that a spreadsheet reads as a formula (OWASP, "CSV Injection"); names come from other people. */
const formula = /^[ \u00a0'"]*[=+\-@＝＋－＠]|^'*[\t\r]/
const defused = /^'([ \u00a0'"]*[=+\-@＝＋－＠]|'*[\t\r])/
const layout: Options = {
  columns,
  header: true,
  // Excel detects UTF-8 only by the byte order mark.
  bom: true,
  record_delimiter: 'windows',
  quoted_empty: true,
  // The library's own protection checks only the first character.
  cast: { string: (text, { header }) => ({ value: text.replace(formula, "'$&"), quoted: !header }) },
}
