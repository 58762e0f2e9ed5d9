import { setTimeout } from 'node:timers/promises'
import type { RequestState, RequestStore } from '../core/index.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import type { Readings } from './metrics.ts'

/** How long what was read serves, in milliseconds: however many ask, the store is asked no more often. */
const KEPT_MILLISECONDS = 15_000
/** How long a scrape waits for the store. Scrapers give up after ten seconds, and would then have nothing at all. */
const PATIENCE_MILLISECONDS = 2000

/** Reads what the store knows for the figures; undefined when it does not answer in time, which is asked again next time. */
export function createReadings(
  {
    requests,
    queue,
    tenantId,
    states,
  }: {
    requests: Pick<RequestStore, 'countByState'>
    queue: Pick<Queue, 'state'>
    tenantId: string
    /** Those that do not pile up. */
    states: readonly RequestState[]
  },
  now: () => number = () => performance.now(),
): () => Promise<Readings | undefined> {
  let kept: { readonly at: number; readonly readings: Readings } | undefined
  let reading: Promise<Readings | undefined> | undefined
  const read = async (): Promise<Readings> => {
    const [counts, state] = await Promise.all([requests.countByState(tenantId, states), queue.state()])
    const all = Object.fromEntries(states.map((one) => [one, counts[one] ?? 0]))
    const readings = { requests: all, queue: state }
    kept = { at: now(), readings }
    return readings
  }
  return async () => {
    if (kept && now() - kept.at < KEPT_MILLISECONDS) return kept.readings
    // One question at a time, also when an earlier scrape has given up on it.
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return Promise.race([reading, setTimeout(PATIENCE_MILLISECONDS, undefined, { ref: false })])
  }
}
