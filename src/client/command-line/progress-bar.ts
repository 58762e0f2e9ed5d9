import type { Batch } from '../index.ts'
import type { Terminal } from './terminal.ts'
import { fill, words } from './words.ts'

/** How far a list is. On a terminal a line that is drawn over; elsewhere a line for each tenth. */
export interface ProgressBar {
  show(batch: Batch): void
  end(): void
}
const cells = 24

/** `before`: how many of `total` were done by batches before this one. */
export function progressBar(terminal: Terminal, total: number, before: number): ProgressBar {
  const { errors } = terminal.streams
  const isLive = terminal.isLive && errors.isTTY === true
  let said = ''
  return {
    show(batch) {
      const { succeeded = 0 } = batch.requests
      const done = before + batch.rows.refused + doneOf(batch)
      const full = Math.floor((done / total) * cells)
      const bar = `${'█'.repeat(full)}${'░'.repeat(cells - full)}`
      const counts = fill(words.csv.progress, { made: before + succeeded, total, refused: batch.rows.refused })
      const waits = batch.waitsFor === null ? '' : ` · ${waitWords(batch.waitsFor.code)}`
      if (isLive) errors.write(`\r\u001b[2K${[...`${bar} ${counts}${waits}`].slice(0, terminal.columns - 1).join('')}`)
      const tenth = `${Math.floor((done * 10) / total)}${waits}`
      if (!isLive && !terminal.json && tenth !== said) terminal.note(`${counts}${waits}`)
      said = tenth
    },
    end: () => void (isLive && errors.write('\r\u001b[2K')),
  }
}

/** Requests that nothing more happens to by itself. */
const doneOf = ({ requests }: Batch): number =>
  Object.entries(requests).reduce((sum, [state, count]) => (open.includes(state) ? sum : sum + count), 0)
const open: readonly string[] = ['pendingApproval', 'queued', 'provisioning']

const waitWords = (code: string): string =>
  words.csv.waits[code as keyof typeof words.csv.waits] ?? words.csv.waits.unavailable
