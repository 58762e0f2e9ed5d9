/** Jobs that watch over open stages. */
import { type Core, jobPayloads } from '../../core/index.ts'
import { defineJob } from '../queue/index.ts'

/** One look after a stage that waits for approvers; each look orders the next until the stage is over. */
export const tendApprovalJob = (core: Core) =>
  defineJob({
    name: 'tend-approval',
    payload: jobPayloads['tend-approval'],
    // The directory is asked who stands in; it may be away for a while.
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    concurrency: 4,
    handle: (order) => core.system.runApprovalTimers(order),
  })

/** Brings what waits for a person in line with who is away: when somebody goes, and when they are back. */
export const realignApprovalsJob = (core: Core) =>
  defineJob({
    name: 'realign-approvals',
    payload: jobPayloads['realign-approvals'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 120,
    handle: ({ tenantId, personId }) => core.system.realignApprovals({ tenantId, personId }),
  })
