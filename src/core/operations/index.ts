/**
 * The operations of admins: the queue, health, statistics, dead letters, templates in use.
 * Cards and alerts are in `notifications`.
 */

export * from './checks.ts'
export * from './dead-letters.ts'
export * from './health.ts'
export * from './health-report.ts'
export * from './installation.ts'
export * from './ports.ts'
export * from './queue.ts'
export * from './run-checks.ts'
export * from './stats.ts'
export * from './template-admin.ts'
export * from './template-starting.ts'
