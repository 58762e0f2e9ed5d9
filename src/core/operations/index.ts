/**
 * What admins see and write: the queue, health, statistics, dead letters, templates in use.
 * Cards and alerts are in `notifications`.
 */
export * from './administration.ts'
export * from './certificate.ts'
export * from './dead-letters.ts'
export * from './departed-people.ts'
export * from './health.ts'
export * from './health-microsoft365.ts'
export * from './health-processes.ts'
export * from './health-report.ts'
export * from './health-thresholds.ts'
export * from './ports.ts'
export * from './processes.ts'
export * from './stats.ts'
export * from './template-admin.ts'
export * from './template-write.ts'
