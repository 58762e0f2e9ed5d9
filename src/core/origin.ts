import { AsyncLocalStorage } from 'node:async_hooks'

/** Where something was done from; `migration`: it was there before entries were chained. */
export const origins = ['chat', 'rest', 'job', 'command line', 'migration'] as const
export interface Origin {
  readonly from: (typeof origins)[number]
  /** What the log knows the call by: the `X-Request-Id` of its answer, or the id of a job. */
  readonly trace?: string | undefined
}

const ambient = new AsyncLocalStorage<Origin>()

/** Runs work that comes from there: what it writes into timelines says so. A trace that is known already is kept. */
export const from = <T>(origin: Origin, work: () => T): T =>
  ambient.run({ trace: ambient.getStore()?.trace, ...origin }, work)

/** Where the work that runs now comes from. What nobody has asked for is the service's own. */
export const originNow = (): Origin => ambient.getStore() ?? { from: 'job' }
