/**
 * PostgreSQL, embedded or on a server. `database/` is the engine; each other room stores the aggregates of one capability.
 * The rules of the product are in the core; this layer only stores.
 */
import { randomBytes } from 'node:crypto'
import { createDelegationStore } from './approvals/index.ts'
import { createAuditLog } from './audit/index.ts'
import { createBatchStore } from './batches/index.ts'
import type { Database } from './database/index.ts'
import { createJointDecisionStore } from './decisions/index.ts'
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
import { createCallCounts, createProcessStore, createStatsStore } from './operations/index.ts'
import { createExportSource, createExportTickets, createPersonStore, createRetentionStore } from './privacy/index.ts'
import { createDirectorySightings, createGoneResources } from './provisioning/index.ts'
import { createRequestStore } from './requests/index.ts'
import { createBotState, createIdempotencyKeys, createInbox, createTokenBuckets } from './shared/index.ts'
import { createTemplateStore } from './templates/index.ts'
import { createDeliveryStore, createWebhookEndpointStore } from './webhooks/index.ts'

export {
  auditKeyOf,
  chainExisting,
  compareAuditKey,
  isSame,
  keyFile,
  missingNumbers,
  provedAll,
  readKey,
  recordAuditKey,
  replaceAuditKey,
  writeKey,
} from './audit/index.ts'
export {
  type Ask,
  BackupError,
  backUpStore,
  type Contents,
  contentsOf,
  copyRows,
  type Database,
  databaseFacts,
  foreignWriters,
  lockAndFindRows,
  makePrivate,
  migrate,
  openDatabase,
  openStopped,
  ownTables,
  restoreStore,
  routeOf,
  StoreInUse,
} from './database/index.ts'
export { ownSetting } from './shared/index.ts'

/**
 * Creates all stores of one database: those of core's ports, and those of bot and REST. `auditKey` seals the timelines.
 * Without it the key is random, and only these stores can prove the entries that they sealed.
 */
export function createStores(database: Database, auditKey: Uint8Array = randomBytes(32)) {
  return {
    requests: createRequestStore(database),
    goneResources: createGoneResources(database),
    batches: createBatchStore(database),
    templates: createTemplateStore(database),
    audit: createAuditLog(database, auditKey),
    delegations: createDelegationStore(database),
    nameCounters: createNameCounters(database),
    reservations: createReservations(database),
    addresses: createFormerAddresses(database, auditKey),
    jointDecisions: createJointDecisionStore(database),
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
    /** Rate limits that all processes share. A single process needs no store for them. */
    tokenBuckets: database.engine === 'server' ? createTokenBuckets(database) : undefined,
  }
}
export type Stores = ReturnType<typeof createStores>

interface Housekeeping {
  readonly database: Database
  readonly stores: Stores
  readonly now: () => Date
  /** Removes the details of requests that ended long ago, until `stopping` aborts. */
  readonly reduce?: (stopping: AbortSignal) => Promise<unknown>
  /** Records which addresses are in use, until `stopping` aborts. */
  readonly noteAddresses?: (stopping: AbortSignal) => Promise<unknown>
  /** Records which resources no longer exist, until `stopping` aborts. */
  readonly noteGoneResources?: (stopping: AbortSignal) => Promise<unknown>
}

/** Deletes old data. Stops early when `stopping` aborts. Throws the first failure, after everything else is done. */
export function cleanUp(
  { database, stores, now, reduce, noteAddresses, noteGoneResources }: Housekeeping,
  stopping: AbortSignal,
): Promise<void> {
  return database.patiently(async () => {
    // An error of these steps does not stop the other steps.
    const failures: unknown[] = []
    const attempt = (step: Housekeeping['reduce']) => step?.(stopping).catch((error: unknown) => failures.push(error))
    // First, so that the stores then delete the parts of reduced requests.
    await attempt(reduce)
    await forgetOld(stores, now())
    // Last, because Microsoft 365 may answer slowly or not at all.
    await attempt(noteGoneResources)
    await attempt(noteAddresses)
    if (failures.length > 0) throw failures[0]
  })
}

/**
 * Deletes from each store the data that is older than its limit. Throws the first failure, after all stores have run.
 */
export async function forgetOld(stores: Stores, at: Date): Promise<void> {
  const ageing = Object.values(stores).filter((store) => store !== undefined && 'forgetOld' in store)
  const failures: unknown[] = []
  for (const store of ageing) await store.forgetOld(at).catch((error: unknown) => failures.push(error))
  await stores.tokenBuckets?.forgetFull().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
