/**
 * What every room uses: people and actors, the access table, errors, times, validation, and the ports of clock, store transactions, jobs and directory.
 * Nothing here knows a template, a request or a card.
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
export * from './limits-of-use.ts'
export * from './origin.ts'
export * from './ports.ts'
export * from './reason.ts'
export type { ReasonKey } from './reason-keys.ts'
export * from './resource.ts'
export * from './use-case.ts'
export * from './validation.ts'
