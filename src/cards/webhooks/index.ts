/** Receivers of webhooks and their deliveries. */
export * from './admin-deliveries.ts'
export * from './admin-webhooks.ts'
