import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Child {
  readonly pid: number
  /** Settles when it is gone. */
  readonly ended: Promise<unknown>
  /** The next so many lines that it prints; throws with what it said when it ends before. */
  lines(count: number): Promise<string[]>
  /** Ends it as a power cut would, and returns every line it printed. */
  kill(): Promise<string[]>
}

/** Starts a script of this folder in a process of its own. */
export function startChild(script: string, ...words: string[]): Child {
  const path = fileURLToPath(new URL(`./${script}`, import.meta.url))
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [path, ...words])
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
