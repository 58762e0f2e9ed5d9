import { stripVTControlCharacters, styleText } from 'node:util'
import type { HealthPart } from '../../core/index.ts'
import type { ReportedPart } from './report.ts'
import texts from './strings.json' with { type: 'json' }
import type { TrialStep } from './trial.ts'

export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const marks = { green: '✓', amber: '!', red: '✗' } as const
const colours = { green: 'green', amber: 'yellow', red: 'red' } as const
/** The width of the longest title and a space. */
const titleWidth = 31

/** Returns the mark of a state, in colour on a terminal. */
export const markOf = (state: HealthPart['state'], { isTTY }: Output): string =>
  isTTY ? styleText(colours[state], marks[state], { validateStream: false }) : marks[state]

/** Formats one check. A terminal gets folded lines, a pipe gets one line. */
export function lineOf(
  { state, title, detail }: Pick<ReportedPart, 'state' | 'title' | 'detail'>,
  output: Output,
): string {
  const start = `${markOf(state, output)} ${title.padEnd(titleWidth)}`
  const width = (output.columns ?? 80) - titleWidth - 3
  if (!output.isTTY || width < 30) return `${start}${harmless(detail)}\n`
  return `${start}${folded(harmless(detail), width).join(`\n${' '.repeat(titleWidth + 2)}`)}\n`
}

/** Formats one step of a trial as a line, with its time. */
export function stepLineOf({ of, name, milliseconds, problem }: TrialStep, output: Output): string {
  const labels: Readonly<Record<string, string>> = texts.trial.step
  const title = `${texts.trial.of[of]}: ${labels[name] ?? name}`
  const time = `${(milliseconds / 1000).toFixed(1)} s`
  const detail = problem === undefined ? time : `${time}. ${problem}`
  return lineOf({ state: problem === undefined ? 'green' : 'red', title, detail }, output)
}

/** Removes control characters from foreign text. */
const harmless = (text: string): string => stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}]+/gu, ' ')

/** Splits a text at its spaces into lines of this width. */
function folded(text: string, width: number): string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
