/**
 * The queue: all code that touches pg-boss and its tables, and the definition of a job. No job’s own work.
 */
export type { QueueLog } from './boss.ts'
export { prepareQueues } from './copy.ts'
export { defineJob, failureOf, type JobScope, jobRegistry } from './define-job.ts'
export { createQueue, type Queue } from './queue.ts'
export { adoptJobs } from './tables.ts'
export { startTurns } from './turns.ts'
