import { lineOf, originNow, within } from '../core/index.ts'

/** Milliseconds that an answer is kept: what a removed member may still do ends within a minute. */
const keptMilliseconds = 60_000
/** How many answers are kept; of "not found" as many again, so that unknown ids never replace known people. */
const keptEntries = 5_000

/**
 * Remembers answers for a minute, "not found" (`undefined`) too; an error is asked again, and `anew` asks in any case. A caller
 * who asks again while the answer is under way gets the same answer. Callers do not share questions under way: a question
 * waits in the line of its caller, and a flood of one caller must not delay another.
 */
export function createMemory<T>(
  now: () => number = Date.now,
): (key: string, ask: () => Promise<T>, anew?: boolean) => Promise<T> {
  const found = createEntries<T>()
  const missing = createEntries<T>()
  const underWay = new Map<string, Promise<T>>()
  const fetched = async (key: string, ask: () => Promise<T>): Promise<T> => {
    // Counted from before the question: an answer may be old already when it arrives.
    const until = now() + keptMilliseconds
    // Another call of the caller may wait for the same answer when the one that asked has hung up.
    const value = await within({ abandoned: undefined }, ask)
    const [into, outOf] = value === undefined ? [missing, found] : [found, missing]
    outOf.delete(key)
    into.put(key, { value, until })
    return value
  }
  return (key, ask, anew = false) => {
    const known = found.get(key) ?? missing.get(key)
    if (!anew && known && known.until > now()) return Promise.resolve(known.value)
    if (anew) return fetched(key, ask)
    const question = `${lineOf(originNow())} ${key}`
    const running = underWay.get(question) ?? fetched(key, ask).finally(() => underWay.delete(question))
    underWay.set(question, running)
    return running
  }
}

/** Entries by key, the oldest of which goes when there are too many. */
function createEntries<T>() {
  const kept = new Map<string, { readonly value: T; readonly until: number }>()
  return {
    get: (key: string) => kept.get(key),
    delete: (key: string) => kept.delete(key),
    put(key: string, entry: { value: T; until: number }): void {
      kept.delete(key)
      kept.set(key, entry)
      const [oldest] = kept.keys()
      if (kept.size > keptEntries && oldest !== undefined) kept.delete(oldest)
    },
  }
}
