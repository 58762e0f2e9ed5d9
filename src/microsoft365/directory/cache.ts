import { z } from 'zod'
import { lineOf, originNow, within } from '../../core/index.ts'
import type { Graph, UserEntry } from '../wire/index.ts'
import { usersOf } from './people.ts'

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

/** People of whom somebody asks at the same time: their ids, and the answer to all of them. */
interface Gathering {
  readonly ids: Set<string>
  readonly answer: Promise<ReadonlyMap<string, UserEntry>>
}

/**
 * Looks people up by their ids and remembers them for a minute. Ids that one caller asks for at the same time go into one
 * question, fifteen to a call, so nothing that looks up several people has to gather them itself.
 */
export function createPeopleLoader(graph: Graph, now?: () => number): (id: string) => Promise<UserEntry | undefined> {
  const kept = createMemory<UserEntry | undefined>(now)
  const gatherings = new Map<string, Gathering>()

  const gather = (line: string): Gathering => {
    const ids = new Set<string>()
    // Several calls of a caller share the answer, so one of them that is abandoned must not take it from the others.
    const answer = within({ abandoned: undefined }, async () => {
      // Runs when everything has asked that can ask now, as DataLoader does it.
      await Promise.resolve().then(() => new Promise<void>((resolve) => process.nextTick(resolve)))
      gatherings.delete(line)
      return askedOf(graph, [...ids])
    })
    const gathering = { ids, answer }
    gatherings.set(line, gathering)
    return gathering
  }

  return (id) => {
    const key = id.toLowerCase()
    return kept(key, async () => {
      // What is no id of Entra's cannot stand in a filter; Graph itself says that it knows nobody of that name.
      if (!z.guid().safeParse(key).success) return graph.user(id)
      const line = lineOf(originNow())
      const { ids, answer } = gatherings.get(line) ?? gather(line)
      ids.add(key)
      return (await answer).get(key)
    })
  }
}

/** One person has a call of their own, which Graph answers from a person's own address. */
async function askedOf(graph: Graph, ids: readonly string[]): Promise<ReadonlyMap<string, UserEntry>> {
  const [only] = ids
  const alone = ids.length === 1 && only !== undefined ? await graph.user(only) : undefined
  const found = ids.length === 1 ? (alone ? [alone] : []) : await usersOf(graph, ids)
  return new Map(found.map((user) => [user.id.toLowerCase(), user]))
}
