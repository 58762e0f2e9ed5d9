import { type JobParts, jobsOf } from '../../src/jobs/index.ts'
import type { Job, JobScope } from '../../src/jobs/queue/define-job.ts'

/** The scope of a job's first attempt, outside any queue. */
export const firstAttempt = (signal: AbortSignal = new AbortController().signal): JobScope => ({
  id: '00000000-0000-4000-8000-000000000001',
  attempt: 1,
  lastAttempt: false,
  putOffs: 0,
  signal,
  log: { debug() {}, info() {}, warn() {}, error() {} },
  requestsOf: async () => [],
})

/** Returns a job of the service with these parts. */
export function jobNamed(name: string, parts: Partial<JobParts>): Job {
  const job = jobsOf(parts as JobParts).get(name)
  if (!job) throw new Error(`there is no job ${name}`)
  return job
}
