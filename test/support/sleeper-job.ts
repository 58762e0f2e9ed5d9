import { z } from 'zod'
import { defineJob, type JobFailure, type JobScope } from '../../src/jobs/queue/define-job.ts'

/** Creates a job with this handler for tests. It has no retries, so a second run has another reason. */
export const sleeperJob = (
  handle: (payload: { note: string }, scope: JobScope) => Promise<void>,
  onDeadLetter: (payload: { note: string }, failure: JobFailure) => Promise<void> = async () => undefined,
) =>
  defineJob({
    name: 'sleeper',
    payload: z.object({ note: z.string() }),
    retries: 0,
    retryDelaySeconds: 60,
    expireInSeconds: 600,
    handle,
    onDeadLetter,
  })
