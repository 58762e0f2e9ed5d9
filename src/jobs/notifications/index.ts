/**
 * Jobs that send cards and daily summaries, and the watch over the service’s health.
 */
export { digestJob, startDigest } from './digest.ts'
export { startHealthWatch } from './health-watch.ts'
export { catchUpJob, notifyAdminsJob, notifyJob, refreshCardsJob, tellAdminsJob, tellJob } from './notify.ts'
