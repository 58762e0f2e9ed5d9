/**
 * The queue: all code that touches pg-boss and its tables, and the definition of a job. No job’s own work.
 */
export type { QueueLog } from './boss.ts'
export { adoptJobs, prepareQueues } from './copy-jobs.ts'
export { type JobScope, defineJob, failureOf, jobRegistry } from './define-job.ts'
export { type Queue, createQueue } from './queue.ts'
export { type Repeated, repeat } from './repeat.ts'
