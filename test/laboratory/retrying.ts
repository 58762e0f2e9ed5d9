import { setTimeout } from 'node:timers/promises'
import type { History } from './history.ts'

/** An answer that no repetition makes better. */
export class Refusal extends Error {}

/**
 * How long a client goes on before it gives up, in seconds: longer than a run with its kills takes, also on a machine that
 * does other things. Whether all was over soon enough after the last kill is the checker's matter.
 */
const patience = 1800
/** No client waits longer for one answer, in milliseconds. */
export const longestAnswer = 15_000

/**
 * Asks until there is an answer, as a client that was told nothing does: a broken line and a passing trouble count as no
 * answer. `attempt` gives undefined for those, and throws a {@link Refusal} for what is final.
 */
export async function insist<T>(
  what: string,
  random: () => number,
  attempt: (tries: number) => Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + patience * 1000
  let last: unknown = 'no answer'
  for (let tries = 0; Date.now() < end; tries += 1) {
    try {
      const answer = await attempt(tries)
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof Refusal) throw error
      last = error
    }
    await setTimeout(150 + random() * 350)
  }
  throw new Refusal(`${what}: gave up after ${patience} s, last ${String(last)}`)
}

/** Reads an answer of the REST API: `wanted` is final, 409 in flight and 5xx are worth another try. */
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
  // Both say when to come again.
  await setTimeout(Number(response.headers.get('retry-after') ?? 0) * 1000)
  return undefined
}
