import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from './database.ts'
import { isConflict } from './transaction.ts'

/** One file `NNN-name.sql`. It runs once, in the order of numbers, in one transaction. */
interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

/** The advisory lock of the process that migrates: the same number in every replica. */
const LOCK = 7_163_524_001
const LOCK_WAIT_MILLISECONDS = 60_000
const LOCK_POLL_MILLISECONDS = 100

const OWN_FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url))

/** Code that completes a migration in the same transaction, by the migration's number. */
export type Completions = Readonly<Record<number, (database: Database) => Promise<unknown>>>

/**
 * Runs the missing migrations and returns their numbers. Safe when all replicas start at once: one runs them, the
 * others wait and find nothing to do. Throws when a number repeats, when the store is newer than the code, or when a
 * migration fails (it is rolled back).
 */
export async function migrate(
  database: Database,
  folder: string = OWN_FOLDER,
  completions: Completions = {},
): Promise<number[]> {
  const migrations = await readMigrations(folder)
  const ran: number[] = []
  for (;;) {
    const next = await database.patiently(() => underLock(database, () => runNext(database, migrations, completions)))
    if (next === undefined) return ran
    ran.push(next)
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const migrations: Migration[] = []
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()) {
    const [, digits, name] = /^(\d{3})-([a-z0-9-]+)\.sql$/.exec(file) ?? []
    if (digits === undefined || name === undefined) throw new Error(`${file} is not named NNN-name.sql`)
    const number = Number(digits)
    const twin = migrations.find((other) => other.number === number)
    if (twin) throw new Error(`Two migrations have the number ${digits}: ${twin.name} and ${name}`)
    migrations.push({ number, name, sql: await readFile(join(folder, file), 'utf8') })
  }
  return migrations
}

/** Runs the next missing migration and returns its number; undefined when none is missing. */
async function runNext(
  database: Database,
  migrations: readonly Migration[],
  completions: Completions,
): Promise<number | undefined> {
  await database.query(
    'create table if not exists migrations (number integer primary key, name text not null, applied_at timestamptz not null)',
  )
  const { rows } = await database.query<{ number: number; name: string }>('select number, name from migrations')
  const newest = migrations.at(-1)?.number ?? 0
  const unknown = rows.find((row) => row.number > newest)
  if (unknown) {
    throw new Error(
      `The store has migration ${unknown.number} (${unknown.name}), which this version does not know. Start a version that is at least as new as the store.`,
    )
  }
  const applied = new Set(rows.map((row) => row.number))
  const next = migrations.find((migration) => !applied.has(migration.number))
  if (next === undefined) return undefined
  try {
    await database.query(next.sql)
    await completions[next.number]?.(database)
  } catch (error) {
    // Running replicas may lock the tables in another order. The caller then runs the whole transaction again.
    if (isConflict(error)) throw error
    throw new Error(`Migration ${next.number} (${next.name}) failed: ${(error as Error).message}`, { cause: error })
  }
  await database.query('insert into migrations (number, name, applied_at) values ($1, $2, now())', [
    next.number,
    next.name,
  ])
  return next.number
}

/** Runs work under the lock. Polls for it, because a long wait inside PostgreSQL would look like a dead server. */
async function underLock<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + LOCK_WAIT_MILLISECONDS
  for (;;) {
    const done = await database.transaction(async () => {
      // A migration waits for a locked table longer than other statements.
      await database.query(`set local lock_timeout = '60s'`)
      const { rows } = await database.query<{ held: boolean }>('select pg_try_advisory_xact_lock($1) as held', [LOCK])
      return rows[0]?.held ? { result: await work() } : undefined
    })
    if (done) return done.result
    if (Date.now() > deadline) throw new Error('Another process has been migrating the store for a minute')
    await new Promise((resume) => setTimeout(resume, LOCK_POLL_MILLISECONDS))
  }
}
