import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { quickFolder } from './test/support/quick-folder.ts'

const folder = quickFolder()
if (folder !== undefined) process.env['TMPDIR'] = folder

/** Tests are named by behaviour and run against real parts. `npm test` leaves out `test/system/`, which `npm run test:system` runs. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/sentences.ts'],
    // For hanging tests. A slow machine needs several times as long as a quick one.
    testTimeout: 480_000,
    hookTimeout: 480_000,
    // The default of one second would assert a time: a slow minute of the machine would fail a test.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // A worker for itself would compile the embedded PostgreSQL and the bot again for each file: half of the run.
    isolate: false,
    // One more than the cores of the smallest machine: many tests wait for timers and for other processes.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
})
