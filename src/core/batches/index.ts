/**
 * Many requests of one call: their check, their rows and their turns.
 * A row becomes an ordinary request.
 */
export * from './batch.ts'
export * from './check.ts'
export { type BatchOrder, batchOrder, maxRows } from './order.ts'
export * from './progress.ts'
export * from './run.ts'
