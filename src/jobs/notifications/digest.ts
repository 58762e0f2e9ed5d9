import { type Core, jobPayloads } from '../../core/index.ts'
import { defineJob } from '../queue/index.ts'

/** Hours begin at these steps somewhere: there are time zones of half and of quarter hours. In milliseconds. */
export const DIGEST_TURN_MILLISECONDS = 15 * 60_000
/** How often the present turn is ordered, so that a process that starts within it does not miss it. In milliseconds. */
export const DIGEST_ORDER_MILLISECONDS = 60_000

/** Orders the summaries whose hour has come. The next turn makes up for a failed one, so it is given up soon and for good. */
export const digestJob = (core: Core) =>
  defineJob({
    name: 'digest',
    payload: jobPayloads.digest,
    retries: 3,
    retryDelaySeconds: 20,
    expireInSeconds: 120,
    hasDeadLetters: false,
    handle: () => core.system.orderDigests(),
  })
