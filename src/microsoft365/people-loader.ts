import { z } from 'zod'
import { lineOf, originNow, within } from '../core/index.ts'
import type { Graph, UserEntry } from './graph.ts'
import { createMemory } from './memory.ts'
import { usersOf } from './people.ts'

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
