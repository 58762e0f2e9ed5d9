/** The job that erases a person. */
import { type Core, jobPayloads } from '../../core/index.ts'
import { defineJob } from '../queue/index.ts'

/** Removes a person from the store; what was begun is gone on with. */
export const erasePersonJob = (core: Core) =>
  defineJob({
    name: 'erase-person',
    payload: jobPayloads['erase-person'],
    retries: 10,
    retryDelaySeconds: 5,
    // A person may stand in very many requests.
    expireInSeconds: 1800,
    handle: (order) => core.system.erasePerson(order),
  })
