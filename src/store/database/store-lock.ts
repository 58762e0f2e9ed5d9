import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** An exclusive claim on a data folder, released by `release` or by the end of the process, however it ends. */
export interface StoreLock {
  release(): void
}

/** Another process, or another store of this one, holds the data folder. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse'
}

/**
 * Claims a data folder for this process. Two processes on one PGlite folder silently lose data, and PGlite has no lock.
 * SQLite's lock is one of the operating system: it goes away with the process, so `kill -9` leaves nothing behind.
 * Throws {@link StoreInUse}, naming the folder, when it is held.
 */
export function lockStore(folder: string, lockFile: string): StoreLock {
  // SQLite would create it for others to read; what it creates beside it gets the same mode.
  closeSync(openSync(lockFile, 'a', 0o600))
  const database = new DatabaseSync(lockFile)
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw new StoreInUse(
      `The data folder ${folder} is in use by another process: this service probably runs already. Stop that one, or set PORT, SIMULATOR_PORT and DATA_DIR to run a second.`,
      {
        cause: error,
      },
    )
  }
  return { release: () => database.close() }
}

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
