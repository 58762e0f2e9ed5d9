import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bareEnvironment } from './bare-environment.ts'

/** An entry point of the product in its own process. */
export interface ProductProcess {
  readonly pid: number | undefined
  /** The lines printed so far. */
  readonly printed: readonly string[]
  /** Stops the process (SIGTERM), and returns its exit code; null when it had to be killed after 15 s. */
  stop(): Promise<number | null>
  /** Kills the process like a power cut, and waits until it has ended. */
  kill(): Promise<void>
}

interface ProcessOptions {
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** Matches the line that the process prints when it is ready. */
  readonly up: RegExp
  /** Flags of Node, for the product. */
  readonly flags?: readonly string[]
  /** Another user for the process; only root can set it. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/**
 * Runs `node src/<entry>`, or the program at an absolute path, with exactly these variables, and waits until it prints
 * that it is ready. It runs in `cwd`, so that a developer's `.env` has no effect. If it ends before, the error contains
 * its error output.
 */
export function startProduct(entry: string, options: ProcessOptions): Promise<ProductProcess> {
  const path = fileURLToPath(new URL(entry, new URL('../../src/', import.meta.url)))
  return startProcess([process.execPath, ...(options.flags ?? []), path], options)
}

/** Starts any command in the same way. */
export async function startProcess(command: readonly string[], options: ProcessOptions): Promise<ProductProcess> {
  const [file = '', ...args] = command
  const env = { ...bareEnvironment, ...options.variables }
  const child = spawn(file, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...options.user })
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
