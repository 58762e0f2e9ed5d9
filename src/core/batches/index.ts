/**
 * Many requests of one call: their check, their rows and their turns.
 * What a row asks for is a request like any other.
 */
export * from './batch.ts'
export * from './check.ts'
export * from './run.ts'
