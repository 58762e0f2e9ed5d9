import { PutOff, TenantError } from '../../src/core/index.ts'

/** A clock that only tests move, in milliseconds since 1970. */
export interface FakeClock {
  now: number
}

interface Due {
  at: number
  attempt: number
  readonly run: (attempt: number) => Promise<void>
}

/**
 * The queue's retry settings (`src/jobs`): attempts after the first, and the seconds before the second, doubled for
 * each further attempt.
 */
export interface RetrySettings {
  readonly retries: number
  readonly retryDelaySeconds: number
  readonly workers: number
}

/**
 * Runs jobs with a fake clock, in rounds of as many jobs as workers, until all are done. A job that throws `PutOff`
 * returns when it asks to, which is no attempt. Any other failure is an attempt, with backoff, jitter and
 * `Retry-After`. Returns the numbers of dead letters and postponements. `between` runs after each round.
 */
export async function workOff(
  clock: FakeClock,
  jobs: readonly ((attempt: number) => Promise<void>)[],
  { retries, retryDelaySeconds, workers }: RetrySettings,
  random: () => number,
  between: () => void,
): Promise<{ givenUp: unknown[]; putOff: number }> {
  const agenda: Due[] = jobs.map((run) => ({ at: clock.now, attempt: 1, run }))
  const givenUp: unknown[] = []
  let putOff = 0
  const one = async (job: Due): Promise<void> => {
    try {
      await job.run(job.attempt)
    } catch (error) {
      if (error instanceof PutOff) {
        putOff += 1
        agenda.push({ ...job, at: clock.now + Math.max(500, error.putOffMilliseconds) })
      } else if (job.attempt > retries || (error instanceof TenantError && !error.retryable)) givenUp.push(error)
      else {
        const waitSeconds = error instanceof TenantError ? (error.retryAfterSeconds ?? 0) : 0
        const backoff = retryDelaySeconds * 2 ** (job.attempt - 1) * (1 + random())
        agenda.push({ ...job, attempt: job.attempt + 1, at: clock.now + Math.max(waitSeconds, backoff) * 1000 })
      }
    }
  }
  while (agenda.length > 0) {
    agenda.sort((first, second) => first.at - second.at)
    clock.now = Math.max(clock.now, agenda[0]?.at ?? 0)
    const due = agenda.filter(({ at }) => at <= clock.now).slice(0, workers)
    agenda.splice(0, due.length)
    await Promise.all(due.map(one))
    between()
  }
  return { givenUp, putOff }
}
