import { jobPayloads, type Provisioning } from '../../core/index.ts'
import { defineJob } from '../queue/define-job.ts'

/** Makes what a queued request asks for. Safe to run twice: each step looks before it creates. */
export const provisionJob = (provisioning: Provisioning) =>
  defineJob({
    name: 'provision',
    payload: jobPayloads.provision,
    retries: 8,
    retryDelaySeconds: 2,
    expireInSeconds: 180,
    concurrency: 8,
    handle: ({ requestId }, run) => provisioning.system.provision(requestId, run),
    onDeadLetter: ({ requestId }) => provisioning.system.giveUp(requestId),
  })
