/** Notices, the daily digest and health alerts. */
export * from './digest.ts'
export * from './health-turned.ts'
export * from './notice.ts'
