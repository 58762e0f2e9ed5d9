import { existsSync, rmSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { lockStore, makePrivate, StoreInUse } from './data-folder.ts'
import { type Database, openDatabase } from './database.ts'
import { finishRestore, isOccupied, type Link, renameToNew, replaceStore } from './durable-files.ts'
import { openEmbedded } from './embedded.ts'

/** The contents of a store, for operators. */
export interface Contents {
  readonly requests: number
  readonly templates: number
  /** Time of the last change of a request, in ISO 8601; null without requests. */
  readonly newestChange: string | null
}

/** Runs SQL without parameters in a store. */
export type Ask = (sql: string) => Promise<{ readonly rows: readonly unknown[] }>

/** Counts requests and templates. A store that no service has used yet has no tables and counts as empty. */
export async function contentsOf(ask: Ask): Promise<Contents> {
  const [tables] = (await ask(`select to_regclass('requests') is not null as there`)).rows as { there: boolean }[]
  if (!tables?.there) return { requests: 0, templates: 0, newestChange: null }
  const { rows } = await ask(
    `select (select count(*)::int from requests) as requests, (select count(*)::int from templates) as templates,
       (select to_char(max(updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from requests) as newest`,
  )
  const [held] = rows as { requests: number; templates: number; newest: string | null }[]
  if (!held) throw new Error('the store did not return its contents')
  return { requests: held.requests, templates: held.templates, newestChange: held.newest }
}

/** An error before anything was changed. Its message says what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

/**
 * Writes the embedded store of `dataDir` completely to a new file, or not at all. Opens the file to check it, and
 * returns its contents. Throws a {@link BackupError} while the service uses the store, without a store, or when the
 * file exists. `inspect` reads the store first; if it throws, no file is written.
 */
export async function backUpStore(dataDir: string, file: string, inspect?: Inspect, link?: Link): Promise<Contents> {
  assertStore(dataDir)
  if (existsSync(file)) throw new BackupError(`${file} exists already: choose another name.`)
  const store = await openEmbedded({ dataDir }).catch(explain(dataDir))
  try {
    await inspect?.((sql) => store.pool.query(sql))
    const held = await contentsOf((sql) => store.pool.query(sql))
    const packed = await pack(Buffer.from(await (await store.dump()).arrayBuffer()))
    await writeWhole(
      file,
      packed,
      async (written) => {
        const found = await contentsOfDump(await unpack(written))
        if (JSON.stringify(found) !== JSON.stringify(held))
          throw new BackupError(`The backup differs from the store, so ${file} was not written. Run this again.`)
      },
      link,
    )
    return held
  } finally {
    await store.close()
  }
}

type Inspect = (ask: Ask) => Promise<void>

interface Restored extends Contents {
  /** Where the replaced store is kept. */
  readonly kept: string | undefined
}

/**
 * Restores a backup file into `dataDir`. Replaces an existing store only with `replace`, and keeps the replaced store
 * next to it. Throws a {@link BackupError} and changes nothing while the service uses the store, or when the file
 * cannot be opened as a store. `inspect` reads the restored store before it replaces the old one; if it throws, nothing
 * changes.
 */
export async function restoreStore(
  dataDir: string,
  file: string,
  options: { replace: boolean; inspect?: Inspect },
): Promise<Restored> {
  const home = resolve(dataDir)
  const folder = join(home, 'postgres')
  const dump = await unpack(file)
  makePrivate(home)
  const lock = await locked(home)
  const making = join(home, 'restoring')
  try {
    finishRestore(folder)
    const occupied = isOccupied(folder)
    if (occupied && !options.replace)
      throw new BackupError(
        `${home} already contains a store. Add --replace: the old store is kept next to the restored one.`,
      )
    rmSync(making, { recursive: true, force: true })
    const found = await load(making, dump, file, options.inspect)
    const kept = `${folder}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`
    replaceStore(folder, join(making, 'postgres'), kept)
    return { ...found, kept: occupied ? kept : undefined }
  } finally {
    rmSync(making, { recursive: true, force: true })
    lock.release()
  }
}

/**
 * Opens the store of `dataDir` for copying. Throws a {@link BackupError} without a store, or while the service runs.
 */
export async function openStopped(dataDir: string): Promise<Database> {
  assertStore(dataDir)
  return openDatabase({ dataDir }).catch(explain(dataDir))
}

function assertStore(dataDir: string): void {
  const home = resolve(dataDir)
  if (!isStore(join(home, 'postgres')))
    throw new BackupError(`There is no store in ${home}: set DATA_DIR to its folder.`)
}

const isStore = (folder: string): boolean => existsSync(`${folder}.restored`) || existsSync(join(folder, 'PG_VERSION'))

async function locked(home: string) {
  try {
    return lockStore(join(home, 'postgres'), join(home, 'postgres.lock'))
  } catch (error) {
    return explain(home)(error)
  }
}

function explain(dataDir: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof StoreInUse)) throw error
    const message = `The service uses ${resolve(dataDir)}. Stop it first (Ctrl-C, or SIGTERM), then run this again.`
    throw new BackupError(message, { cause: error })
  }
}

async function load(dataDir: string, from: Blob, file: string, inspect?: Inspect): Promise<Contents> {
  const store = await openEmbedded({ dataDir, from }).catch((error: unknown) => {
    throw new BackupError(`${file} could not be restored: ${String(error)}`, { cause: error })
  })
  try {
    await inspect?.((sql) => store.pool.query(sql))
    return await contentsOf((sql) => store.pool.query(sql))
  } finally {
    await store.close()
  }
}

/** Opens a dump in memory and counts its contents. */
async function contentsOfDump(dump: Blob): Promise<Contents> {
  const lite = await PGlite.create({ loadDataDir: dump })
  try {
    return await contentsOf((sql) => lite.query(sql))
  } finally {
    await lite.close()
  }
}

const pack = promisify<Buffer, Buffer>(gzip)

/**
 * Unpacks the tar file in a backup file. Gzip's checksum detects damage. PGlite could unpack the file too, but a
 * damaged file would end the process.
 */
async function unpack(file: string): Promise<Blob> {
  const packed = await readFile(file).catch((error: unknown) => {
    throw new BackupError(`${file} cannot be read.`, { cause: error })
  })
  const tar = await promisify<Buffer, Buffer>(gunzip)(packed).catch((error: unknown) => {
    throw new BackupError(`${file} is not a backup of the store, or is damaged.`, { cause: error })
  })
  const whole = tar.length > TAR_END.length && tar.subarray(-TAR_END.length).equals(TAR_END)
  if (!whole || !tar.includes('/PG_VERSION\0')) throw new BackupError(`${file} is not a backup of the store.`)
  return new Blob([Uint8Array.from(tar)], { type: 'application/x-tar' })
}

/** A tar file ends with two empty blocks (POSIX.1-1988, ustar). */
const TAR_END = Buffer.alloc(1024)

/**
 * Writes, flushes and checks a file under a temporary name first, so that its final name never belongs to a part of a
 * backup. Only the owner may read it: it contains people's requests and the service's secrets.
 */
async function writeWhole(
  file: string,
  bytes: Buffer,
  check: (written: string) => Promise<void>,
  link?: Link,
): Promise<void> {
  const folder = dirname(resolve(file))
  const unfinished = join(folder, `.${basename(file)}.${process.pid}.unfinished`)
  try {
    const handle = await open(unfinished, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await check(unfinished)
    renameToNew(unfinished, resolve(file), link)
  } finally {
    await rm(unfinished, { force: true })
  }
}

/** Rows that are copied at a time, so that memory stays small. */
const BATCH = 500

/**
 * Copies all rows of a table into the same table of another database, and returns how many. Values travel as PostgreSQL
 * writes them in text, so nothing is lost. Both table names are unescaped SQL. Call it inside a transaction of each
 * database.
 */
export async function copyRows(from: Database, to: Database, source: string, target = source): Promise<number> {
  const columns = await columnsOf(to, target)
  const names = columns.map(({ name }) => pg.escapeIdentifier(name))
  const texts = names.map((name) => `${name}::text as ${name}`)
  await from.query(`declare moving cursor for select ${texts.join(', ')} from ${source}`)
  const values = columns.map(({ type }, index) => `v${index}::${type}`)
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`)
  const aliases = columns.map((_, index) => `v${index}`)
  const insert = `insert into ${target} (${names.join(', ')}) overriding system value
    select ${values.join(', ')} from unnest(${arrays.join(', ')}) as row (${aliases.join(', ')})`
  let copied = 0
  for (;;) {
    const { rows } = await from.query<Record<string, string | null>>(`fetch ${BATCH} from moving`)
    if (rows.length === 0) break
    const { rowCount } = await to.query(
      insert,
      columns.map(({ name }) => rows.map((row) => row[name] ?? null)),
    )
    copied += rowCount
  }
  await from.query('close moving')
  for (const { name, identity } of columns) if (identity && copied > 0) await continueNumbers(to, target, name)
  return copied
}

interface Column {
  readonly name: string
  readonly type: string
  readonly identity: boolean
}

/** Returns the columns of a table, except generated columns. */
async function columnsOf(database: Database, table: string): Promise<Column[]> {
  const { rows } = await database.query<Column>(
    `select attname as name, format_type(atttypid, atttypmod) as type, attidentity <> '' as identity
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
     order by attnum`,
    [table],
  )
  return rows
}

/** Lets the numbers of new rows continue after the highest copied number. */
async function continueNumbers(database: Database, table: string, column: string): Promise<void> {
  const highest = `(select max(${pg.escapeIdentifier(column)}) from ${table})`
  await database.query(`select setval(pg_get_serial_sequence($1, $2), ${highest})`, [table, column])
}

/**
 * Returns the names of our tables as SQL, each after the tables that it refers to. Leaves out unlogged tables, whose
 * data is temporary, and the table of migrations, which each database has.
 */
export async function ownTables(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `with recursive own as (
       select oid, relname from pg_class
       where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
         and relpersistence = 'p' and relname <> 'migrations'
     ), placed as (
       select oid, 0 as place from own
       union select c.conrelid, p.place + 1 from placed p join pg_constraint c on c.confrelid = p.oid
       where c.contype = 'f' and c.conrelid <> c.confrelid
     )
     select quote_ident(relname) as name from own join placed using (oid) group by relname order by max(place), relname`,
  )
  return rows.map(({ name }) => name)
}

/** Locks these tables against writes until the transaction ends, and returns the tables that have rows. */
export async function lockAndFindRows(database: Database, tables: readonly string[]): Promise<string[]> {
  await database.query(`lock table ${tables.join(', ')} in share row exclusive mode`)
  const filled: string[] = []
  for (const table of tables) {
    const { rows } = await database.query(`select 1 from ${table} limit 1`)
    if (rows.length > 0) filled.push(table)
  }
  return filled
}
