import { randomBytes } from 'node:crypto'
import type { BotStateStore, ChatPaceStore, IdempotencyStore, Inbox, Ports, TokenBuckets } from '../core/index.ts'
import { createDelegationStore } from './approvals/index.ts'
import { createAuditLog } from './audit/index.ts'
import { createBatchStore } from './batches/index.ts'
import type { Database } from './database/index.ts'
import { createDraftStore } from './drafts/index.ts'
import { createFormerAddresses, createNameCounters, createReservations } from './naming/index.ts'
import {
  createChatPace,
  createConversationStore,
  createDigestStore,
  createHealthWatchStore,
  createNoticeStore,
  createSentCards,
} from './notifications/index.ts'
import { type CallCounts, createCallCounts, createProcessStore, createStatsStore } from './operations/index.ts'
import { createExportSource, createExportTickets, createPersonStore, createRetentionStore } from './privacy/index.ts'
import { createDirectorySightings } from './provisioning/index.ts'
import { createRequestStore } from './requests/index.ts'
import { createBotState, createIdempotencyKeys, createInbox, createTokenBuckets } from './shared/index.ts'
import { createTemplateStore } from './templates/index.ts'
import { createDeliveryStore, createWebhookEndpointStore } from './webhooks/index.ts'

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
