/**
 * The service’s own health: statistics, calls to Microsoft 365 and running processes.
 */
export { createProcessStore } from './processes.ts'
export { type CallCounts, createCallCounts } from './service-calls.ts'
export { createStatsStore } from './stats.ts'
