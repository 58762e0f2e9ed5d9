import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { distance } from 'fastest-levenshtein'

/** A stream that may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }
type Input = Readable & { readonly isTTY?: boolean }

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

/** What the process ends with: a contract with scripts, told by `--help` and never renumbered. */
export const exitCodes = {
  /** It is done. */
  done: 0,
  /** The request that was waited for failed, was rejected, has expired or was cancelled; or the webhook that was tried was not taken. */
  cameToNothing: 1,
  /** The command line, a setting or a file is not right; nothing was sent. */
  usage: 2,
  /** Nobody is signed in, or signing in came to nothing. */
  notSignedIn: 3,
  /** The service said no: a field, a right, a state. */
  refused: 4,
  /** The service, the login or the directory does not answer, or is too busy. */
  unavailable: 5,
  /** The time to wait is over, and the request is still under way. */
  stillUnderWay: 6,
  /** A defect of the command line itself (EX_SOFTWARE of sysexits.h). */
  defect: 70,
  /** Ctrl-C. */
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
export type ExitName = keyof typeof exitCodes

/** What cannot be done as it was requested: nothing was sent. Ends the process with {@link exitCodes.usage}. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help says more. */
  readonly command: string | undefined
  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** Nothing of this name is among what the caller may see. Ends the process with {@link exitCodes.refused}. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError'
}

/** All texts of the command line. Read as a file: Node 20 warns of JSON that is imported. */
export const texts: typeof import('../strings/en.json', { with: { type: 'json' }}) = createRequire(import.meta.url)(
  '../strings/en.json',
)

/** A sentence with its blanks filled in: `{name}`. A blank without a value stays as it is, and so is seen in tests. */
export const fill = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (blank, name: string) => String(values[name] ?? blank))

/** What somebody probably meant: the name that differs in the fewest letters, if it differs in few. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const ranked = names.map((name) => ({ name, off: distance(typed.toLowerCase(), name.toLowerCase()) }))
  const [best] = ranked.sort((one, other) => one.off - other.off)
  return best && best.off <= Math.max(1, Math.floor(typed.length / 3)) ? best.name : undefined
}
