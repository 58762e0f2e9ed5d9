/** Health, statistics, failed jobs and stuck requests. */
export * from './admin-health.ts'
export * from './admin-stats.ts'
export * from './admin-stuck.ts'
export * from './first-day.ts'
