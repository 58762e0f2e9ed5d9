import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bareEnvironment } from './bare-environment.ts'

/** An entry point of the product in a process of its own. */
export interface ProductProcess {
  readonly pid: number | undefined
  /** Every line that it printed until now. */
  readonly printed: readonly string[]
  /** Asks it to stop (SIGTERM), and gives the code that it ended with; null when it had to be killed after 15 s. */
  stop(): Promise<number | null>
  /** Ends it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>
}

interface ProcessOptions {
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** A line that says that it is up. */
  readonly up: RegExp
  /** Another user to run as; only root can. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/**
 * Runs `node src/<entry>`, or the program at an absolute path, with exactly these variables, and waits for a line that says it is up. It runs in `cwd`, so
 * that no `.env` of a developer reaches it. What it complains of is in the error when it ends before.
 */
export function startProduct(entry: string, options: ProcessOptions): Promise<ProductProcess> {
  const path = fileURLToPath(new URL(entry, new URL('../../src/', import.meta.url)))
  return startProcess([process.execPath, path], options)
}

/** The same for any command. */
export async function startProcess(command: readonly string[], options: ProcessOptions): Promise<ProductProcess> {
  const [file = '', ...words] = command
  const env = { ...bareEnvironment, ...options.variables }
  const child = spawn(file, words, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...options.user })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const printed: string[] = []
  let complaints = ''
  child.stderr.on('data', (data) => {
    complaints += String(data)
    if (process.env['TEST_LOG_LEVEL']) process.stderr.write(data)
  })
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => printed.push(line))
  const ended = once(child, 'close').then(() => {
    process.removeListener('exit', endWithUs)
  })
  const isUp = () => printed.some((line) => options.up.test(line))
  while (!isUp()) {
    const goesOn = await Promise.race([once(lines, 'line').then(() => true), ended.then(() => false)])
    if (!goesOn && !isUp()) throw new Error(`${command.join(' ')} ended: ${complaints}`)
  }
  return {
    pid: child.pid,
    printed,
    async stop() {
      child.kill('SIGTERM')
      const tooLong = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await ended
      clearTimeout(tooLong)
      return child.exitCode
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
