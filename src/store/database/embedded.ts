import { mkdirSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createPgConfig } from '@electric-sql/pglite/node-postgres'
import pg from 'pg'
import { lockStore, makePrivate } from './data-folder.ts'
import { DurableFiles, finishRestore, measureFlush, syncTree } from './durable-files.ts'
import { compileOnce, createMissingStore } from './new-store.ts'
import { keepPlans, type QueryResult, runStatement } from './transaction.ts'

/**
 * PostgreSQL inside this process: a pool of exactly one connection, and the maintenance that a server does automatically.
 */
export interface EmbeddedStore {
  readonly pool: pg.Pool
  /** Milliseconds of one disk flush, measured at start. Each flush blocks the event loop for this time. */
  readonly flushMilliseconds: number
  /** Returns the number of disk flushes since the start. */
  flushes(): number
  /**
   * Does the work of a server's checkpointer and autovacuum. Runs automatically every minute. Throws if the disk is too
   * full.
   */
  maintain(): Promise<void>
  /** Calls back on every NOTIFY of the channel, until the returned function is called. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>
  /** Returns the whole store as one tar file in memory, for `from`. */
  dump(): Promise<Blob>
  close(): Promise<void>
}

const MAINTENANCE_MILLISECONDS = 60_000
/** Disk space that a checkpoint may need: one more file of PostgreSQL's log, and a reserve. */
const CHECKPOINT_BYTES = 17 * 2 ** 20

/**
 * Opens the embedded store in `{dataDir}/postgres`, or creates it in a folder that only its owner can enter. Throws
 * when another process uses the folder, or when PostgreSQL would not flush its commits. `from`: a dump with the
 * contents of a new store.
 */
export async function openEmbedded(options: {
  dataDir: string
  schema?: string
  log?: (message: string) => void
  types?: pg.CustomTypesConfig
  from?: Blob
}): Promise<EmbeddedStore> {
  const dataDir = resolve(options.dataDir)
  const folder = join(dataDir, 'postgres')
  makePrivate(dataDir)
  const lock = lockStore(folder, join(dataDir, 'postgres.lock'))
  try {
    const flushMilliseconds = measureFlush(dataDir)
    finishRestore(folder)
    if (!options.from) await createMissingStore(folder)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const files = new DurableFiles(folder)
    const startParams = startParameters(options.schema ?? 'public')
    compileOnce()
    const lite = await PGlite.create({ fs: files, startParams, ...(options.from && { loadDataDir: options.from }) })
    // PGlite copies a dump into the folder without a flush.
    if (options.from) syncTree(folder)
    const pool = new pg.Pool({ ...createPgConfig(lite), max: 1, idleTimeoutMillis: 0, types: options.types })
    pool.on('connect', keepPlans)
    pool.on('error', (error) => options.log?.(`The embedded store's connection failed: ${error.message}`))
    const { maintain, stopMaintenance } = maintenance(() => maintainOnce(pool, folder), options.log)
    const close = async () => {
      await stopMaintenance()
      await pool.end()
      await lite.close()
      lock.release()
    }
    let closing: Promise<void> | undefined
    const store: EmbeddedStore = {
      pool,
      flushMilliseconds,
      flushes: () => files.flushes,
      maintain,
      listen: (channel, onPayload) => listen(lite, pool, channel, onPayload),
      async dump() {
        await pool.query('checkpoint')
        return lite.dumpDataDir('none')
      },
      close: () => (closing ??= close()),
    }
    await assertDurable(pool)
    options.log?.(`The embedded store in ${folder} is open; one disk flush takes ${flushMilliseconds.toFixed(2)} ms.`)
    return store
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Returns PGlite's start parameters without -F (which disables fsync), with little memory and a bounded log. */
function startParameters(schema: string): string[] {
  const settings = {
    search_path: schema,
    fsync: 'on',
    wal_sync_method: 'fsync',
    synchronous_commit: 'on',
    shared_buffers: '16MB',
    min_wal_size: '32MB',
    max_wal_size: '64MB',
  }
  const own = PGlite.defaultStartParams.filter((argument) => argument !== '-F')
  return [...own, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function assertDurable(pool: pg.Pool): Promise<void> {
  for (const name of ['fsync', 'synchronous_commit']) {
    const { rows } = await pool.query<{ setting: string }>('select current_setting($1) as setting', [name])
    if (rows[0]?.setting !== 'on') throw new Error(`The embedded store would lose commits: ${name} is not on.`)
  }
}

/** Starts the maintenance. Without a postmaster, log and tables would grow without bound. */
function maintenance(once: () => Promise<void>, log?: (message: string) => void) {
  let running: Promise<void> | undefined
  const maintain = () => {
    running ??= once().finally(() => {
      running = undefined
    })
    return running
  }
  const timer = setInterval(() => {
    maintain().catch((error: Error) => log?.(`The embedded store's maintenance failed: ${error.message}`))
  }, MAINTENANCE_MILLISECONDS)
  timer.unref()
  const stopMaintenance = async () => {
    clearInterval(timer)
    await running?.catch(() => undefined)
  }
  return { maintain, stopMaintenance }
}

/** Selects tables that need a vacuum, by autovacuum's rule: 50 dead rows and a fifth of the table. */
const DIRTY_TABLES = `
  select format('%I.%I', schemaname, relname) as name from pg_stat_all_tables
  where schemaname <> 'pg_toast' and n_dead_tup > 50 + 0.2 * n_live_tup`

async function maintainOnce(pool: pg.Pool, folder: string): Promise<void> {
  // A checkpoint on a full disk ends PostgreSQL. Statements on a full disk only fail until there is space again.
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < CHECKPOINT_BYTES) throw new Error('The disk is full.')
  // PostgreSQL reports the counts of dead rows only in idle sessions, and this session never counts as idle.
  await ask(pool, 'select pg_stat_force_next_flush()')
  const { rows } = await ask<{ name: string }>(pool, DIRTY_TABLES)
  for (const { name } of rows) {
    // Other work gets a turn between two tables, because a vacuum runs on the event loop.
    await new Promise(setImmediate)
    await ask(pool, `vacuum (analyze) ${name}`)
  }
  await ask(pool, 'checkpoint')
}

/**
 * Runs one statement. Unlike `pool.query` it keeps the only session after an error, and records a panic of PostgreSQL.
 */
async function ask<Row>(pool: pg.Pool, sql: string): Promise<QueryResult<Row>> {
  const client = await pool.connect()
  try {
    return await runStatement<Row>(client, sql)
  } finally {
    client.release()
  }
}

async function listen(lite: PGlite, pool: pg.Pool, channel: string, onPayload: (payload: string) => void) {
  // Through the pool: PGlite's own listen could run inside an open transaction and be rolled back with it.
  await pool.query(`listen ${pg.escapeIdentifier(channel)}`)
  const stop = lite.onNotification((name, payload) => {
    if (name === channel) onPayload(payload)
  })
  return async () => {
    stop()
    await pool.query(`unlisten ${pg.escapeIdentifier(channel)}`)
  }
}
