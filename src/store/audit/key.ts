import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../database/durable-files.ts'

/** Where the key lies when no setting gives it: beside the store, not in it. */
export const keyFile = (dataDir: string): string => join(dataDir, 'audit.key')

/**
 * The key that seals the audit: of the setting, or of a file that only its owner can read, which is made the first time.
 * Of several processes that start at once, all have the key of the first.
 */
export function auditKeyOf(dataDir: string, secret: string | undefined): { key: Uint8Array; isNew: boolean } {
  if (secret !== undefined) return { key: Buffer.from(secret, 'base64'), isNew: false }
  const known = readKey(dataDir)
  if (known) return { key: known, isNew: false }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const making = `${keyFile(dataDir)}.${randomBytes(6).toString('hex')}`
  writeFileSync(making, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(making, keyFile(dataDir))
    syncFolder(dataDir)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(making)
  }
  const made = readKey(dataDir)
  if (!made) throw new Error(`${keyFile(dataDir)} was neither made nor found`)
  return { key: made, isNew: true }
}

/** The key of the file; undefined when there is none. */
export function readKey(dataDir: string): Uint8Array | undefined {
  try {
    return Buffer.from(readFileSync(keyFile(dataDir), 'utf8').trim(), 'base64')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
