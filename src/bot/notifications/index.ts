/** The outbox, which puts ordered cards into chats, and the choice of the daily digest. */
export * from './digest.ts'
export * from './outbox.ts'
