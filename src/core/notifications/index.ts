/** One way to deliver a card once, alerts for admins, and the daily digest. It delivers what all other rooms say, so it is the last room. */

export * from './digest.ts'
export * from './digest-order.ts'
export * from './health-notice.ts'
export * from './health-watch.ts'
export * from './health-watcher.ts'
export * from './notices.ts'
export * from './notification.ts'
export * from './ports.ts'
