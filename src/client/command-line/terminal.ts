import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { distance } from 'fastest-levenshtein'

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }
type Input = Readable & { readonly isTTY?: boolean }

export interface Streams {
  readonly input: Input
  readonly output: Output
  readonly errors: Output
}

/** Writes results to `output` and everything else to `errors`, so that pipes contain only results. */
export interface Terminal {
  readonly streams: Streams
  readonly json: boolean
  /** A person can answer questions. */
  readonly isInteractive: boolean
  readonly isLive: boolean
  readonly columns: number
  /** Writes a result: lines for people, a value for `--json`. Control characters are removed or escaped. */
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
 * Matches characters on which a terminal acts: control characters (C0 with escape sequences, delete, C1) and marks that
 * change the direction of text. Names come from other people.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds them
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Returns foreign text as one harmless line. */
export const clean = (text: string): string => text.replace(/\s*[\r\n\t]+\s*/g, ' ').replace(obeyed, '\ufffd')

/** Returns our own line with our styles, but without other control characters. */
const harmless = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles are kept
    .split(/(\u001b\[\d{1,2}m|\n)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(obeyed, '\ufffd')))
    .join('')

/** JSON in one line. Control characters are written as JSON escapes, so the value stays the same. */
export const harmlessJson = (value: unknown): string =>
  JSON.stringify(value).replace(obeyed, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The exit codes: a contract with scripts, shown by `--help` and never renumbered. */
export const exitCodes = {
  done: 0,
  /** The awaited request failed, was rejected, has expired or was cancelled; or the tested webhook was not accepted. */
  cameToNothing: 1,
  /** The command line, a setting or a file is wrong; nothing was sent. */
  usage: 2,
  /** Nobody is signed in, or signing in failed. */
  notSignedIn: 3,
  /** The service refused the call because of a field, a permission or the status. */
  refused: 4,
  /** The service, the login or the directory does not answer, or is too busy. */
  unavailable: 5,
  /** The time to wait is over, and the request has not ended. */
  stillUnderWay: 6,
  /** A defect of the command line itself (EX_SOFTWARE of sysexits.h). */
  defect: 70,
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
export type ExitName = keyof typeof exitCodes

/**
 * An error in the command line, a setting or a file; nothing was sent. Ends the process with {@link exitCodes.usage}.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help says more. */
  readonly command: string | undefined
  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** The caller can see nothing of this name. Ends the process with {@link exitCodes.refused}. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError'
}

/** All texts of the command line. Read as a file, because Node 20 warns about imported JSON. */
export const texts: typeof import('../strings/en.json', { with: { type: 'json' }}) = createRequire(import.meta.url)(
  '../strings/en.json',
)

/** Fills in the placeholders of a text: `{name}`. A placeholder without a value stays, so that tests see it. */
export const fill = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (blank, name: string) => String(values[name] ?? blank))

/** The nearest name by edit distance, if few letters differ. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const ranked = names.map((name) => ({ name, off: distance(typed.toLowerCase(), name.toLowerCase()) }))
  const [best] = ranked.sort((one, other) => one.off - other.off)
  return best && best.off <= Math.max(1, Math.floor(typed.length / 3)) ? best.name : undefined
}
