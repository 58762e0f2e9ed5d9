import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { limitMemory } from './memory-limit.ts'

/**
 * Loaded by `--import` into a process that is measured: on SIGUSR2 it collects all garbage, and prints the memory before
 * and after as one line, `memory {…}`. `PROBE_MEMORY_LIMIT` is the most memory that the process may have. Bytes.
 */
export interface Memory {
  /** The resident set before the collection: what the operating system counts. */
  readonly resident: number
  /** JavaScript objects that survive the collection. */
  readonly heap: number
  /** Arrays outside of the heap that survive the collection, without PostgreSQL's memory, which only grows to its size. */
  readonly arrays: number
}

const limit = Number(process.env['PROBE_MEMORY_LIMIT'] ?? 0)
if (limit > 0) {
  // The kernel counts for the group only what is allocated from now on.
  const problem = limitMemory(process.pid, limit - process.memoryUsage.rss())
  if (problem !== undefined) process.stdout.write(`not limited: ${problem}\n`)
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
