/** The audit. */
export * from './admin-audit.ts'
