/**
 * Creating the resource step by step, the ready check, completion by webhook or poll, and the watchdog.
 * The steps themselves are in `src/microsoft365/`.
 */
export * from './completion.ts'
export * from './execution.ts'
export * from './step.ts'
export * from './watchdog.ts'
