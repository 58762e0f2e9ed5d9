/**
 * Receivers of webhooks: their state, the log of deliveries, tests and replays.
 * The body of an event and its delivery are written with the request (`requests/events.ts`).
 */

export * from './deliveries.ts'
export * from './endpoint.ts'
export * from './receivers.ts'
export * from './waiting.ts'
