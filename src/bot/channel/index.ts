/**
 * The way to and from Teams: guard, adapter, listener, turns, the pace of each chat, and sending.
 * What a click or a command does is in the room of its capability.
 */
export * from './adapter.ts'
export * from './bot.ts'
export * from './card-sender.ts'
export * from './chat-pace.ts'
export * from './connectors.ts'
export * from './deliver.ts'
export * from './guard.ts'
export * from './listener.ts'
export * from './playground-cards.ts'
export * from './refusal.ts'
export * from './refused-card.ts'
export * from './reply-to.ts'
export * from './respond.ts'
export * from './turn.ts'
export * from './turn-metrics.ts'
export * from './typed-arguments.ts'
export * from './without-store.ts'
