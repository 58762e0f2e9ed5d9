/** Receivers of webhooks and their deliveries. */
export * from './admin-deliveries.ts'
export * from './admin-webhooks.ts'
export * from './webhook-cards.ts'
export * from './webhook-words.ts'
