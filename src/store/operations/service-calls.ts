import type { ServiceCalls, ServiceTraffic } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

interface CountedCall {
  readonly service: ServiceTraffic['name']
  readonly outcome: 'answered' | 'refused' | 'throttled' | 'failed' | 'timedOut' | 'unreachable'
}
interface Tally {
  readonly service: ServiceTraffic['name']
  readonly minute: number
  calls: number
  failed: number
  throttled: number
  timedOut: number
  lastSuccessAt: number | null
  lastFailureAt: number | null
}

const minuteMilliseconds = 60_000
/** Length of the reported time, in minutes. */
const reportedMinutes = 15
/** How long counts are kept, in days, so that the last answer of a service is known. */
const keptDays = 2
/** How often counts are written. Milliseconds. */
const writeInterval = 10_000

export interface CallCounts extends ServiceCalls {
  /** Counts a call in memory, so that no call waits for the store. */
  count(call: CountedCall): void
  /** Writes the new counts to the store, so that other processes know them. */
  write(): Promise<void>
  /** Writes every 10 seconds until the returned function is called, which writes once more. */
  start(): () => Promise<void>
  forgetOld(at: Date): Promise<void>
}

/**
 * Counts the calls to Microsoft 365 by outcome, in the process and then in the store. Without the store it returns the
 * process's own counts.
 */
export function createCallCounts(database: Database, now: () => Date = () => new Date()): CallCounts {
  const own = new Map<string, Tally>()
  let unwritten = new Map<string, Tally>()
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    const tallies = unwritten
    if (tallies.size === 0) return
    unwritten = new Map()
    try {
      await add(database, [...tallies.values()])
    } catch (error) {
      for (const tally of tallies.values()) merge(unwritten, tally)
      prune(unwritten, now())
      throw error
    }
  }

  /** One write at a time: a slow store gets no second statement meanwhile. */
  const write = (): Promise<void> => {
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }

  return {
    count({ service, outcome }) {
      const tally = tallyOf(service, outcome, now())
      merge(own, tally)
      merge(unwritten, tally)
      prune(own, now())
    },
    write,
    async lately() {
      const since = Math.floor(now().getTime() / minuteMilliseconds - reportedMinutes + 1) * minuteMilliseconds
      const stored = await read(database, since).catch(() => undefined)
      return addedUp(stored ? [...stored, ...unwritten.values()] : [...own.values()], since)
    },
    start() {
      const quietly = () => write().catch(() => undefined)
      const timer = setInterval(() => void database.outside(quietly), writeInterval)
      timer.unref()
      return async () => {
        clearInterval(timer)
        await writing?.catch(() => undefined)
        await quietly()
      }
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query('DELETE FROM service_calls WHERE minute < $1', [before])
    },
  }
}

function tallyOf(service: ServiceTraffic['name'], outcome: CountedCall['outcome'], at: Date): Tally {
  const isGood = outcome === 'answered'
  return {
    service,
    minute: Math.floor(at.getTime() / minuteMilliseconds) * minuteMilliseconds,
    calls: 1,
    failed: isGood || outcome === 'throttled' ? 0 : 1,
    throttled: outcome === 'throttled' ? 1 : 0,
    timedOut: outcome === 'timedOut' ? 1 : 0,
    lastSuccessAt: isGood ? at.getTime() : null,
    lastFailureAt: isGood ? null : at.getTime(),
  }
}

function merge(into: Map<string, Tally>, tally: Tally, key = `${tally.service} ${tally.minute}`): void {
  const known = into.get(key)
  into.set(key, known ? sum(known, tally) : { ...tally })
}

const sum = (one: Tally, other: Tally): Tally => ({
  ...one,
  calls: one.calls + other.calls,
  failed: one.failed + other.failed,
  throttled: one.throttled + other.throttled,
  timedOut: one.timedOut + other.timedOut,
  lastSuccessAt: latest(one.lastSuccessAt, other.lastSuccessAt),
  lastFailureAt: latest(one.lastFailureAt, other.lastFailureAt),
})

const latest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

function prune(tallies: Map<string, Tally>, at: Date): void {
  const before = at.getTime() - 2 * reportedMinutes * minuteMilliseconds
  for (const [key, { minute }] of tallies) if (minute < before) tallies.delete(key)
}

/** Adds counts up by service. Counts before `since` only contribute the times of the last calls. */
function addedUp(tallies: readonly Tally[], since: number): ServiceTraffic[] {
  const byService = new Map<string, Tally>()
  const none = { calls: 0, failed: 0, throttled: 0, timedOut: 0 }
  for (const tally of tallies) merge(byService, tally.minute < since ? { ...tally, ...none } : tally, tally.service)
  return [...byService.values()].map(({ service, minute: _, lastSuccessAt, lastFailureAt, ...counts }) => ({
    name: service,
    ...counts,
    lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt),
    lastFailureAt: lastFailureAt === null ? null : new Date(lastFailureAt),
  }))
}

/** Writes in one order, so that two processes cannot deadlock. */
async function add(database: Database, tallies: readonly Tally[]): Promise<void> {
  const moment = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  const rows = tallies.map((one) => ({
    ...one,
    minute: moment(one.minute),
    lastSuccessAt: moment(one.lastSuccessAt),
    lastFailureAt: moment(one.lastFailureAt),
  }))
  await database.query(
    `INSERT INTO service_calls
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS tally (service text, minute timestamptz, calls integer, failed integer,
       throttled integer, "timedOut" integer, "lastSuccessAt" timestamptz, "lastFailureAt" timestamptz)
     ORDER BY service, minute
     ON CONFLICT (service, minute) DO UPDATE SET
       calls = service_calls.calls + excluded.calls, failed = service_calls.failed + excluded.failed,
       throttled = service_calls.throttled + excluded.throttled, timed_out = service_calls.timed_out + excluded.timed_out,
       last_success_at = greatest(service_calls.last_success_at, excluded.last_success_at),
       last_failure_at = greatest(service_calls.last_failure_at, excluded.last_failure_at)`,
    [JSON.stringify(rows)],
  )
}

interface Row {
  readonly service: ServiceTraffic['name']
  readonly calls: number
  readonly failed: number
  readonly throttled: number
  readonly timedOut: number
  readonly lastSuccessAt: Date | null
  readonly lastFailureAt: Date | null
}

async function read(database: Database, since: number): Promise<Tally[]> {
  const { rows } = await database.query<Row>(
    `SELECT service, coalesce(sum(calls) FILTER (WHERE minute >= $1), 0) AS calls,
       coalesce(sum(failed) FILTER (WHERE minute >= $1), 0) AS failed,
       coalesce(sum(throttled) FILTER (WHERE minute >= $1), 0) AS throttled,
       coalesce(sum(timed_out) FILTER (WHERE minute >= $1), 0) AS "timedOut",
       max(last_success_at) AS "lastSuccessAt", max(last_failure_at) AS "lastFailureAt"
     FROM service_calls GROUP BY service`,
    [new Date(since).toISOString()],
  )
  return rows.map(({ lastSuccessAt, lastFailureAt, ...row }) => ({
    ...row,
    minute: since,
    lastSuccessAt: lastSuccessAt?.getTime() ?? null,
    lastFailureAt: lastFailureAt?.getTime() ?? null,
  }))
}
