import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { alike } from './alike.ts'
import type { Block, Example } from './docs-blocks.ts'
import type { PromisedNode } from './promised-nodes.ts'
import { until } from './until.ts'

/** The addresses in a test for local mode's own addresses on the pages. */
export type Addresses = Readonly<Record<string, string>>

/** A terminal in which the blocks of a page run one after another and share their variables. */
export interface Terminal {
  /** Returns the output of the block. Throws with its error output when it fails. */
  run(block: Block): Promise<string>
  /** Starts the block in another terminal. Returns after its first line. */
  keepRunning(block: Block): Promise<void>
  /** Returns the output of the other terminal. */
  other(): string
  close(): Promise<void>
}

/**
 * Divides times such as `sleep 20` and `firstSeconds: 20` by ten: tests do not need real times, and proportions stay
 * the same.
 */
const quick = (text: string): string =>
  text.replace(/\b(sleep |\w+Seconds: )(\d+)/g, (_, what: string, seconds: string) => what + Number(seconds) / 10)

/** Returns a block with the addresses and shorter times of this test. */
const placed = ({ text }: Pick<Block, 'text'>, addresses: Addresses): string =>
  Object.entries(addresses).reduce((now, [shown, real]) => now.replaceAll(shown, real), quick(text))

export function openTerminal(node: PromisedNode, addresses: Addresses, variables: Record<string, string>): Terminal {
  const kept: ChildProcess[] = []
  // Each terminal has its own temporary folder for the files of examples.
  const own = mkdtempSync(join(tmpdir(), 'docs-'))
  let environment: Record<string, string | undefined> = {
    ...{ ...process.env, TMPDIR: own, PATH: node.path },
    ...variables,
  }
  let shown = ''
  return {
    async run(block) {
      if (block.language === 'ts') return finish(runTypeScript(node, placed(block, addresses), environment), block)
      const state = join(mkdtempSync(join(own, 'run-')), 'environment')
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
      rmSync(own, { recursive: true, force: true })
    },
  }
}

const placeOf = ({ page, line }: Block): string => `${page}:${line}`

/** Runs in its own process group, so that its children can be ended with it. */
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

/** Removes ids, times, hosts and codes of people from a printed text, because they differ from run to run. */
export const codeAlike = (text: string): unknown =>
  alike(text.replace(/\b[BCDFGHJKLMNPQRSTVWXZ]{9}\b/g, '<code>').trim())

/** Values that may differ in a repeat, because requests continue in the meantime. */
const moving = new Set(['status', 'resource'])
const isState = (value: unknown): boolean => value === null || ['queued', 'pendingApproval'].includes(String(value))

/** Removes the states that a repeat may have passed from a page's JSON. */
function withoutStates(shown: string): string {
  return JSON.stringify(JSON.parse(shown, (key, value) => (moving.has(key) && isState(value) ? undefined : value)))
}

/**
 * Checks that the output contains everything that the page shows; ids, times and hosts may differ. `isAgain`: the
 * example has run before, so requests may have ended.
 */
export function expectShown({ block, answer }: Example, printed: string, isAgain = false): void {
  if (answer === undefined) return
  const expectJson = (text: string, shown: string) => expectWithin(text, isAgain ? withoutStates(shown) : shown, place)
  const place = `${block.page}:${answer.line}`
  if (answer.language === 'text') expect(codeAlike(printed), place).toEqual(codeAlike(answer.text))
  else if (answer.language === 'json') expectJson(printed, answer.text)
  else {
    const [actual, shown] = [partsOf(printed), partsOf(answer.text)]
    const [status, ...headers] = shown.head
    expect(actual.head[0], place).toBe(status)
    expect(alike(actual.head), place).toEqual(expect.arrayContaining(Object(alike(headers))))
    if (shown.body !== '') expectJson(actual.body, shown.body)
  }
}

const expectWithin = (printed: string, shown: string, place: string): void =>
  expect(alike(JSON.parse(printed)), place).toMatchObject(Object(alike(JSON.parse(shown))))

/** Splits a text into status line, headers and body. Names of headers may have any letter case. */
function partsOf(text: string): { head: string[]; body: string } {
  const [head = '', body = ''] = text
    .trim()
    .replaceAll('\r\n', '\n')
    .split(/\n\n([\s\S]*)/)
  const [status = '', ...headers] = head.split('\n')
  const lower = headers.map((one) => one.replace(/^[^:]+/, (name) => name.toLowerCase()).replace(/; charset=.*/, ''))
  return { head: [status, ...lower], body }
}
