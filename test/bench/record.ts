import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docs, machine, type Row } from './report.ts'

/** The figures of the last run of each part, in `docs/performance/figures.json`. */
interface PartRecord {
  readonly measured: string
  readonly machine: string
  readonly figures: readonly (readonly [figure: string, ours: string, floor: string, ratio: string])[]
}

/** A change of the ratio by more than this share is printed as slower or larger. */
const noticeable = 0.2

const fileIn = (folder: string): string => join(folder, 'performance', 'figures.json')

function readRecords(folder: string): Record<string, PartRecord> {
  const file = fileIn(folder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, PartRecord>) : {}
}

/** Records the figures of a part for the comparison with its next run. Call {@link compareWithRecord} before. */
export function record(part: string, rows: readonly Row[], folder: string = docs): void {
  const measured = new Date().toISOString().slice(0, 10)
  const own: PartRecord = {
    ...{ measured, machine: machine() },
    figures: rows.map(([figure, ours, floor, ratio]) => [figure, ours, floor, ratio]),
  }
  const all = { ...readRecords(folder), [part]: own }
  writeFileSync(fileIn(folder), `${JSON.stringify(all, null, 2)}\n`)
}

/** The last cells of a row: the ratio of the last run, and the change since then. */
export const comparison = ['last ratio', 'change'] as const

/**
 * Compares the ratios of a part with those of its last run. Ratios to a floor of the same run differ less between machines
 * than the figures. Returns two cells for each row, and a sentence for each figure that is more than 20 % worse. The
 * last run is empty for new figures.
 */
export function compareWithRecord(part: string, rows: readonly Row[], folder: string = docs) {
  const last = readRecords(folder)[part]
  const worse: string[] = []
  const cells = rows.map(([figure, ours, , ratio], index) => {
    // Some parts compare one figure with several floors, always in the same order.
    const turn = rows.slice(0, index).filter(([other]) => other === figure).length
    const before = last?.figures.filter(([other]) => other === figure)[turn]?.[3]
    if (before === undefined) return ['', ''] as const
    const change = Number.parseFloat(ratio) / Number.parseFloat(before) - 1
    if (!Number.isFinite(change)) return [before, ''] as const
    const isWorse = ours.endsWith('/s') ? change < -noticeable : change > noticeable
    if (isWorse) worse.push(`${figure}: the ratio was ${before} on ${last?.measured}, and is ${ratio} now.`)
    return [before, `${change > 0 ? '+' : ''}${(change * 100).toFixed(0)} %`] as const
  })
  return { cells, worse }
}
