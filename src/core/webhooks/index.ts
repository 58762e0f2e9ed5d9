/**
 * Receivers of webhooks: their state, the log of deliveries, tests and replays.
 * The body of an event and its delivery are written with the request (`requests/events.ts`).
 */
export * from './answer.ts'
export * from './delivery-log.ts'
export * from './delivery-replays.ts'
export * from './endpoint.ts'
export * from './ports.ts'
export * from './receivers.ts'
export * from './test.ts'
