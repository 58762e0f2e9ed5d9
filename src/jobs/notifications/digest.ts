import { jobId, jobPayloads, type Provisioning } from '../../core/index.ts'
import { defineJob, failureOf, type Queue, type QueueLog } from '../queue/index.ts'

/** Hours begin at these steps somewhere: there are time zones of half and of quarter hours. In milliseconds. */
const TURN_MILLISECONDS = 15 * 60_000
/** How often the present turn is ordered, so that it is not late by when the process began. */
const ORDER_MILLISECONDS = 60_000

/** Orders the summaries whose hour has come. The next turn makes up for a failed one, so it is given up soon and for good. */
export const digestJob = (provisioning: Provisioning) =>
  defineJob({
    name: 'digest',
    payload: jobPayloads.digest,
    retries: 3,
    retryDelaySeconds: 20,
    expireInSeconds: 120,
    hasDeadLetters: false,
    handle: () => provisioning.system.orderDigests(),
  })

/**
 * Orders a turn for every quarter of an hour, beginning now. Every replica does so, and the id of a turn is that of its quarter, so
 * that it runs once. Returns what ends it.
 */
export function startDigest(queue: Queue, log: QueueLog, now: () => Date): () => void {
  const order = () => {
    const turn = Math.floor(now().getTime() / TURN_MILLISECONDS)
    queue
      .enqueue('digest', { v: 1, turn }, { id: jobId('digest', turn) })
      .catch((error: unknown) =>
        log.warn({ error: failureOf(error).message }, 'a turn of the summaries was not ordered'),
      )
  }
  order()
  const timer = setInterval(order, ORDER_MILLISECONDS)
  return () => clearInterval(timer)
}
