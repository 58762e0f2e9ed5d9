/**
 * Receivers of webhooks: their status, the delivery log, tests and resends.
 * The body of an event and its delivery are stored with the request (`requests/events.ts`).
 */

export * from './deliveries.ts'
export * from './endpoint.ts'
export * from './receivers.ts'
export * from './waiting.ts'
