import type { Database } from './database/index.ts'
import type { Stores } from './stores.ts'

/** When the first turn comes after a start, in milliseconds, and how much later at most: a restart of all is not a storm. */
const FIRST_MILLISECONDS = 60_000
const JITTER_MILLISECONDS = 30_000
const HOUR_MILLISECONDS = 3_600_000

interface Housekeeping {
  readonly database: Database
  readonly stores: Stores
  readonly now: () => Date
  readonly warn: (fields: object, message: string) => void
  /** Removes the details of what ended long ago, until it is told to stop. */
  readonly reduce?: (stopping: AbortSignal) => Promise<unknown>
  /** Notes which addresses are in use, until it is told to stop. */
  readonly noteAddresses?: (stopping: AbortSignal) => Promise<unknown>
}

/** Forgets what is old a minute after the start and then every hour, in one of all processes. Returns what ends it. */
export function startHousekeeping({ database, stores, now, warn, reduce, noteAddresses }: Housekeeping): () => void {
  let timer: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  const turn = () => {
    timer = setTimeout(turn, HOUR_MILLISECONDS)
    database
      .patiently(async () => {
        if (!(await isOurTurn(database))) return
        // First, so that what hangs on a request and is old is forgotten by its own store just after: also where one cannot be reduced.
        const failed = await reduce?.(stopping.signal).then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        await forgetOld(stores, now())
        // Last: Microsoft 365 may be slow to answer, or away.
        await noteAddresses?.(stopping.signal)
        if (failed) throw failed.error
      })
      .catch((error: unknown) => warn({ err: error }, 'what is old could not be forgotten'))
  }
  timer = setTimeout(turn, FIRST_MILLISECONDS + Math.random() * JITTER_MILLISECONDS)
  return () => {
    stopping.abort()
    clearTimeout(timer)
  }
}

/** True for the first that asks within an hour, by the clock of the store. */
export async function isOurTurn(database: Database): Promise<boolean> {
  const { rowCount } = await database.query(
    `INSERT INTO settings (name, value) VALUES ('housekeeping', floor(extract(epoch FROM now()) / 3600)::text)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value <> excluded.value`,
  )
  return rowCount === 1
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
