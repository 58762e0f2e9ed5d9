/** Health, statistics, jobs and stuck requests. */
export * from './admin-health.ts'
export * from './admin-jobs.ts'
export * from './admin-mending.ts'
export * from './admin-stats.ts'
export * from './admin-stuck.ts'
