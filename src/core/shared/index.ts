/**
 * Shared by all rooms: people and actors, the access table, errors, times, validation, and the ports of clock, store transactions,
 * jobs and directory. Nothing here depends on templates, requests or cards.
 */
export * from './access.ts'
export * from './bot-state-ports.ts'
export * from './calendar.ts'
export * from './caller.ts'
export * from './country.ts'
export * from './directory.ts'
export * from './errors.ts'
export * from './gate.ts'
export * from './jobs.ts'
export * from './json.ts'
export * from './origin.ts'
export * from './ports.ts'
export * from './rate-limits.ts'
export * from './reason.ts'
export type { ReasonKey } from './reason-keys.ts'
export * from './resource.ts'
export * from './use-case.ts'
export * from './validation.ts'
