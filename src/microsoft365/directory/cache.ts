import { z } from 'zod'
import { lineOf, originNow, within } from '../../core/index.ts'
import type { Graph, UserEntry } from '../wire/index.ts'
import { usersOf } from './people.ts'

/** How long an answer is kept. The rights of a removed member end within this minute. Milliseconds. */
const aMinute = 60_000
/** Maximum number of answers, and of "not found" separately, so that unknown ids never replace known people. */
const keptEntries = 5_000

/**
 * Caches answers for a minute or for `keptMilliseconds`, including "not found" (`undefined`) but no errors; `fresh`
 * skips the cache. Concurrent requests of one caller share one answer. Different callers do not share pending requests:
 * a request waits in its caller's line, and a flood of one caller must not delay another.
 */
export function createCache<T>(
  now: () => number = Date.now,
  keptMilliseconds = aMinute,
): (key: string, load: () => Promise<T>, fresh?: boolean) => Promise<T> {
  const found = createEntries<T>()
  const missing = createEntries<T>()
  const pending = new Map<string, Promise<T>>()
  const fetched = async (key: string, load: () => Promise<T>): Promise<T> => {
    // The period starts before the request: an answer may be old when it arrives.
    const until = now() + keptMilliseconds
    // Other calls may wait for this answer, so an abandoned call must not cancel it.
    const value = await within({ abandoned: undefined }, load)
    const [into, outOf] = value === undefined ? [missing, found] : [found, missing]
    outOf.delete(key)
    into.put(key, { value, until })
    return value
  }
  return (key, load, fresh = false) => {
    const known = found.get(key) ?? missing.get(key)
    if (!fresh && known && known.until > now()) return Promise.resolve(known.value)
    if (fresh) return fetched(key, load)
    const requestKey = `${lineOf(originNow())} ${key}`
    const running = pending.get(requestKey) ?? fetched(key, load).finally(() => pending.delete(requestKey))
    pending.set(requestKey, running)
    return running
  }
}

/** Entries by key; drops the oldest when there are too many. */
function createEntries<T>() {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  return {
    get: (key: string) => entries.get(key),
    delete: (key: string) => entries.delete(key),
    put(key: string, entry: { value: T; until: number }): void {
      entries.delete(key)
      entries.set(key, entry)
      const [oldest] = entries.keys()
      if (entries.size > keptEntries && oldest !== undefined) entries.delete(oldest)
    },
  }
}

/** Ids that are requested at the same time, and the answer to all of them. */
interface Batch {
  readonly ids: Set<string>
  readonly answer: Promise<ReadonlyMap<string, UserEntry>>
}

/**
 * Creates the function that looks up people by id and caches them for a minute. It combines ids that one caller
 * requests at the same time, fifteen to a call, so callers need not batch them.
 */
export function createPeopleLoader(graph: Graph, now?: () => number): (id: string) => Promise<UserEntry | undefined> {
  const cached = createCache<UserEntry | undefined>(now)
  const batches = new Map<string, Batch>()

  const openBatch = (line: string): Batch => {
    const ids = new Set<string>()
    // Several calls share the answer, so an abandoned call must not cancel it.
    const answer = within({ abandoned: undefined }, async () => {
      // Waits until all code that can run now has added its ids, as DataLoader does.
      await Promise.resolve().then(() => new Promise<void>((resolve) => process.nextTick(resolve)))
      batches.delete(line)
      return fetchUsers(graph, [...ids])
    })
    const batch = { ids, answer }
    batches.set(line, batch)
    return batch
  }

  return (id) => {
    const key = id.toLowerCase()
    return cached(key, async () => {
      // Other texts must not become part of a filter. Graph answers 404 for such an id.
      if (!z.guid().safeParse(key).success) return graph.user(id)
      const line = lineOf(originNow())
      const { ids, answer } = batches.get(line) ?? openBatch(line)
      ids.add(key)
      return (await answer).get(key)
    })
  }
}

/** Reads one person by id, and several by a filter. */
async function fetchUsers(graph: Graph, ids: readonly string[]): Promise<ReadonlyMap<string, UserEntry>> {
  const [only] = ids
  const single = ids.length === 1 && only !== undefined ? await graph.user(only) : undefined
  const found = ids.length === 1 ? (single ? [single] : []) : await usersOf(graph, ids)
  return new Map(found.map((user) => [user.id.toLowerCase(), user]))
}
