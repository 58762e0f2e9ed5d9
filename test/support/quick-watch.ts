import type { WatchTimes } from '../../src/core/index.ts'

/** Frequent health checks, so that a test need not wait for minutes. Seconds. */
export const quickWatch: WatchTimes = { checkEvery: 0.5, confirmAfter: 1, wellAfter: 1 }
