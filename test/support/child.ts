import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Child {
  readonly pid: number
  /** Settles when the process has ended. */
  readonly ended: Promise<unknown>
  /** Returns the next lines that it prints. Throws with its error output when it ends before. */
  lines(count: number): Promise<string[]>
  /** Kills the process like a power cut, and returns every line that it printed. */
  kill(): Promise<string[]>
}

/** Starts a script of this folder in its own process. */
export function startChild(script: string, ...args: string[]): Child {
  const path = fileURLToPath(new URL(`./${script}`, import.meta.url))
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [path, ...args])
  const printed: string[] = []
  let complaints = ''
  child.stderr.on('data', (data) => {
    complaints += String(data)
  })
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => printed.push(line))
  const ended = Promise.all([once(child, 'close'), once(lines, 'close')])
  return {
    pid: child.pid ?? -1,
    ended,
    async lines(count) {
      while (printed.length < count) {
        const more = await Promise.race([once(lines, 'line').then(() => true), ended.then(() => false)])
        if (!more) throw new Error(`The process ended: ${complaints}`)
      }
      return printed
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
      return printed
    },
  }
}
