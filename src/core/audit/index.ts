/**
 * The audit: entries, the hash chain of each request, and its proof.
 * Which change writes which entry is decided in the room of that change.
 */
export * from './chain.ts'
export * from './entry.ts'
export * from './organisation-audit.ts'
export * from './ports.ts'
export * from './proof.ts'
export * from './report.ts'
