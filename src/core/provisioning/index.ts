/**
 * Creation of the resource step by step, the ready check, completion by webhook or poll, the watchdog, and resources that no
 * longer exist.
 * `src/microsoft365/` implements the steps.
 */
export * from './completion.ts'
export * from './execution.ts'
export { noteGoneResources } from './gone-resources.ts'
export * from './step.ts'
export * from './watchdog.ts'
