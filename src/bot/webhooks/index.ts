/** Receivers of webhooks and their deliveries, for admins. */
export * from './commands.ts'
export * from './deliveries.ts'
export * from './receivers.ts'
