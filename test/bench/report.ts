import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Chart, drawChart, type Theme } from './chart.ts'

/** One figure: its name, our value, the value for comparison, their ratio, and the name of the comparison. */
export type Row = readonly [figure: string, ours: string, floor: string, ratio: string, what: string]
export const head = ['figure', 'ours', 'floor or limit', 'ratio', 'compared with'] as const

/** The result of one part of the bench. */
export interface PartReport {
  readonly rows: readonly Row[]
  /** The charts by the names of their files; `alt` describes what they show. */
  readonly charts: Readonly<Record<string, { readonly chart: Chart; readonly alt: string }>>
}

export const docs = fileURLToPath(new URL('../../docs/', import.meta.url))

/**
 * Writes a part's figures and charts into `docs/performance.md`, between its markers, so that no figure is typed
 * manually. Throws when the page has no markers for the part.
 */
export function writeReport(part: string, report: PartReport, folder: string = docs): void {
  const page = join(folder, 'performance.md')
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [`<!-- bench:${part} -->`, `<!-- /bench:${part} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${page} has no markers for ${part}: ${begin} … ${end}`)
  mkdirSync(join(folder, 'performance'), { recursive: true })
  for (const [name, { chart }] of Object.entries(report.charts))
    for (const theme of ['light', 'dark'] as const)
      writeFileSync(join(folder, 'performance', fileOf(name, theme)), drawChart(chart, theme))
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n${markdownOf(report)}\n${text.slice(to)}`)
}

function markdownOf({ rows, charts }: PartReport): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const pictures = Object.entries(charts).map(
    ([name, { alt }]) =>
      `<picture><source media="(prefers-color-scheme: dark)" srcset="performance/${fileOf(name, 'dark')}">` +
      `<img alt="${alt}" src="performance/${fileOf(name, 'light')}"></picture>`,
  )
  return [
    '',
    `Measured ${new Date().toISOString().slice(0, 10)} on ${machine()}; load ${loadavg()[0]?.toFixed(1)} at the end.`,
    '',
    line(head),
    '|---|--:|--:|--:|---|',
    ...rows.map(line),
    '',
    ...pictures.flatMap((picture) => [picture, '']),
  ].join('\n')
}

const fileOf = (name: string, theme: Theme): string => `${name}-${theme}.svg`

/** Describes the machine of the measurement. */
export function machine(): string {
  const [cpu] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const processor = `${cpus().length} × ${cpu?.model.trim() ?? 'CPU'}`
  return `${processor}, ${memory}, ${process.platform} ${process.arch}, Node ${process.version}`
}
