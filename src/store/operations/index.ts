/**
 * The service’s own health: statistics, calls to Microsoft 365, running processes, and the removal of old rows.
 */
export { forgetOld, isOurTurn, startHousekeeping } from './housekeeping.ts'
export { createProcessStore } from './processes.ts'
export { type CallCounts, createCallCounts } from './service-calls.ts'
export { createStatsStore } from './stats.ts'
