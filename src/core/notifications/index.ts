/**
 * Delivers cards, each once: cards about requests, alerts for admins, the daily digest. It uses all other rooms, so it is
 * the last one.
 */
export { refreshBatch } from './batch-cards.ts'
export * from './broken-parts.ts'
export * from './bundles.ts'
export * from './card.ts'
export * from './card-updates.ts'
export * from './catch-up.ts'
export * from './deliver-card.ts'
export * from './digest.ts'
export * from './health-watch.ts'
export * from './newest-card.ts'
export * from './outbox.ts'
export * from './ports.ts'
