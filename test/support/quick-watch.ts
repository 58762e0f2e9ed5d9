import type { WatchTimes } from '../../src/core/index.ts'

/** Looks at the health so often that a test need not wait for minutes. In seconds. */
export const quickWatch: WatchTimes = { lookEvery: 0.5, agreeAfter: 1, wellAfter: 1, heldFor: 6, againEvery: 0.3 }
