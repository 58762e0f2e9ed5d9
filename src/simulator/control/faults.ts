import { randomInt } from 'node:crypto'
import { z } from 'zod'
import type { Call } from '../tenant/index.ts'

/**
 * A fault that a test or a person requests. `share` is the share of affected calls (0..1), `count` the maximum number
 * of affected calls, `skip` the number of calls before the first, `seconds` the length of a delay, `retryAfter` the
 * Retry-After in seconds; `seed` makes the share repeatable. A client may repeat one refused call (401, 403) with a
 * fresh token. `holdAfterCommit` executes the call and never answers. `forbiddenNul` answers 403 with one NUL byte.
 * `wrapped` is for Exchange's cmdlets: another server runs the cmdlet and fails with the exception `inner` (`''`: with
 * a text only). With `ran` that server has executed the cmdlet.
 */
export const faultRequest = z.strictObject({
  operation: z.string(),
  kind: z.enum([
    'delay',
    'status429',
    'failBeforeCommit',
    'resetAfterCommit',
    'holdAfterCommit',
    'forbiddenNul',
    'wrapped',
  ]),
  share: z.number().min(0).max(1).default(1),
  count: z.int().min(1).optional(),
  skip: z.int().min(0).optional(),
  seconds: z.number().min(0).max(600).optional(),
  retryAfter: z.int().min(0).max(3600).optional(),
  status: z.int().min(400).max(599).optional(),
  inner: z.string().max(200).optional(),
  ran: z.boolean().optional(),
  seed: z.int().min(0).optional(),
})
type FaultRequest = z.infer<typeof faultRequest>

export interface Fault extends FaultRequest {
  readonly id: number
  /** Number of affected calls so far. */
  struck: number
}

/** The active faults. They are in memory only: a restart removes them. */
export interface Faults {
  add(request: FaultRequest): Fault
  list(): readonly Fault[]
  clear(): void
  /** Returns the faults for this call: all delays, and at most one fault of another kind. A promise holds the call. */
  strike(operation: string, call: Call): Strike | Promise<Strike>
}
export interface Strike {
  readonly delaySeconds: number
  readonly fault: Fault | undefined
}

/** Creates an empty set of faults. */
export function createFaults(): Faults {
  let active: { fault: Fault; random: () => number; toSkip: number }[] = []
  let next = 1
  const due = (one: (typeof active)[number]): boolean => {
    const { fault, random } = one
    if (one.toSkip > 0) {
      one.toSkip -= 1
      return false
    }
    if (fault.count !== undefined && fault.struck >= fault.count) return false
    if (fault.share < 1 && random() >= fault.share) return false
    fault.struck += 1
    return true
  }
  return {
    add: (request) => {
      const fault: Fault = { ...request, id: next, struck: 0 }
      next += 1
      active.push({ fault, random: mulberry32(request.seed ?? randomInt(2 ** 31)), toSkip: request.skip ?? 0 })
      return fault
    },
    list: () => active.map(({ fault }) => fault),
    clear: () => {
      active = []
    },
    strike: (operation) => {
      const here = active.filter(({ fault }) => matches(fault.operation, operation))
      const delays = here.filter(({ fault }) => fault.kind === 'delay').filter(due)
      const other = here.filter(({ fault }) => fault.kind !== 'delay').find(due)
      return { delaySeconds: delays.reduce((sum, { fault }) => sum + (fault.seconds ?? 1), 0), fault: other?.fault }
    },
  }
}

/**
 * Returns whether a pattern matches an operation: `graph.groups.upsert` one, `graph.*` all with this beginning, `*`
 * all.
 */
export function matches(pattern: string, operation: string): boolean {
  return pattern.endsWith('*') ? operation.startsWith(pattern.slice(0, -1)) : pattern === operation
}

/** Creates a random generator (mulberry32) that returns the same numbers for the same seed on every machine. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
