/**
 * The audit: entries, the hash chain of each request, and its proof.
 * The room of each change decides which entries it writes.
 */
export * from './chain.ts'
export * from './key.ts'
export * from './log.ts'
export * from './proof.ts'
export * from './report.ts'
