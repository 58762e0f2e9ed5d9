/** One way to deliver a card once, alerts for admins, and the daily digest. It delivers what all other rooms say, so it is the last room. */

export * from './card-updates.ts'
export * from './conversations.ts'
export * from './deliver-card.ts'
export * from './digest.ts'
export * from './health-watch.ts'
export * from './health-watcher.ts'
export * from './outbox.ts'
export * from './ports.ts'
