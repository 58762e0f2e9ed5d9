/** The job that submits the rows of a batch. */
import { type Core, jobPayloads } from '../../core/index.ts'
import { defineJob, failureOf } from '../queue/index.ts'

/** One turn of a batch: submits rows until something has to be waited for, and orders the next turn. */
export const runBatchJob = (core: Core) =>
  defineJob({
    name: 'run-batch',
    payload: jobPayloads['run-batch'],
    retries: 8,
    retryDelaySeconds: 5,
    expireInSeconds: 180,
    concurrency: 3,
    handle: (order, { lastAttempt, signal, log }) =>
      core.system.runBatch(order, {
        ...{ lastAttempt, signal },
        report: (row, error) =>
          log.error(
            { batchId: order.batchId, row, error: failureOf(error).message },
            'a row of a batch cannot be done',
          ),
      }),
    onDeadLetter: ({ batchId }) => core.system.giveUpBatch(batchId),
  })
