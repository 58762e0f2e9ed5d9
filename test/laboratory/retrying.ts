import { setTimeout } from 'node:timers/promises'
import type { History } from './history.ts'

/** A final answer that a repeat cannot improve. */
export class Refusal extends Error {}

/**
 * How long a client repeats before it gives up, in seconds: longer than a run with its kills, also on a busy machine.
 * The checker decides whether requests ended soon enough after the last kill.
 */
const patience = 1800
/** Maximum time that a client waits for one answer, in milliseconds. */
export const longestAnswer = 15_000

/**
 * Repeats an attempt until it has an answer. A broken connection and a temporary error count as no answer. `attempt`
 * returns undefined for those, and throws a {@link Refusal} for final answers. `before` runs before each attempt. Its time
 * does not count: a laboratory holds a caller there until a kill is due, and a slow call may have to wait for many kills.
 */
export async function insist<T>(
  what: string,
  random: () => number,
  attempt: (tries: number) => Promise<T | undefined>,
  before: () => Promise<void> = async () => undefined,
): Promise<T> {
  let last: unknown = 'no answer'
  let spent = 0
  for (let tries = 0; spent < patience * 1000; tries += 1) {
    await before()
    const start = performance.now()
    try {
      const answer = await attempt(tries)
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof Refusal) throw error
      last = error
    }
    await setTimeout(150 + random() * 350)
    spent += performance.now() - start
  }
  throw new Refusal(`${what}: gave up after ${patience} s, last ${String(last)}`)
}

/** Reads an answer of the REST API: `wanted` is final; 409 in flight and 5xx are repeated. */
export async function restAnswer(
  history: History,
  n: number,
  wanted: number,
  response: Response,
): Promise<Record<string, unknown> | undefined> {
  const text = await response.text()
  if (response.status === wanted) return JSON.parse(text) as Record<string, unknown>
  const passing = response.status >= 500 || text.includes('idempotency-key-in-flight')
  const why = `${response.status} ${text.slice(0, 300)}`
  if (!passing) throw new Refusal(why)
  if (response.status >= 500 && response.status !== 503) history.note({ event: 'troubled', n, why })
  // Both answers contain the time until the next attempt.
  await setTimeout(Number(response.headers.get('retry-after') ?? 0) * 1000)
  return undefined
}
