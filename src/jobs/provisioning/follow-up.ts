import { jobPayloads, type Provisioning } from '../../core/index.ts'
import { defineJob } from '../queue/define-job.ts'

/** One look whether what a request asked for is there; each look orders the next until it is found. */
export const followUpJob = (provisioning: Provisioning) =>
  defineJob({
    name: 'follow-up',
    payload: jobPayloads['follow-up'],
    retries: 3,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 8,
    handle: ({ requestId, look }) => provisioning.system.lookWhetherThere(requestId, look),
  })
