import type { WatchTimes } from '../../src/core/index.ts'

/** Checks the health so often that a test need not wait for minutes. In seconds. */
export const quickWatch: WatchTimes = { checkEvery: 0.5, confirmAfter: 1, wellAfter: 1 }
