/** Exports and erasure, for admins. */
export * from './commands.ts'
export * from './erase.ts'
export * from './export.ts'
