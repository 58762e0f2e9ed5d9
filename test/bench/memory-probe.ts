import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loaded by `--import` into a process that is measured: on SIGUSR2 it collects all garbage, and prints the memory before
 * and after as one line, `memory {…}`. Bytes.
 */
export interface Memory {
  /** The resident set before the collection: what the operating system counts. */
  readonly resident: number
  /** JavaScript objects that survive the collection. */
  readonly heap: number
  /** Arrays outside of the heap that survive the collection, without PostgreSQL's memory, which only grows to its size. */
  readonly arrays: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGUSR2', () => {
  const resident = process.memoryUsage.rss()
  collect()
  collect()
  const { heapUsed: heap, arrayBuffers: arrays } = process.memoryUsage()
  process.stdout.write(`memory ${JSON.stringify({ resident, heap, arrays } satisfies Memory)}\n`)
})
