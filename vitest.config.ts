import { defineConfig } from 'vitest/config'

/** Tests are named by behaviour and run against real parts; heavy files run one after another on two cores. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
