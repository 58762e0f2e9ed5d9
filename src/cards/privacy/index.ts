/** Exports and erasure. */
export * from './admin-erase.ts'
export * from './admin-export.ts'
