import { createHash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/store/database/database.ts'
import { openEmbedded } from '../../src/store/database/embedded.ts'
import { migrate } from '../../src/store/database/migrate.ts'

export type EngineName = Database['engine']
export const engines: readonly EngineName[] = ['embedded', 'server']

export interface TestStore {
  /** The database, open from `beforeAll` to `afterAll` of the block. */
  readonly database: Database
  /** Its options, to open it again or from another process. */
  readonly options: DatabaseOptions
  /** Closes and opens the database again, like a restart. */
  reopen(): Promise<Database>
}

/**
 * Creates a store for the tests of a file or `describe` block: a folder, or a schema on the shared server. It is opened
 * before the tests and removed after them. `migrated: false` leaves it empty.
 */
export function withDatabase(engine: EngineName, { migrated = true }: { migrated?: boolean } = {}): TestStore {
  let options: DatabaseOptions | undefined
  let database: Database | undefined
  const known = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The store is open only while the tests of its block run')
    return value
  }
  const store: TestStore = {
    get database() {
      return known(database)
    },
    get options() {
      return known(options)
    },
    async reopen() {
      await known(database).close()
      database = await openDatabase(known(options))
      return database
    },
  }
  beforeAll(async () => {
    options = await newStoreOptions(engine, { migrated })
    database = await openDatabase(options)
    if (migrated) await migrate(database)
  })
  afterAll(async () => {
    if (options && database) await discardStore(database, options)
  })
  return store
}

interface SharedStore {
  readonly options: DatabaseOptions
  readonly database: Database
  /** The shape of the tables when the store was new. */
  readonly shape: string
  /** The queue's own row when the store was new, as JSON. */
  readonly version: string
}
let shared: SharedStore | undefined
let isLent = false

/** A store without rows, lent to a block. */
export interface LentStore {
  readonly database: Database
  /** Closes and opens the store again, like a restart. */
  reopen(): Promise<Database>
  giveBack(): Promise<void>
}

/**
 * Lends an embedded store without rows to a block that changes no table. Consecutive blocks of a worker use the same
 * store, because opening one takes longer than most tests. A nested block has its own store.
 */
export async function lendStore(): Promise<LentStore> {
  const isBeside = isLent
  isLent = true
  let own = isBeside ? await openShared() : ((await emptied(shared)) ?? (await openShared()))
  if (!isBeside) shared = own
  return {
    get database() {
      return own.database
    },
    async reopen() {
      await own.database.close()
      own = { ...own, database: await openDatabase(own.options) }
      if (!isBeside) shared = own
      return own.database
    },
    async giveBack() {
      if (isBeside) await discardStore(own.database, own.options)
      else isLent = false
    },
  }
}

/**
 * Provides a store without rows for the tests of a block that change no table and do not close it: see {@link
 * lendStore}.
 */
export function withLentDatabase(engine: EngineName): Pick<TestStore, 'database'> {
  if (engine === 'server') return withDatabase(engine)
  let lent: LentStore | undefined
  beforeAll(async () => {
    lent = await lendStore()
  })
  afterAll(() => lent?.giveBack())
  return {
    get database() {
      if (!lent) throw new Error('The store is open only while the tests of its block run')
      return lent.database
    },
  }
}

async function openShared(): Promise<SharedStore> {
  const options = await newStoreOptions('embedded', { migrated: true })
  const database = await openDatabase(options)
  await migrate(database)
  const { rows } = await database.query<{ version: string }>(
    'SELECT json_agg(v)::text AS version FROM pgboss.version v',
  )
  return { options, database, shape: await shapeOf(database), version: rows[0]?.version ?? '' }
}

/**
 * Deletes every row, which takes a tenth of the time of TRUNCATE. Removes the store if the previous block has changed
 * its tables.
 */
async function emptied(store: SharedStore | undefined): Promise<SharedStore | undefined> {
  if (!store) return undefined
  const { database, options, shape, version } = store
  if ((await shapeOf(database)) !== shape) {
    await discardStore(database, options)
    return undefined
  }
  await database.query(`DO $$ DECLARE one regclass; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT oid FROM pg_class
      WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('public', 'pgboss') AND relname <> 'migrations'
    LOOP EXECUTE format('DELETE FROM %s', one); END LOOP;
    FOR one IN SELECT oid FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
    LOOP EXECUTE format('ALTER SEQUENCE %s RESTART', one); END LOOP;
  END $$`)
  await database.query('INSERT INTO pgboss.version SELECT * FROM json_populate_recordset(NULL::pgboss.version, $1)', [
    version,
  ])
  return store
}

/** Returns every column, index, constraint and trigger as one text. A test may add the table `ordered_jobs`. */
async function shapeOf(database: Database): Promise<string> {
  const { rows } = await database.query<{ shape: string }>(
    `SELECT md5(string_agg(line, ';' ORDER BY line)) AS shape FROM (
       SELECT c.relname || '.' || a.attname || ' ' || a.atttypid || a.attnotnull AS line
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relname NOT LIKE 'ordered_jobs%'
       UNION ALL SELECT tgname FROM pg_trigger
       UNION ALL SELECT conname FROM pg_constraint
         WHERE connamespace = current_schema()::regnamespace AND conname NOT LIKE 'ordered_jobs%'
     ) AS lines`,
  )
  return rows[0]?.shape ?? ''
}

/**
 * Returns options to open a new store, for tests that open and close it themselves. The store is removed after the run.
 */
export async function newStoreOptions(engine: EngineName, { migrated = false } = {}): Promise<DatabaseOptions> {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'store-'))
  if (engine === 'server') {
    return { databaseUrl: await serverUrl(), dataDir, schema: `test_${randomBytes(6).toString('hex')}` }
  }
  cpSync(await (migrated ? migratedStore() : emptyStore()), join(dataDir, 'postgres'), { recursive: true })
  return { dataDir }
}

/** Closes and removes a store that a test opened itself. */
export async function discardStore(database: Database, { schema, dataDir }: DatabaseOptions): Promise<void> {
  if (schema !== undefined) {
    await database.query(`drop schema if exists ${schema} cascade`)
    await database.query(`drop schema if exists ${database.queueConnection.schema} cascade`)
  }
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
}

const versionOf = (name: string): string => {
  const entry = createRequire(import.meta.url).resolve(name)
  const [packageFolder = ''] = entry.match(new RegExp(`.*/node_modules/${name}/`)) ?? []
  return (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }).version
}

/**
 * Returns the folder of an initialised store for copies, because creating one takes seconds. It is kept between runs,
 * for each version of PGlite.
 */
export function emptyStore(): Promise<string> {
  return storeOnce(`empty-store-${versionOf('@electric-sql/pglite')}`, async (dataDir) => {
    const { close } = await openEmbedded({ dataDir })
    await close()
  })
}

/**
 * Returns the folder of a store with all tables, including the queue's, without rows, for copies: the migrations take
 * longer than most tests. It is kept between runs, for each version of the migrations.
 */
export function migratedStore(): Promise<string> {
  const migrations = globSync('src/store/**/*.sql').sort()
  const versions = ['@electric-sql/pglite', 'pg-boss'].map(versionOf)
  const texts = migrations.map((file) => readFileSync(file, 'utf8'))
  const key = createHash('sha256')
    .update(JSON.stringify([versions, migrations, texts]))
    .digest('hex')
  return storeOnce(`migrated-store-${key.slice(0, 16)}`, async (dataDir) => {
    cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
    const database = await openDatabase({ dataDir })
    await migrate(database)
    const silent = () => undefined
    const log = { debug: silent, info: silent, warn: silent, error: silent }
    await (await createQueue(database, log)).stop(0)
    await database.close()
  })
}

/** Creates a store once in the temporary folder; `make` fills the data folder. */
async function storeOnce(name: string, make: (dataDir: string) => Promise<void>): Promise<string> {
  const folder = join(tmpdir(), `quartermaster-${name}`)
  if (existsSync(folder)) return folder
  const making = mkdtempSync(join(tmpdir(), 'quartermaster-making-'))
  await make(making)
  try {
    renameSync(join(making, 'postgres'), folder)
  } catch (error) {
    // Another worker was faster. Its folder can be used as well.
    if (!existsSync(folder)) throw error
  }
  rmSync(making, { recursive: true, force: true })
  return folder
}

/** Creates an empty database on the shared server, for processes that know no schema. */
export async function newDatabaseUrl(): Promise<string> {
  const url = new URL(await serverUrl())
  const name = `test_${randomBytes(6).toString('hex')}`
  const client = new pg.Client(url.href)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  url.pathname = name
  return url.href
}

/** Returns the address of this run's PostgreSQL server. */
export async function serverUrl(): Promise<string> {
  const answer = JSON.parse(await text(connect(inject('databaseServerSocket')))) as { url?: string; error?: string }
  if (answer.url === undefined) throw new Error(answer.error)
  return answer.url
}
