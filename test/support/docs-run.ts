import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { alike } from './alike.ts'
import type { Block, Example } from './docs-blocks.ts'
import type { PromisedNode } from './promised-nodes.ts'
import { until } from './until.ts'

/** Where what the pages call by local mode's own addresses is in a test. */
export type Addresses = Readonly<Record<string, string>>

/** A terminal in which the blocks of a page run one after the other and share their variables. */
export interface Terminal {
  /** What the block prints; throws with what it complains of when it fails. */
  run(block: Block): Promise<string>
  /** Starts what the block starts, in another terminal; comes back when it has printed a line. */
  keepRunning(block: Block): Promise<void>
  /** All that the other terminal shows. */
  other(): string
  close(): Promise<void>
}

/** `sleep 20` and `firstSeconds: 20` take a tenth: a test has no need of the real time, and the steps stay in proportion. */
const quick = (text: string): string =>
  text.replace(/\b(sleep |\w+Seconds: )(\d+)/g, (_, what: string, seconds: string) => what + Number(seconds) / 10)

/** A block as it runs here: the addresses of this test, and time in small. */
const placed = ({ text }: Pick<Block, 'text'>, addresses: Addresses): string =>
  Object.entries(addresses).reduce((now, [shown, real]) => now.replaceAll(shown, real), quick(text))

export function openTerminal(node: PromisedNode, addresses: Addresses, variables: Record<string, string>): Terminal {
  const kept: ChildProcess[] = []
  // What an example keeps in the temporary folder is this terminal's own.
  const own = { TMPDIR: mkdtempSync(join(tmpdir(), 'docs-')) }
  let environment: Record<string, string | undefined> = { ...process.env, ...own, PATH: node.path, ...variables }
  let shown = ''
  return {
    async run(block) {
      if (block.language === 'ts') return finish(runTypeScript(node, placed(block, addresses), environment), block)
      const state = join(mkdtempSync(join(tmpdir(), 'docs-')), 'environment')
      const script = `set -eu -o pipefail -a\n${placed(block, addresses)}\nenv -0 > '${state}'\n`
      const printed = await finish(runShell(script, environment), block)
      environment = Object.fromEntries(
        readFileSync(state, 'utf8')
          .split('\0')
          .filter((one) => one.includes('='))
          .map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
      )
      return printed
    },
    async keepRunning(block) {
      const child = runShell(placed(block, addresses), environment, true)
      kept.push(child)
      child.stdout?.on('data', (data) => {
        shown += String(data)
      })
      let complaints = ''
      child.stderr?.on('data', (data) => {
        complaints += String(data)
      })
      await until(
        async () => {
          if (child.exitCode !== null) throw new Error(`${placeOf(block)} ended: ${complaints}`)
          return shown.includes('\n') || undefined
        },
        `${placeOf(block)} to print a line`,
      )
    },
    other: () => shown,
    async close() {
      for (const child of kept) {
        if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue
        const ended = once(child, 'close')
        process.kill(-child.pid, 'SIGKILL')
        await ended
      }
    },
  }
}

const placeOf = ({ page, line }: Block): string => `${page}:${line}`

/** In a group of its own, so that what it has started can be ended with it. */
const runShell = (script: string, env: Record<string, string | undefined>, detached = false): ChildProcess =>
  spawn('bash', ['-c', script], { env, detached, stdio: ['ignore', 'pipe', 'pipe'] })

function runTypeScript(node: PromisedNode, program: string, env: Record<string, string | undefined>): ChildProcess {
  const child = spawn(node.command, [node.flag, '-'], { cwd: node.folder(), env })
  child.stdin.end(node.program(program))
  return child
}

async function finish(child: ChildProcess, block: Block): Promise<string> {
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  let [printed, complaints] = ['', '']
  child.stdout?.on('data', (data) => {
    printed += String(data)
  })
  child.stderr?.on('data', (data) => {
    complaints += String(data)
  })
  const [code] = await once(child, 'close')
  process.removeListener('exit', endWithUs)
  if (code !== 0) throw new Error(`${placeOf(block)} ended with ${code}: ${complaints || printed}`)
  return printed
}

/** A printed text without ids, times, hosts and codes of people, which differ from run to run. */
export const codeAlike = (text: string): unknown =>
  alike(text.replace(/\b[BCDFGHJKLMNPQRSTVWXZ]{9}\b/g, '<code>').trim())

/** What a repeat may show differently: a request has gone on meanwhile. */
const moving = new Set(['status', 'resource'])
const isState = (value: unknown): boolean => value === null || ['queued', 'pendingApproval'].includes(String(value))

/** JSON of a page without the states that a repeat finds passed. */
function withoutStates(shown: string): string {
  return JSON.stringify(JSON.parse(shown, (key, value) => (moving.has(key) && isState(value) ? undefined : value)))
}

/**
 * Holds what was printed against what the page shows: all that is shown has to be there; ids, times and hosts differ. `isAgain`:
 * the example has run before, so requests may have ended.
 */
export function expectShown({ block, answer }: Example, printed: string, isAgain = false): void {
  if (answer === undefined) return
  const expectJson = (text: string, shown: string) => expectWithin(text, isAgain ? withoutStates(shown) : shown, place)
  const place = `${block.page}:${answer.line}`
  if (answer.language === 'text') expect(codeAlike(printed), place).toEqual(codeAlike(answer.text))
  else if (answer.language === 'json') expectJson(printed, answer.text)
  else {
    const [given, shown] = [partsOf(printed), partsOf(answer.text)]
    const [status, ...headers] = shown.head
    expect(given.head[0], place).toBe(status)
    expect(alike(given.head), place).toEqual(expect.arrayContaining(Object(alike(headers))))
    if (shown.body !== '') expectJson(given.body, shown.body)
  }
}

const expectWithin = (printed: string, shown: string, place: string): void =>
  expect(alike(JSON.parse(printed)), place).toMatchObject(Object(alike(JSON.parse(shown))))

/** A status line, headers and a body. Names of headers are in any case. */
function partsOf(text: string): { head: string[]; body: string } {
  const [head = '', body = ''] = text
    .trim()
    .replaceAll('\r\n', '\n')
    .split(/\n\n([\s\S]*)/)
  const [status = '', ...headers] = head.split('\n')
  const lower = headers.map((one) => one.replace(/^[^:]+/, (name) => name.toLowerCase()).replace(/; charset=.*/, ''))
  return { head: [status, ...lower], body }
}
