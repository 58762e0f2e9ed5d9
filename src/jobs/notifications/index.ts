/**
 * Jobs that send cards and daily summaries, and the watch over the service’s health.
 */
export { DIGEST_ORDER_MILLISECONDS, DIGEST_TURN_MILLISECONDS, digestJob } from './digest.ts'
export { healthWatchJob } from './health-watch.ts'
export { catchUpJob, notifyAdminsJob, notifyJob, refreshCardsJob, tellAdminsJob, tellJob } from './notify.ts'
