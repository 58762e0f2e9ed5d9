import { z } from 'zod'

/**
 * A token bucket: it holds at most `capacity` tokens and gains `perSecond`. An unknown bucket is full.
 */
export interface BucketRule {
  readonly key: string
  readonly capacity: number
  readonly perSecond: number
  /** The tokens that the call takes, at most `capacity` (default 1). */
  readonly cost?: number
}

/** The result of one draw. */
interface BucketDraw {
  /** Whether the call got its tokens from all buckets. If one bucket has too few, the others keep theirs. */
  readonly taken: boolean
  /** The tokens in each bucket now, in the order of the rules. */
  readonly tokens: readonly number[]
}

/** Counts calls for one process or for all processes that share a store. Concurrent draws never take the same token. */
export interface TokenBuckets {
  /** Takes the tokens of a call from all buckets or from none. Each rule has its own key. */
  draw(rules: readonly BucketRule[]): Promise<BucketDraw>
  /** Deletes full buckets: they are equal to unknown ones. */
  forgetFull(): Promise<void>
}

/** The number of people that one call to the directory can read (Microsoft Graph, `in` of `$filter`). */
const peopleOfOneRead = 15
/** The maximum number of people that count: a request with more is refused before the directory is called. */
const maxPeople = 150

const isId = (value: unknown): boolean => z.guid().safeParse(value).success

/** The fields with people, in a body or as input ids of a form. */
const naming = /^(owners|primaryOwner|secondaryOwner|permissions|metadata)(\.|$)/

/**
 * Returns the cost of checking a body in reads: one for each 15 people in it, at least one. The body is not validated yet and may
 * be the values of a form.
 */
export function readsOf(body: unknown): number {
  const ids = Object.entries(Object(body))
    .filter(([field]) => naming.test(field))
    .flatMap(([, value]) => idsIn(value))
  const people = new Set(ids.map((id) => id.toLowerCase())).size
  return Math.max(1, Math.ceil(Math.min(people, maxPeople) / peopleOfOneRead))
}

/** Returns the ids in a list, in the keys and values of an object, or in a comma-separated text of a form. */
function idsIn(value: unknown): string[] {
  const texts = typeof value === 'object' && value !== null ? Object.entries(value).flat() : [value]
  return texts.flatMap((text) => (typeof text === 'string' ? text.split(',') : [])).filter(isId)
}
