import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { runCommandLine } from '../../src/client/command-line/run.ts'
import { bareEnvironment } from './bare-environment.ts'
import { people } from './teams-user.ts'
import { until } from './until.ts'

/** What a command line came to. */
export interface Outcome {
  readonly exit: number
  /** What it printed as its result, and what it told beside that. */
  readonly printed: string
  readonly told: string
}

export interface RunOptions {
  readonly home: string
  readonly variables?: Record<string, string>
  /** What comes in by standard input, until it ends. */
  readonly input?: string
  readonly signal?: AbortSignal
  readonly fetch?: typeof fetch
  /** Somebody at a terminal: what is printed until now goes in, what they type comes out. */
  readonly typing?: (told: string) => string | undefined
}

/** A folder for settings and tokens that is gone after the test. */
export function newHome(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'quartermaster-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Runs a command line in this process, with streams of its own. */
export async function runQuartermaster(args: readonly string[], options: RunOptions): Promise<Outcome> {
  const { streams, printed, told } = streamsFor(options.typing)
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
  return { exit, printed: printed(), told: told() }
}

/** Streams of a command, with or without a person at a terminal. */
export function streamsFor(typing?: (told: string) => string | undefined) {
  const isTerminal = typing !== undefined
  const streams = { input: terminal(isTerminal), output: terminal(isTerminal), errors: terminal(isTerminal) }
  const [printed, told] = [collected(streams.output), collected(streams.errors)]
  if (typing) answerQuestions(streams, told, typing)
  return { streams, printed, told }
}

/** Like the streams of a process, which a prompt does not end: `pipe` knows them by `_isStdio`. */
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
 * Types an answer whenever a question waits for one: the question begins with `?` until it is answered, and shows what was typed
 * until that is refused.
 */
function answerQuestions(
  { input, errors }: { input: PassThrough; errors: PassThrough },
  told: () => string,
  typing: (told: string) => string | undefined,
): void {
  let [answered, typed] = [0, '']
  errors.on('data', () => {
    // A question is drawn in parts; it is whole when nothing more comes.
    setImmediate(() => {
      const text = told()
      // Each drawing begins where the cursor goes back to the first column.
      const lines = stripVTControlCharacters(text.slice(answered).split('\u001b[G').at(-1) ?? '').split('\n')
      const drawn = lines.slice(lines.findLastIndex((line) => line.startsWith('? ')))
      const [question = ''] = drawn
      const isRefused = drawn.some((line) => line.startsWith('> '))
      // What was typed stands behind the question, perhaps over two lines.
      const isTyped = typed !== '' && (question.endsWith(typed) || drawn.join('').endsWith(typed))
      if (!question.startsWith('? ') || (isTyped && !isRefused)) return
      const line = typing(question)
      if (line === undefined) return
      ;[answered, typed] = [text.length, line]
      input.write(`${line}\n`)
    })
  })
}

/** What a person does in the browser: opens the page, types the code, chooses who they are. */
export async function answerCode(page: string, code: string, who: keyof typeof people, answer: 'allow' | 'decline') {
  const form = await (await fetch(page)).text()
  if (!form.includes(people[who].name)) throw new Error('the page does not offer this person')
  const body = new URLSearchParams({ user_code: code, person: people[who].id, answer })
  const response = await fetch(page, { method: 'POST', body })
  if (!response.ok) throw new Error(`the page answered ${response.status}`)
}

/** Signs somebody in by `quartermaster login`, with more flags if given, by the page and the code that it shows. */
export async function signIn(
  home: string,
  baseUrl: string,
  who: keyof typeof people,
  flags: readonly string[] = [],
): Promise<Outcome> {
  const streams = { input: terminal(false), output: terminal(false), errors: terminal(false) }
  const [printed, told] = [collected(streams.output), collected(streams.errors)]
  const running = runCommandLine({
    args: ['login', '--base-url', baseUrl, ...flags],
    variables: { QUARTERMASTER_HOME: home },
    streams,
    platform: process.platform,
    home,
    signal: new AbortController().signal,
    fetch,
  })
  const shown = await until(async () => /Open (\S+) .* code ([A-Z]+)\./.exec(told()) ?? undefined, 'a code')
  await answerCode(shown[1] ?? '', shown[2] ?? '', who, 'allow')
  return { exit: await running, printed: printed(), told: told() }
}

/** `quartermaster …` as a process. */
export function startQuartermaster(args: readonly string[], home: string, variables: Record<string, string> = {}) {
  const path = fileURLToPath(new URL('../../src/client/cli.ts', import.meta.url))
  const env = { ...bareEnvironment, QUARTERMASTER_HOME: home, ...variables }
  return watchProcess(spawn(process.execPath, [path, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] }))
}

/** A process with all that it says. */
export function watchProcess(child: ChildProcess) {
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  let [printed, told] = ['', '']
  child.stdout?.on('data', (data) => {
    printed += String(data)
  })
  child.stderr?.on('data', (data) => {
    told += String(data)
  })
  const ended = once(child, 'close').then((): Outcome => {
    process.removeListener('exit', endWithUs)
    return { exit: child.exitCode ?? -1, printed, told }
  })
  return { child, ended, printed: () => printed, told: () => told }
}
