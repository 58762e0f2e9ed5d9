import { type Core, jobPayloads, type Outbox } from '../../core/index.ts'
import { defineJob } from '../queue/index.ts'

/** Sends one card to one person, once. */
export const notifyJob = (core: Core, outbox: Outbox) =>
  defineJob({
    name: 'notify',
    payload: jobPayloads.notify,
    // A chat that fails half of its calls is got through to all the same: one card in 100,000 fails all of these.
    retries: 16,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 4,
    handle: (order, { attempt }) => core.system.deliverCard(outbox, order, attempt),
  })

/** Sends one card that tells of no one request to one person, once. */
export const tellJob = (core: Core, outbox: Outbox) =>
  defineJob({
    name: 'tell',
    payload: jobPayloads.tell,
    retries: 10,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 4,
    handle: ({ v: _, ...order }, { attempt }) => core.system.deliverCard(outbox, order, attempt),
  })

/** Tells each admin by a `tell` of their own. */
export const tellAdminsJob = (core: Core) =>
  defineJob({
    name: 'tell-admins',
    payload: jobPayloads['tell-admins'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    handle: ({ notice }) => core.system.notifyAdmins({ notice }),
  })

/** Sends what a person has missed whose chat has just become known. */
export const catchUpJob = (core: Core) =>
  defineJob({
    name: 'catch-up',
    payload: jobPayloads['catch-up'],
    retries: 10,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    handle: ({ tenantId, personId }) => core.system.catchUp({ tenantId, id: personId }),
  })

/** Tells each admin by a `notify` of their own. */
export const notifyAdminsJob = (core: Core) =>
  defineJob({
    name: 'notify-admins',
    payload: jobPayloads['notify-admins'],
    retries: 10,
    retryDelaySeconds: 5,
    expireInSeconds: 60,
    handle: ({ requestId, card }) => core.system.notifyAdmins({ requestId, card }),
  })

/** Brings a request's cards to its present state. */
export const refreshCardsJob = (core: Core, outbox: Outbox) =>
  defineJob({
    name: 'refresh-cards',
    payload: jobPayloads['refresh-cards'],
    retries: 16,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 4,
    handle: (order) => core.system.refreshCards(outbox, order),
  })
