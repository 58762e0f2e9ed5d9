import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { because, inAdvance, ProvisioningError } from '../../core/index.ts'

/** The prepared statements of a connection: the name of each statement, by its text. */
interface Plans {
  readonly names: Map<string, string>
  readonly prefix: string
  /** How often all plans were forgotten. */
  generation: number
}

/** Maximum number of plans on a connection. There are few statements, because values are parameters. */
const MOST = 500
/**
 * Searches are not prepared. Their best index depends on the values, such as a state that few requests have, and after five
 * executions PostgreSQL keeps one plan for all values. Their texts also contain the sizes of pages, which clients choose.
 */
const search = /\blimit (?!1\b)/i
const plans = new WeakMap<pg.ClientBase, Plans>()
let connections = 0

/**
 * Prepares each statement once on this connection: parsing and planning take the embedded store three times as long as
 * running, and a server half of its processor time.
 */
export function keepPlans(client: pg.ClientBase): void {
  connections += 1
  // The embedded store has one session for all of its connections, so their names must differ.
  plans.set(client, { names: new Map(), prefix: `plan_${connections}`, generation: 1 })
}

/** Returns the name of a statement that this connection has prepared or will prepare; undefined if it prepares none. */
function planName(client: pg.ClientBase, sql: string): string | undefined {
  const kept = plans.get(client)
  if (!kept) return undefined
  const known = kept.names.get(sql)
  if (known !== undefined || kept.names.size >= MOST || search.test(sql)) return known
  // Made from the text: with an unsuitable pooler, the same name must not be another statement of another process.
  const hash = createHash('sha256').update(sql).digest('hex').slice(0, 24)
  const name = `${kept.prefix}_${kept.generation}_${hash}`
  kept.names.set(sql, name)
  return name
}

/** Forgets all plans when a table changes, because a plan of `SELECT *` is then invalid. */
function noteSchemaChange(client: pg.ClientBase, sql: string): void {
  if (/^\s*(create|alter|drop)\b/im.test(sql)) forgetPlans(client)
}

/** The server keeps forgotten plans until the connection ends. Tables seldom change. */
function forgetPlans(client: pg.ClientBase): void {
  const kept = plans.get(client)
  if (!kept) return
  kept.names.clear()
  kept.generation += 1
}

/**
 * Whether the server has lost the plan of a statement or refuses it, because a newer replica has changed the table. Then
 * nothing was executed, and the next attempt prepares the statement again.
 */
function isLostPlan(error: unknown): boolean {
  if (!isSqlError(error)) return false
  const isOutdated = error.code === '0A000' && 'routine' in error && error.routine === 'RevalidateCachedQuery'
  return isOutdated || error.code === '26000'
}

export interface QueryResult<Row> {
  readonly rows: Row[]
  readonly rowCount: number
}

/** A transaction without a statement for this long is rolled back. */
const IDLE_LIMIT_MILLISECONDS = 30_000

/**
 * One open transaction on one connection. Statements of concurrent callers run one after another; a server gets them
 * together, without a round trip for each. After its end each use throws: work that outlives its transaction would
 * otherwise write into the next one.
 */
export class Transaction {
  readonly #client: pg.PoolClient
  #open = true
  /** The error of a failed part, because of which it must not commit. */
  #doom: unknown
  /** The error of the first failed statement. Those after it fail only because of it. */
  #failure: unknown
  #last: Promise<unknown> = Promise.resolve()
  #running = 0
  #idle: NodeJS.Timeout | undefined
  readonly #onCommit: (() => void)[] = []

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  get isOpen(): boolean {
    return this.#open
  }

  /**
   * Prevents the commit after a joined part has failed, because a caller may catch the error and commit incomplete work.
   */
  doom(cause: unknown): void {
    this.#doom ??= cause
  }

  /** Calls back after the commit. */
  afterCommit(callback: () => void): void {
    this.#onCommit.push(callback)
  }

  query<Row>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    if (!this.#open) {
      return Promise.reject(new Error('This transaction has ended: await all work inside it'))
    }
    return this.#enqueue(() => runStatement<Row>(this.#client, sql, values))
  }

  /**
   * Starts the transaction, runs the work, then the function that it returned, and commits. Rejects with the first error after
   * rolling back. A server gets `begin` together with the first statements, and the one statement of the returned function
   * together with `commit`, which rolls back after an error.
   */
  async run<T>(work: () => Promise<() => Promise<T>>): Promise<T> {
    const begun = this.#enqueue(() => runStatement(this.#client, 'begin'))
    begun.catch(() => {
      // Further statements would not be part of a transaction. Those that left together with `begin` may be stored.
      this.#open = false
      // The one session of the embedded store is never replaced, so it must stay able to roll back.
      if (this.#client.pipeline) doubtful.add(this.#client)
    })
    if (!this.#client.pipeline) await begun
    try {
      const idled = new Promise<never>((_, reject) => {
        this.#onIdle = reject
      })
      const last = await Promise.race([work(), idled])
      await begun
      await this.#end()
      if (this.#doom !== undefined)
        throw new Error('A part of this transaction failed, so all of it was rolled back', { cause: this.#doom })
      refuseEnded(this.#client)
      this.#open = true
      const written = inAdvance(last())
      this.#open = false
      // An error before the statement is sent, such as a value that has no JSON, is known after this pause.
      await Promise.resolve()
      const isSent = this.#running > 0 && this.#failure === undefined
      if (!isSent || !this.#client.pipeline) await written
      refuseEnded(this.#client)
      const committed = inAdvance(this.#client.query('commit'))
      const result = await written
      const { command } = await committed.catch((error: unknown) => {
        noteDoubt(this.#client, error)
        throw explained(error)
      })
      // After a failed statement PostgreSQL answers a commit with a rollback instead of an error.
      if (command !== 'COMMIT')
        throw new Error('A statement of this transaction failed, so all of it was rolled back', {
          cause: this.#failure,
        })
      for (const callback of this.#onCommit) callback()
      return result
    } catch (error) {
      await this.#end()
      await rollBack(this.#client)
      await begun
      throw isAborted(error) || isLostPlan(error) ? (this.#failure ?? error) : error
    }
  }

  #onIdle: (error: Error) => void = () => undefined

  #enqueue<T>(statement: () => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    this.#running += 1
    const result = this.#client.pipeline ? statement() : this.#last.then(statement)
    result.catch((error: unknown) => {
      this.#failure ??= error
    })
    this.#last = Promise.allSettled([this.#last, result]).then(() => {
      this.#running -= 1
      this.#watchIdle()
    })
    return result
  }

  #watchIdle(): void {
    clearTimeout(this.#idle)
    if (!this.#open || this.#running > 0) return
    this.#idle = setTimeout(() => {
      this.#onIdle(
        new Error(`A transaction ran no statement for ${IDLE_LIMIT_MILLISECONDS / 1000} s and was rolled back`),
      )
    }, IDLE_LIMIT_MILLISECONDS)
    this.#idle.unref()
  }

  async #end(): Promise<void> {
    this.#open = false
    await this.#last
    clearTimeout(this.#idle)
  }
}

/** Connections whose state is unknown: lost, or busy with an abandoned statement. */
const doubtful = new WeakSet<pg.ClientBase>()
const ended = new WeakSet<pg.ClientBase>()

/** Whether PostgreSQL ended with a panic. The embedded PostgreSQL does not restart. */
export const hasEnded = (client: pg.ClientBase): boolean => ended.has(client)

/** Throws after a panic: PostgreSQL would never answer, and callers that wait for a turn would hang too. */
function refuseEnded(client: pg.ClientBase): void {
  if (ended.has(client)) throw explained(new Error('PostgreSQL has ended'))
}

export function isDoubtful(client: pg.ClientBase): boolean {
  return doubtful.has(client)
}

/** Time limit of statements in background work. Milliseconds. */
export const patience = new AsyncLocalStorage<number>()

/** Runs one statement, or several without values, whose rows are then joined. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  sql: string,
  values?: readonly unknown[],
): Promise<QueryResult<Row>> {
  refuseEnded(client)
  // SQL without values may contain several commands, as in pg-boss, and these cannot be prepared.
  const wired = values?.length ? values.map(toWire) : undefined
  try {
    const limit = patience.getStore()
    const name = wired && planName(client, sql)
    if (!wired) noteSchemaChange(client, sql)
    const statement = {
      text: sql,
      ...(wired && { values: wired }),
      ...(name !== undefined && { name }),
      ...(limit && { query_timeout: limit }),
    }
    const result: pg.QueryResult | pg.QueryResult[] = await client.query(statement)
    if (!Array.isArray(result)) return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 }
    return { rows: result.flatMap((each) => (each.rows ?? []) as Row[]), rowCount: result.at(-1)?.rowCount ?? 0 }
  } catch (error) {
    noteDoubt(client, error)
    if (isLostPlan(error)) forgetPlans(client)
    throw explained(error)
  }
}

/**
 * Converts objects to JSON before anything is sent. Otherwise a value that pg cannot write would throw after half of
 * the statement is sent, and the connection would wait for ever.
 */
function toWire(value: unknown): unknown {
  if (value === undefined || value === null || value instanceof Date || value instanceof Uint8Array) return value
  if (Array.isArray(value)) return value.map(toWire)
  return typeof value === 'object' ? JSON.stringify(value) : value
}

/** Marks a lost connection, or one to a server that is not available now: a new connection may reach another server. */
function noteDoubt(client: pg.ClientBase, error: unknown): void {
  if (isSqlError(error) && 'severity' in error && error.severity === 'PANIC') {
    ended.add(client)
    doubtful.add(client)
  }
  if (!isSqlError(error) || LOST.test(error.code)) doubtful.add(client)
}

/**
 * Rolls back an open transaction. Never throws: a connection that cannot roll back is doubtful. A doubtful connection
 * is closed anyway, which also rolls back.
 */
export async function rollBack(client: pg.ClientBase): Promise<void> {
  if (doubtful.has(client)) return
  const statement: pg.QueryConfig & { query_timeout: number } = { text: 'rollback', query_timeout: 2000 }
  try {
    await client.query(statement)
  } catch {
    doubtful.add(client)
  }
}

/** Whether PostgreSQL itself returned the error: then the connection still works. */
function isSqlError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'
}

/** Whether PostgreSQL refused a statement because an earlier one of its transaction failed. */
const isAborted = (error: unknown): boolean => isSqlError(error) && error.code === '25P02'

/**
 * SQLSTATE classes of temporary errors: connection, resources (such as a full disk), a server that shuts down or is a
 * read-only standby, a row that is locked too long, a session that was ended because it was idle.
 */
const NOT_NOW = /^(08|53|57P|58|25006|55P03|25P03)/
/** SQLSTATE classes after which the connection is unusable. */
const LOST = /^(08|57P|25006|25P03)/

/** Returns the error for callers: `unavailable` for a temporary error, else PostgreSQL's error. */
export function explained(error: unknown): unknown {
  if (isSqlError(error) && !NOT_NOW.test(error.code)) return error
  return new ProvisioningError('unavailable', because('storeAway'), { cause: error })
}

/** Whether the work can be retried: after a serialization failure, a deadlock, or the loss of a plan. */
export function isConflict(error: unknown): boolean {
  return (isSqlError(error) && (error.code === '40001' || error.code === '40P01')) || isLostPlan(error)
}
