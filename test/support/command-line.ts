import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { inject } from 'vitest'
import { runCommandLine } from '../../src/client/command-line/run.ts'
import { bareEnvironment } from './bare-environment.ts'
import { people } from './teams-user.ts'
import { until } from './until.ts'

/** The result of a command line. */
export interface Outcome {
  readonly exit: number
  /** Its result on standard output, and its messages on standard error. */
  readonly printed: string
  readonly errorText: string
}

export interface RunOptions {
  readonly home: string
  readonly variables?: Record<string, string>
  /** The standard input, until its end. */
  readonly input?: string
  readonly signal?: AbortSignal
  readonly fetch?: typeof fetch
  /** A person at a terminal: receives the text printed so far, and returns the typed text. */
  readonly typing?: (errorText: string) => string | undefined
}

/** Creates a folder for settings and tokens. Returns its path. It is removed after the run of the tests. */
export const newHome = (): string => mkdtempSync(join(inject('runFolder'), 'home-'))

/** Runs a command line in this process, with its own streams. */
export async function runQuartermaster(args: readonly string[], options: RunOptions): Promise<Outcome> {
  const { streams, printed, errorText } = streamsFor(options.typing)
  if (!options.typing) streams.input.end(options.input ?? '')
  const exit = await runCommandLine({
    args,
    variables: { QUARTERMASTER_HOME: options.home, NO_COLOR: '1', ...options.variables },
    streams,
    platform: process.platform,
    home: options.home,
    signal: options.signal ?? new AbortController().signal,
    fetch: options.fetch ?? fetch,
  })
  return { exit, printed: printed(), errorText: errorText() }
}

/** Creates the streams of a command, with or without a person at a terminal. */
export function streamsFor(typing?: (errorText: string) => string | undefined) {
  const isTerminal = typing !== undefined
  const streams = { input: terminal(isTerminal), output: terminal(isTerminal), errors: terminal(isTerminal) }
  const [printed, errorText] = [collected(streams.output), collected(streams.errors)]
  if (typing) answerQuestions(streams, errorText, typing)
  return { streams, printed, errorText }
}

/** Like the streams of a process, which a prompt does not end: `pipe` recognises them by `_isStdio`. */
const terminal = (isTTY: boolean): PassThrough & { isTTY: boolean; columns: number } =>
  Object.assign(new PassThrough(), { isTTY, columns: 80, _isStdio: true })

function collected(stream: PassThrough): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}

/**
 * Types an answer to each question. A question begins with `?` until it is answered, and shows the typed text until
 * that text is refused.
 */
function answerQuestions(
  { input, errors }: { input: PassThrough; errors: PassThrough },
  errorText: () => string,
  typing: (errorText: string) => string | undefined,
): void {
  let [answered, typed] = [0, '']
  errors.on('data', () => {
    // A question is drawn in parts. It is complete when no more output follows.
    setImmediate(() => {
      const text = errorText()
      // Each drawing begins where the cursor returns to the first column.
      const lines = stripVTControlCharacters(text.slice(answered).split('\u001b[G').at(-1) ?? '').split('\n')
      const drawn = lines.slice(lines.findLastIndex((line) => line.startsWith('? ')))
      const [question = ''] = drawn
      const isRefused = drawn.some((line) => line.startsWith('> '))
      // The typed text follows the question, perhaps over two lines.
      const isTyped = typed !== '' && (question.endsWith(typed) || drawn.join('').endsWith(typed))
      if (!question.startsWith('? ') || (isTyped && !isRefused)) return
      const line = typing(question)
      if (line === undefined) return
      ;[answered, typed] = [text.length, line]
      input.write(`${line}\n`)
    })
  })
}

/** Completes the sign-in in the browser: opens the page, enters the code, chooses the person. */
export async function answerCode(page: string, code: string, who: keyof typeof people, answer: 'allow' | 'decline') {
  const form = await (await fetch(page)).text()
  if (!form.includes(people[who].name)) throw new Error('the page does not offer this person')
  const body = new URLSearchParams({ user_code: code, person: people[who].id, answer })
  const response = await fetch(page, { method: 'POST', body })
  if (!response.ok) throw new Error(`the page answered ${response.status}`)
}

/** Signs a person in with `quartermaster login` and more flags, by the page and the code that it shows. */
export async function signIn(
  home: string,
  baseUrl: string,
  who: keyof typeof people,
  flags: readonly string[] = [],
): Promise<Outcome> {
  const streams = { input: terminal(false), output: terminal(false), errors: terminal(false) }
  const [printed, errorText] = [collected(streams.output), collected(streams.errors)]
  const running = runCommandLine({
    args: ['login', '--base-url', baseUrl, ...flags],
    variables: { QUARTERMASTER_HOME: home },
    streams,
    platform: process.platform,
    home,
    signal: new AbortController().signal,
    fetch,
  })
  const shown = await until(async () => /Open (\S+) .* code ([A-Z]+)\./.exec(errorText()) ?? undefined, 'a code')
  await answerCode(shown[1] ?? '', shown[2] ?? '', who, 'allow')
  return { exit: await running, printed: printed(), errorText: errorText() }
}

/** Starts `quartermaster …` as a process. */
export function startQuartermaster(args: readonly string[], home: string, variables: Record<string, string> = {}) {
  const path = fileURLToPath(new URL('../../src/client/cli.ts', import.meta.url))
  const env = { ...bareEnvironment, QUARTERMASTER_HOME: home, ...variables }
  return watchProcess(spawn(process.execPath, [path, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] }))
}

/** Collects the output of a process. */
export function watchProcess(child: ChildProcess) {
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  let [printed, errorText] = ['', '']
  child.stdout?.on('data', (data) => {
    printed += String(data)
  })
  child.stderr?.on('data', (data) => {
    errorText += String(data)
  })
  const ended = once(child, 'close').then((): Outcome => {
    process.removeListener('exit', endWithUs)
    return { exit: child.exitCode ?? -1, printed, errorText }
  })
  return { child, ended, printed: () => printed, errorText: () => errorText }
}
