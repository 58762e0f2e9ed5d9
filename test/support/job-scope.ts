import type { JobScope } from '../../src/jobs/queue/define-job.ts'

/** The scope of a job's first attempt, outside any queue. */
export const firstAttempt = (signal: AbortSignal = new AbortController().signal): JobScope => ({
  attempt: 1,
  lastAttempt: false,
  putOffs: 0,
  signal,
  log: { debug() {}, info() {}, warn() {}, error() {} },
  requestsOf: async () => [],
})
