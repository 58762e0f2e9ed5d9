/**
 * What several capabilities keep: claimed activities and bot state, idempotency keys, token buckets, the service’s own
 * settings, and SQL that finds a person. Nothing that belongs to one capability.
 */
export { createBotState, createInbox } from './bot.ts'
export { createIdempotencyKeys, createTokenBuckets } from './calls.ts'
export { hasAny, patternOf, patternsOf } from './person-names.ts'
export { ownSetting } from './settings.ts'
