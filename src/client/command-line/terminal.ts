import type { Readable, Writable } from 'node:stream'

/** A stream that may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }
export type Input = Readable & { readonly isTTY?: boolean }

export interface Streams {
  readonly input: Input
  readonly output: Output
  readonly errors: Output
}

/** How a command speaks: results to `output`, everything else to `errors`, so that pipes carry results alone. */
export interface Terminal {
  readonly streams: Streams
  /** Results are JSON. */
  readonly json: boolean
  /** A person sits at it, who can be asked. */
  readonly isInteractive: boolean
  /** The last line can be drawn over. */
  readonly isLive: boolean
  readonly columns: number
  /** A result: lines for people, a value for `--json`. What comes from elsewhere is made harmless here. */
  result(value: unknown, lines: readonly string[]): void
  line(text: string): void
  note(text: string): void
  style(style: Style, text: string): string
}
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow'
const escapes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
}

export function createTerminal(streams: Streams, options: { json: boolean; colours: boolean }): Terminal {
  const { input, output, errors } = streams
  const { json } = options
  const colours = options.colours && output.isTTY === true && !json
  const line = (text: string) => void output.write(`${harmless(text)}\n`)
  return {
    streams,
    json,
    isInteractive: input.isTTY === true && errors.isTTY === true && !json,
    isLive: output.isTTY === true && !json,
    columns: Math.max(20, output.columns || 80),
    result(value, lines) {
      if (json) output.write(`${harmlessJson(value)}\n`)
      else for (const each of lines) line(each)
    },
    line,
    note: (text) => void errors.write(`${harmless(text)}\n`),
    style(style, text) {
      const [on, off] = escapes[style]
      return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text
    },
  }
}

/**
 * What a terminal would obey instead of showing: control characters (C0 with escape sequences, delete, C1) and marks that
 * change the direction of text. Names come from other people.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text of others as one line that can do nothing to a terminal. */
export const clean = (text: string): string => text.replace(/\s*[\r\n\t]+\s*/g, ' ').replace(obeyed, '\ufffd')

/** A line of ours, with styles of ours in it and nothing else that a terminal obeys. */
const harmless = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles are kept
    .split(/(\u001b\[\d{1,2}m|\n)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(obeyed, '\ufffd')))
    .join('')

/** JSON in one line; what a terminal would obey is written as JSON escapes, so that the value stays what it is. */
export const harmlessJson = (value: unknown): string =>
  JSON.stringify(value).replace(obeyed, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
