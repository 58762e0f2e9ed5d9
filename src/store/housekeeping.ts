import type { Database } from './database/index.ts'
import type { Stores } from './stores.ts'

interface Housekeeping {
  readonly database: Database
  readonly stores: Stores
  readonly now: () => Date
  /** Removes the details of requests that ended long ago, until it is told to stop. */
  readonly reduce?: (stopping: AbortSignal) => Promise<unknown>
  /** Records which addresses are in use, until it is told to stop. */
  readonly noteAddresses?: (stopping: AbortSignal) => Promise<unknown>
}

/** Deletes old data. Stops early when `stopping` aborts. Throws the first failure, after everything else is done. */
export function cleanUp(
  { database, stores, now, reduce, noteAddresses }: Housekeeping,
  stopping: AbortSignal,
): Promise<void> {
  return database.patiently(async () => {
    // First, so that the stores then delete what belonged to a reduced request. A request that cannot be reduced delays nothing else.
    const failed = await reduce?.(stopping).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    await forgetOld(stores, now())
    // Last, because Microsoft 365 may be slow to answer, or away.
    await noteAddresses?.(stopping)
    if (failed) throw failed.error
  })
}

/** What only grows otherwise; each store knows how long it keeps what. */
export async function forgetOld(stores: Stores, at: Date): Promise<void> {
  const { idempotency, drafts, batches, deliveries, delegations, templates, botState, notices } = stores
  const { serviceCalls, sightings, exportTickets } = stores
  const all = [
    () => stores.inbox.forgetOld(),
    async () => stores.tokenBuckets?.forgetFull(),
    () => stores.chatPace.forgetOld(),
    () => stores.processes.forgetOld(),
    ...[
      idempotency,
      drafts,
      batches,
      deliveries,
      delegations,
      templates,
      botState,
      notices,
      exportTickets,
      serviceCalls,
      sightings,
    ].map((store) => () => store.forgetOld(at)),
  ]
  const failures: unknown[] = []
  // One after another, and one that fails keeps no other from its turn.
  for (const forget of all) await forget().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
