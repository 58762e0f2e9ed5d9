/**
 * The audit: entries, the hash chain of each request, and its proof.
 * Which change writes which entry is decided in the room of that change.
 */
export * from './chain.ts'
export * from './key.ts'
export * from './log.ts'
export * from './proof.ts'
export * from './report.ts'
