import { z } from 'zod'
import { defineJob, type JobScope } from '../../src/jobs/queue/define-job.ts'

/** A job for tests whose handler is given; no retries, so what is tried again was tried again for another reason. */
export const sleeperJob = (handle: (payload: { note: string }, scope: JobScope) => Promise<void>) =>
  defineJob({
    name: 'sleeper',
    payload: z.object({ note: z.string() }),
    retries: 0,
    retryDelaySeconds: 60,
    expireInSeconds: 600,
    handle,
  })
