import { z } from 'zod'

/**
 * A token bucket as whoever counts sees it: at most `capacity` at once, filled by `perSecond` as time goes. A bucket that
 * is not known yet is full.
 */
export interface BucketRule {
  readonly key: string
  readonly capacity: number
  readonly perSecond: number
  /** How many tokens the call takes, at most `capacity`; one unless given. */
  readonly cost?: number
}

/** What counting one request came to. */
export interface BucketDraw {
  /** Whether every bucket gave its tokens. When one has too few, none is taken from the others. */
  readonly taken: boolean
  /** What is in each bucket now, in the order of the rules. */
  readonly tokens: readonly number[]
}

/** Counts requests, in one process or for all that share a store. Whatever is drawn at the same time, no token goes twice. */
export interface TokenBuckets {
  /** Takes what the call costs from each of the buckets, or nothing from any. Each has a key of its own. */
  draw(rules: readonly BucketRule[]): Promise<BucketDraw>
  /** Forgets buckets that are full again: they are as good as new ones. */
  forgetFull(): Promise<void>
}

/** How many people one question to the directory can be about (Microsoft Graph, `in` of `$filter`). */
const peopleOfOneRead = 15
/** More people than a request may name are refused before anybody is looked up. */
const mostPeople = 150

const isId = (value: unknown): boolean => z.guid().safeParse(value).success

/** Where a body, or a form by the ids of its inputs, names people. */
const naming = /^(owners|primaryOwner|secondaryOwner|permissions|metadata)(\.|$)/

/**
 * How many reads of the limits of use it costs to check a body: one, and one more for each further 15 people that it names. The
 * body was not checked yet, and may be the values of a form.
 */
export function readsOf(body: unknown): number {
  const ids = Object.entries(Object(body))
    .filter(([field]) => naming.test(field))
    .flatMap(([, value]) => idsIn(value))
  const people = new Set(ids.map((id) => id.toLowerCase())).size
  return Math.max(1, Math.ceil(Math.min(people, mostPeople) / peopleOfOneRead))
}

/** Ids in a list, among the keys and values of an object, or in a text with commas between them, as forms have them. */
function idsIn(value: unknown): string[] {
  const texts = typeof value === 'object' && value !== null ? Object.entries(value).flat() : [value]
  return texts.flatMap((text) => (typeof text === 'string' ? text.split(',') : [])).filter(isId)
}
