import { setTimeout } from 'node:timers/promises'
import { queryObjects } from 'node:v8'

/** What this process holds on to, by counting and not by weighing. */
interface Held {
  /** Objects that a collection of garbage leaves: entries of caches are made of them, or are in maps that are. */
  readonly objects: number
  readonly sockets: number
  readonly timers: number
}

/** Counts what is held now, when what just ended has settled. Collects the garbage first. */
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
 * What has grown with the calls, in words. Anything that is kept of each call is at least one object; the runtime's own ups
 * and downs were up to 600 here, however many calls there were, so half an object a call tells the two apart.
 */
function growth(start: Held, end: Held, calls: number): string[] {
  const most: Held = { objects: calls / 2, sockets: 2 * atOnce, timers: 2 * atOnce }
  return (['objects', 'sockets', 'timers'] as const)
    .filter((what) => end[what] - start[what] > most[what])
    .map((what) => `${what}: ${start[what]}, after ${calls} calls ${end[what]}`)
}

/** How many calls are under way in `repeatedly`. */
const atOnce = 16

/**
 * Does something so many times, a few at once, so that no connection is opened for each. What fails once is done again: a
 * connection may be closed as idle in the moment in which it is used.
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
 * What is kept of each call, in words. What begins meanwhile and goes on, such as the upkeep of the queue, grows once; what is
 * kept of each call grows again with as many more.
 */
export async function keptOf(calls: number, work: (round: number) => Promise<void>): Promise<string[]> {
  const start = await held()
  await repeatedly(calls, work)
  const end = await held()
  if (growth(start, end, calls).length === 0) return []
  await repeatedly(calls, work)
  return growth(end, await held(), calls)
}
