import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditKeyFacts, compareKey, fingerprintOf, type StoredSeals } from '../../core/index.ts'
import { type Ask, BackupError, type Database, type Link, renameToNew } from '../database/index.ts'
import { ownSetting } from '../shared/index.ts'

/** Returns the path of the key file, for installations without the setting: next to the store, not in it. */
export const keyFile = (dataDir: string): string => join(dataDir, 'audit.key')

/**
 * Returns the key that seals the audit: from the setting, or from a file that only its owner can read. The first call
 * creates the file. Processes that start at the same time all get the key of the first, if the disk has hard links.
 */
export function auditKeyOf(dataDir: string, secret: string | undefined, link?: Link): Uint8Array {
  if (secret !== undefined) return Buffer.from(secret, 'base64')
  const known = readKey(keyFile(dataDir))
  if (known) return known
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const draft = `${keyFile(dataDir)}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, textOf(randomBytes(32)), { mode: 0o600, flush: true })
  try {
    renameToNew(draft, keyFile(dataDir), link)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  const stored = readKey(keyFile(dataDir))
  if (!stored) throw new Error(`${keyFile(dataDir)} could not be created`)
  return stored
}

const textOf = (key: Uint8Array): string => `${Buffer.from(key).toString('base64')}\n`
const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** Reads a key from its file; undefined without a file. Throws a {@link BackupError} for a file that holds no key. */
export function readKey(file: string): Uint8Array | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw new BackupError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  const key = Buffer.from(text, 'base64')
  if (key.length < 32 || !/^[\w+/-]+=*$/.test(text))
    throw new BackupError(`${file} contains no audit key: write 32 bytes or more in base64 on one line.`)
  return key
}

/** Writes a key to a new file that only its owner can read. Leaves a file that already contains this key. */
export function writeKey(file: string, key: Uint8Array): void {
  try {
    writeFileSync(file, textOf(key), { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    if (!hasCode(error, 'EEXIST'))
      throw new BackupError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
    if (!isSame(readKey(file), key))
      throw new BackupError(`${file} exists already and contains another key: choose another name.`)
    chmodSync(file, 0o600)
  }
}

export const isSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.from(one).equals(other)

/** How many seals are compared in a store without a recorded fingerprint. */
const compared = 200
const setting = 'audit-key-fingerprint'

/** Compares a key with the seals of a store. Changes nothing, and reads stores of all versions. */
export async function compareAuditKey(ask: Ask, key: Uint8Array | undefined): Promise<AuditKeyFacts> {
  const has = async (table: string) =>
    (await rowsOf<{ there: boolean }>(ask, `SELECT to_regclass('${table}') IS NOT NULL AS there`))[0]?.there === true
  const recorded = (await has('settings'))
    ? (await rowsOf<{ value: string }>(ask, `SELECT value FROM settings WHERE name = '${setting}'`))[0]?.value
    : undefined
  if (recorded !== undefined || !(await has('audit_heads'))) return compareKey(key, { recorded, heads: [] })
  const heads = await rowsOf<StoredSeals['heads'][number]>(
    ask,
    `SELECT request_id AS "requestId", seq, hash, seal FROM audit_heads WHERE seal IS NOT NULL
     ORDER BY request_id LIMIT ${compared}`,
  )
  return compareKey(key, { recorded, heads })
}

const rowsOf = async <T>(ask: Ask, sql: string): Promise<readonly T[]> => (await ask(sql)).rows as readonly T[]

/** Records that this key seals the store. The key of the first process wins; returns whether it is this key. */
export const recordAuditKey = async (database: Database, key: Uint8Array): Promise<boolean> =>
  (await ownSetting(database, setting, () => fingerprintOf(key))) === fingerprintOf(key)

/** Records that this key seals the store from now on. Entries with seals of another key can no longer be proved. */
export async function replaceAuditKey(database: Database, key: Uint8Array): Promise<void> {
  await database.query(
    'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [setting, fingerprintOf(key)],
  )
}
