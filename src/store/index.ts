/**
 * PostgreSQL, embedded or on a server. `database/` is the engine; each other room holds the aggregates of one capability.
 * No rules of the product: the core decides, this layer keeps.
 */
export {
  auditKeyOf,
  chainExisting,
  keyFile,
  missingNumbers,
  provedAll,
  readKey,
} from './audit/index.ts'
export {
  BackupError,
  backUpStore,
  type Contents,
  contentsOf,
  copyRows,
  type Database,
  foreignWriters,
  lockAndFindRows,
  makePrivate,
  migrate,
  openDatabase,
  openStopped,
  ownTables,
  restoreStore,
  routeOf,
} from './database/index.ts'
export { cleanUp, forgetOld } from './housekeeping.ts'
export { chatPaceInMemory } from './notifications/index.ts'
export { ownSetting } from './shared/index.ts'
export { createStores, type Stores } from './stores.ts'
