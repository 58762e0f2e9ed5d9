import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import pg from 'pg'
import { because, ProvisioningError } from '../../core/index.ts'
import { openEmbedded } from './embedded.ts'
import { type Availability, openServer, thereUntilItEnds } from './server.ts'
import {
  explained,
  hasEnded,
  isConflict,
  isDoubtful,
  patience,
  type QueryResult,
  rollBack,
  runStatement,
  Transaction,
} from './transaction.ts'
import { createTurns, noTurns, type Turns } from './turns.ts'

/** PostgreSQL, embedded or on a server. Timestamps are read as Date, bigint as number, jsonb parsed. */
export interface Database {
  readonly engine: 'embedded' | 'server'
  /** How the queue reaches the same store. */
  readonly queueConnection: QueueConnection
  /**
   * Runs one statement, on the connection of the surrounding transaction if there is one. Throws PostgreSQL's error (it has
   * `code`, the SQLSTATE), or a `ProvisioningError` `unavailable` when the store does not answer, is full or read-only.
   * After deadlocks the statement runs again, at most three times.
   */
  query<Row = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
  /**
   * Like `query`, for one quick statement that only reads and waits for no lock. A server gets such statements of one turn
   * of the event loop in one round trip.
   */
  read<Row = Record<string, unknown>>(sql: string, values: readonly unknown[]): Promise<QueryResult<Row>>
  /**
   * Runs work in one transaction (read committed) and commits it, or joins the surrounding transaction. If a joined
   * part fails, the whole transaction fails, even when its error is caught. Work that still runs after the end throws
   * when it uses the store. After deadlocks and serialization failures the work runs again, at most three times.
   */
  transaction<T>(work: () => Promise<T>): Promise<T>
  /**
   * Like `transaction`. Work returns its last statement, for which others wait: a server gets it together with the commit.
   * Returns the statement's result.
   */
  endingWith<T>(work: () => Promise<() => Promise<T>>): Promise<T>
  /**
   * Waits until no other transaction holds one of these locks, then holds them until the end of the surrounding transaction.
   * Only statements that are sent afterwards see what the others have written.
   */
  hold(locks: readonly string[]): Promise<void>
  /** Calls back after the surrounding transaction commits, and never if it fails; at once without a transaction. */
  afterCommit(callback: () => void): void
  /** Throws inside a transaction, because outgoing calls must not delay it. `what` names the call. */
  assertOutside(what: string): void
  /**
   * Runs work outside the surrounding transaction and with lower priority than calls of people: for timers and workers,
   * also those that are started within a transaction.
   */
  outside<T>(work: () => T): T
  /**
   * Waits in the embedded store until the calls of people pause, at most a quarter of a second: for workers, before they
   * take jobs.
   */
  giveWay(): Promise<void>
  /** Runs work whose statements may take minutes, such as a migration. Nobody should wait for it. */
  patiently<T>(work: () => Promise<T>): Promise<T>
  /** Returns the milliseconds of a round trip. Throws `unavailable` when the store does not answer or is read-only. */
  ping(): Promise<number>
  close(): Promise<void>
}

interface QueueConnection {
  /** The schema of the queue's own tables. */
  readonly schema: string
  /** The address of the server. The queue reaches the embedded store through `query` instead. */
  readonly connectionString?: string
  /** Calls back on NOTIFY in the embedded store until the returned function is called. */
  readonly listen?: (channel: string, onPayload: (payload: string) => void) => Promise<() => Promise<void>>
}

export interface DatabaseOptions {
  /** The address of a PostgreSQL server; without it the store is embedded, in `{dataDir}/postgres`. */
  readonly databaseUrl?: string
  /** The most connections to a server, besides those of the queue; 16 by default. The embedded store has one. */
  readonly connections?: number
  readonly dataDir: string
  readonly log?: (message: string) => void
  /** The schema of our tables: tests that share a server use one each. */
  readonly schema?: string
}

interface Engine {
  readonly engine: Database['engine']
  readonly pool: pg.Pool
  readonly queueConnection: QueueConnection
  readonly availability: Availability
  readonly turns: Turns
  close(): Promise<void>
}

/** Opens the store. Throws when it cannot be reached, or when another process uses the embedded store. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.schema !== undefined && !/^[a-z][a-z0-9_]{0,40}$/.test(options.schema)) {
    throw new Error(`${options.schema} is not a valid schema name`)
  }
  const engine = await openEngine(options)
  if (options.schema !== undefined) await engine.pool.query(`create schema if not exists ${options.schema}`)
  return databaseOf(engine)
}

async function openEngine(options: DatabaseOptions): Promise<Engine> {
  const queueSchema = options.schema === undefined ? 'pgboss' : `pgboss_${options.schema}`
  const { databaseUrl } = options
  if (databaseUrl !== undefined) {
    const server = await openServer(databaseUrl, { ...options, types })
    return {
      engine: 'server',
      queueConnection: { schema: queueSchema, connectionString: databaseUrl },
      turns: noTurns,
      ...server,
    }
  }
  const { pool, listen, close } = await openEmbedded({ ...options, types })
  const queueConnection = { schema: queueSchema, listen }
  return {
    engine: 'embedded',
    pool,
    queueConnection,
    availability: thereUntilItEnds(options.log),
    turns: createTurns(),
    close,
  }
}

const { INT8 } = pg.types.builtins
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === INT8 ? (text: string) => Number(text) : pg.types.getTypeParser(id, format as 'text'),
}

const ATTEMPTS = 4
const PATIENCE_MILLISECONDS = 600_000

function databaseOf({ queueConnection, close, ...lender }: Engine): Database {
  const { engine } = lender
  const ambient = new AsyncLocalStorage<Transaction>()
  const patient = new AsyncLocalStorage<boolean>()
  const lent = <T>(work: (client: pg.PoolClient) => Promise<T>) => withClient(lender, patient.getStore() === true, work)

  async function query<Row>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const transaction = ambient.getStore()
    if (transaction) return transaction.query<Row>(sql, values)
    const attempt = async (client: pg.PoolClient) => {
      try {
        return await runStatement<Row>(client, sql, values)
      } catch (error) {
        // A call with several statements may have failed inside its own transaction.
        await rollBack(client)
        throw error
      }
    }
    return despiteConflicts(() => lent(attempt))
  }
  const lentForReads = engine === 'server' ? gatherReads(lent) : undefined

  async function read<Row>(sql: string, values: readonly unknown[]): Promise<QueryResult<Row>> {
    if (!lentForReads || ambient.getStore()) return query<Row>(sql, values)
    return despiteConflicts(() => lentForReads((client) => runStatement<Row>(client, sql, values)))
  }

  async function endingWith<T>(work: () => Promise<() => Promise<T>>): Promise<T> {
    const outer = ambient.getStore()
    if (outer) {
      if (!outer.isOpen) throw new Error('The surrounding transaction has ended: await all work inside it')
      return work()
        .then((last) => last())
        .catch((error: unknown) => {
          outer.doom(error)
          throw error
        })
    }
    return despiteConflicts(() =>
      lent((client) => {
        const own = new Transaction(client)
        return own.run(async () => {
          const last = await ambient.run(own, work)
          return () => ambient.run(own, last)
        })
      }),
    )
  }

  async function transaction<T>(work: () => Promise<T>): Promise<T> {
    return endingWith(async () => {
      const result = await work()
      return () => Promise.resolve(result)
    })
  }

  return {
    engine,
    queueConnection,
    query,
    read,
    transaction,
    endingWith,
    async hold(locks) {
      if (!ambient.getStore()) throw new Error('Locks need a transaction')
      // The transactions of the embedded store never overlap. In the same order, two transactions cannot wait for each other.
      if (engine === 'embedded' || locks.length === 0) return
      await query('SELECT pg_advisory_xact_lock(hashtextextended(lock, 0)) FROM unnest($1::text[]) AS lock', [
        locks.toSorted(),
      ])
    },
    afterCommit(callback) {
      const around = ambient.getStore()
      if (around?.isOpen) around.afterCommit(callback)
      else callback()
    },
    assertOutside(what) {
      if (ambient.getStore()?.isOpen) throw new Error(`${what} must not be called while a transaction is open`)
    },
    giveWay: () => lender.turns.giveWay(),
    outside: (work) => ambient.exit(() => patient.run(true, work)),
    patiently: (work) => patience.run(PATIENCE_MILLISECONDS, work),
    async ping() {
      const start = performance.now()
      const question = `select current_setting('transaction_read_only') as "readOnly"`
      const { rows } = await ambient.exit(() => query<{ readOnly: string }>(question))
      if (rows[0]?.readOnly !== 'off') throw new ProvisioningError('unavailable', because('storeReadOnly'))
      return performance.now() - start
    },
    close,
  }
}

/** Runs the work again after a conflict. */
async function despiteConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error)) throw error
      await new Promise((resume) => setTimeout(resume, Math.random() * 25 * 2 ** attempt))
    }
  }
}

type Lend = <T>(work: (client: pg.PoolClient) => Promise<T>) => Promise<T>

/** The most reads that share a connection. PostgreSQL runs them one after another. */
const MOST_TOGETHER = 8

/** Lends one connection to the reads that start in the same turn of the event loop, so that they leave together. */
function gatherReads(lend: Lend): Lend {
  interface Waiting {
    run(client: pg.PoolClient): Promise<void>
    fail(error: unknown): void
  }
  let gathered: Waiting[] = []

  async function runAll(): Promise<void> {
    const reads = gathered
    gathered = []
    // A full set has left before its turn.
    if (reads.length === 0) return
    try {
      await lend((client) => Promise.all(reads.map(({ run }) => run(client))))
    } catch (error) {
      for (const { fail } of reads) fail(error)
    }
  }

  return (read) =>
    new Promise((resolve, fail) => {
      // Each read keeps the context of its caller, such as the trace and the time limit.
      const context = new AsyncResource('read')
      const run = (client: pg.PoolClient) => context.runInAsyncScope(read, undefined, client).then(resolve, fail)
      if (gathered.length === MOST_TOGETHER) void runAll()
      gathered.push({ run, fail })
      if (gathered.length === 1) process.nextTick(runAll)
    })
}

/** Lends a connection to work. Afterwards discards a doubtful connection and probes the store. */
async function withClient<T>(
  { pool, engine, availability, turns }: Pick<Engine, 'pool' | 'engine' | 'availability' | 'turns'>,
  isPatient: boolean,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  await availability.admit()
  const leave = await turns.enter(isPatient)
  try {
    const client = await lend(pool, availability)
    // The embedded store runs on the event loop, so other work gets a turn before each transaction. This pause comes after
    // `connect`: otherwise callers that wait together would all run within one turn.
    if (engine === 'embedded') await new Promise(setImmediate)
    return await lentTo(work, client, { engine, availability })
  } finally {
    leave()
  }
}

async function lentTo<T>(
  work: (client: pg.PoolClient) => Promise<T>,
  client: pg.PoolClient,
  { engine, availability }: Pick<Engine, 'engine' | 'availability'>,
): Promise<T> {
  const onError = () => undefined
  client.on('error', onError)
  try {
    return await work(client)
  } finally {
    client.off('error', onError)
    // The embedded store has one session for its whole life: discarding its client would not create a new one.
    const lost = engine === 'server' && isDoubtful(client)
    client.release(lost)
    if (lost) availability.suspect()
    if (hasEnded(client)) availability.end()
  }
}

async function lend(pool: pg.Pool, availability: Availability): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  let wanted = true
  // Returns a connection that arrives when the caller no longer waits.
  connecting.then((client) => !wanted && client.release()).catch(() => undefined)
  try {
    return await availability.orAway(connecting)
  } catch (error) {
    wanted = false
    availability.suspect()
    throw explained(error)
  }
}
