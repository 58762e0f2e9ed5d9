import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from './durable-files.ts'

/** Where a restored store lies, whole and flushed, until it takes the place of `folder`. */
const waiting = (folder: string): string => `${folder}.restored`

/**
 * Puts the store in `fresh` in the place of the one in `folder`, whose files are kept in `kept`. A process that dies between
 * the two renames leaves no store in `folder`: the next one to open it finishes what was begun.
 */
export function replaceStore(folder: string, fresh: string, kept: string): void {
  const parent = dirname(folder)
  renameSync(fresh, waiting(folder))
  syncFolder(parent)
  if (existsSync(folder)) {
    renameSync(folder, kept)
    syncFolder(parent)
  }
  renameSync(waiting(folder), folder)
  syncFolder(parent)
}

/** Finishes what a process began that died while it replaced the store. To be called by whoever holds the store's lock. */
export function finishRestore(folder: string): void {
  if (existsSync(folder) || !existsSync(waiting(folder))) return
  renameSync(waiting(folder), folder)
  syncFolder(dirname(folder))
}
