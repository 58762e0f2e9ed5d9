import { setTimeout } from 'node:timers/promises'
import { queryObjects } from 'node:v8'

/** The memory of this process, by counts instead of sizes. */
interface Held {
  /** Objects that survive a garbage collection: entries of caches consist of them, or are in maps of them. */
  readonly objects: number
  readonly sockets: number
  readonly timers: number
}

/** Counts surviving objects after pending work has settled. Collects the garbage first. */
async function held(): Promise<Held> {
  await setTimeout(300)
  const resources = process.getActiveResourcesInfo()
  const of = (name: string) => resources.filter((one) => one === name).length
  return {
    objects: queryObjects(Object, { format: 'count' }),
    sockets: of('TCPSocketWrap'),
    timers: of('Timeout'),
  }
}

/**
 * Returns everything that has grown with the calls, as sentences. Data that is kept for each call consists of at least
 * one object. The runtime's own variation was at most 600 here, for any number of calls, so half an object a call
 * separates the two.
 */
function growth(start: Held, end: Held, calls: number): string[] {
  const most: Held = { objects: calls / 2, sockets: 2 * atOnce, timers: 2 * atOnce }
  return (['objects', 'sockets', 'timers'] as const)
    .filter((what) => end[what] - start[what] > most[what])
    .map((what) => `${what}: ${start[what]}, after ${calls} calls ${end[what]}`)
}

/** Number of concurrent calls in `repeatedly`. */
const atOnce = 16

/**
 * Repeats work, a few calls at once, so that not every call opens a connection. Repeats a failed call once: a
 * connection may be closed as idle at the moment of its use.
 */
export async function repeatedly(times: number, work: (round: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < times) {
      next += 1
      const round = next
      await work(round).catch(() => work(round))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/**
 * Returns the data that is kept for each call, as sentences. Work that starts in the meantime, such as queue
 * maintenance, grows once; data that is kept for each call grows again with as many further calls.
 */
export async function keptOf(calls: number, work: (round: number) => Promise<void>): Promise<string[]> {
  const start = await held()
  await repeatedly(calls, work)
  const end = await held()
  if (growth(start, end, calls).length === 0) return []
  await repeatedly(calls, work)
  return growth(end, await held(), calls)
}
