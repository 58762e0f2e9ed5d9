import { adoptJobs, prepareQueues } from '../../jobs/index.ts'
import {
  type Ask,
  auditKeyOf,
  BackupError,
  type Contents,
  chainExisting,
  contentsOf,
  copyRows,
  type Database,
  lockAndFindRows,
  migrate,
  openDatabase,
  openStopped,
  ownTables,
} from '../../store/index.ts'

export interface Moved extends Contents {
  /** Jobs that wait on the server. */
  readonly waitingJobs: number
  /** Rows of all tables, jobs included. */
  readonly rows: number
}

/**
 * Copies the embedded store of `dataDir` into a PostgreSQL server in one transaction, and creates its tables. The embedded
 * store stays unchanged. Throws a {@link BackupError} while the service runs, and if the server's tables have rows.
 */
export async function moveStore(options: {
  dataDir: string
  databaseUrl: string
  auditSecret?: string | undefined
  /** Reads the embedded store first; if it throws, nothing is copied. */
  inspect?: (ask: Ask) => Promise<void>
}): Promise<Moved> {
  const from = await openStopped(options.dataDir)
  try {
    await options.inspect?.((sql) => from.query(sql))
    const to = await openDatabase(options).catch((error: Error) => {
      throw new BackupError(`Cannot reach the server: ${error.message}`, { cause: error })
    })
    try {
      return await move(from, to, () => auditKeyOf(options.dataDir, options.auditSecret))
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

async function move(from: Database, to: Database, auditKey: () => Uint8Array): Promise<Moved> {
  // Both stores need the same tables.
  await migrate(from, undefined, { 7: () => chainExisting(from, auditKey()) })
  await migrate(to)
  const jobs = await prepareQueues(from, to, quiet)
  const tables = await ownTables(to)
  return from.transaction(() =>
    to.patiently(() =>
      to.transaction(async () => {
        const filled = await lockAndFindRows(to, [...tables, jobs.target])
        if (filled.length > 0)
          throw new BackupError(`The database already has data (${filled.join(', ')}). Use an empty database.`)
        let rows = await copyRows(from, to, jobs.source, jobs.target)
        for (const table of tables) rows += await copyRows(from, to, table)
        return { ...(await contentsOf((sql) => to.query(sql))), waitingJobs: await adoptJobs(to), rows }
      }),
    ),
  )
}
