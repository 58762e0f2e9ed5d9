import { randomBytes } from 'node:crypto'
import type { BotStateStore, ChatPaceStore, IdempotencyStore, Inbox, Ports, TokenBuckets } from '../core/index.ts'
import { createAuditLog } from './audit-log.ts'
import { createBatchStore } from './batches.ts'
import { createBotState } from './bot-state.ts'
import { createChatPace } from './chat-pace.ts'
import { createConversationStore } from './conversations.ts'
import type { Database } from './database.ts'
import { createDelegationStore } from './delegations.ts'
import { createDeliveryStore } from './deliveries.ts'
import { createDigestStore } from './digests.ts'
import { createDirectorySightings } from './directory-sightings.ts'
import { createDraftStore } from './drafts.ts'
import { createExportTickets } from './export-tickets.ts'
import { createExportSource } from './exports.ts'
import { createFormerAddresses } from './former-addresses.ts'
import { createHealthWatchStore } from './health-watch.ts'
import { createIdempotencyKeys } from './idempotency-keys.ts'
import { createInbox } from './inbox.ts'
import { createNameCounters } from './name-counters.ts'
import { createNoticeStore } from './notices.ts'
import { createPersonStore } from './person-data.ts'
import { createProcessStore } from './processes.ts'
import { createRequestStore } from './requests.ts'
import { createReservations } from './reservations.ts'
import { createRetentionStore } from './retention.ts'
import { createSentCards } from './sent-cards.ts'
import { type CallCounts, createCallCounts } from './service-calls.ts'
import { createStatsStore } from './stats.ts'
import { createTemplateStore } from './templates.ts'
import { createTokenBuckets } from './token-buckets.ts'
import { createWebhookEndpointStore } from './webhook-endpoints.ts'

export { auditKeyOf, keyFile } from './audit-key.ts'
export { chainExisting, provedAll } from './audit-rows.ts'
export { type Database, openDatabase } from './database.ts'
export { cleanUp, forgetOld } from './housekeeping.ts'
export { migrate } from './migrate.ts'
export { foreignWriters, makePrivate } from './private-folder.ts'
export { ownSetting } from './settings.ts'

type StorePorts = Pick<
  Ports,
  | 'requests'
  | 'batches'
  | 'templates'
  | 'audit'
  | 'delegations'
  | 'nameCounters'
  | 'reservations'
  | 'addresses'
  | 'drafts'
  | 'deliveries'
  | 'endpoints'
  | 'sightings'
  | 'sentCards'
  | 'notices'
  | 'stats'
  | 'exports'
  | 'exportTickets'
  | 'retention'
  | 'personData'
  | 'digests'
  | 'conversations'
  | 'processes'
  | 'healthWatch'
>
/** The stores that the core asks for, and those that the edges keep beside them. */
export interface Stores extends StorePorts {
  readonly botState: BotStateStore
  readonly chatPace: ChatPaceStore
  readonly serviceCalls: CallCounts
  readonly inbox: Inbox
  readonly idempotency: IdempotencyStore
  /** Limits of use that all processes count together; one process alone needs no store for them. */
  readonly tokenBuckets: TokenBuckets | undefined
}

/**
 * One file for each aggregate, over one database. `auditKey` seals the timelines: what is sealed without one is proved by
 * the same stores alone.
 */
export function createStores(database: Database, auditKey: Uint8Array = randomBytes(32)): Stores {
  return {
    requests: createRequestStore(database),
    batches: createBatchStore(database),
    templates: createTemplateStore(database),
    audit: createAuditLog(database, auditKey),
    delegations: createDelegationStore(database),
    nameCounters: createNameCounters(database),
    reservations: createReservations(database),
    addresses: createFormerAddresses(database, auditKey),
    drafts: createDraftStore(database),
    deliveries: createDeliveryStore(database),
    endpoints: createWebhookEndpointStore(database),
    sightings: createDirectorySightings(database),
    serviceCalls: createCallCounts(database),
    sentCards: createSentCards(database),
    notices: createNoticeStore(database),
    stats: createStatsStore(database),
    exports: createExportSource(database),
    exportTickets: createExportTickets(database),
    retention: createRetentionStore(database),
    personData: createPersonStore(database),
    digests: createDigestStore(database),
    conversations: createConversationStore(database),
    processes: createProcessStore(database),
    healthWatch: createHealthWatchStore(database),
    botState: createBotState(database),
    chatPace: createChatPace(database),
    inbox: createInbox(database),
    idempotency: createIdempotencyKeys(database),
    tokenBuckets: database.engine === 'server' ? createTokenBuckets(database) : undefined,
  }
}
