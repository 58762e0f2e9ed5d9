/**
 * The database itself: the embedded engine and the server, transactions, migrations, backup, move, and the lock
 * and permissions of the data folder. It does not read or write single tables of the product.
 */
export {
  type Ask,
  BackupError,
  backUpStore,
  type Contents,
  contentsOf,
  copyRows,
  lockAndFindRows,
  openStopped,
  ownTables,
  restoreStore,
} from './backup.ts'
export { foreignWriters, makePrivate, StoreInUse } from './data-folder.ts'
export { type Database, openDatabase } from './database.ts'
export { type Link, renameToNew } from './durable-files.ts'
export { migrate } from './migrate.ts'
export { routeOf } from './server.ts'
export { databaseFacts } from './server-facts.ts'
