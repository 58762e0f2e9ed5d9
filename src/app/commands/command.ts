import { loadSettingsFile } from '../../settings-file.ts'
import {
  type Ask,
  type Contents,
  compareAuditKey,
  type Database,
  keyFile,
  openDatabase,
  openStopped,
  readKey,
} from '../../store/index.ts'
import { assertSafeServer } from '../addresses.ts'
import { keyProblem, keySource } from '../audit-key.ts'

/** Describes the contents of a store, for the commands for backup and restore. */
export function contentsText({ requests, templates, newestChange }: Contents): string {
  const newest = newestChange === null ? '' : `; the newest change is from ${newestChange}`
  return `${counted(requests, 'request')} and ${counted(templates, 'template')}${newest}`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** An audit key with its source. */
export interface SourcedKey {
  readonly key: Uint8Array | undefined
  readonly source: string
}

/** Reads the key from AUDIT_SECRET, or from the file in DATA_DIR. */
export function ownKey(dataDir: string, variables: NodeJS.ProcessEnv): SourcedKey {
  const secret = variables['AUDIT_SECRET'] || undefined
  const key = secret === undefined ? readKey(keyFile(dataDir)) : Buffer.from(secret, 'base64')
  return { key, source: keySource(dataDir, secret) }
}

/** Reads the key from a file that the command line names. */
export function namedKey(file: string): SourcedKey & { readonly key: Uint8Array } {
  const key = readKey(file)
  if (key === undefined) throw new Error(`${file} does not exist: specify the file with the audit key.`)
  return { key, source: file }
}

/** Compares a key with a store. */
export async function examineKey(ask: Ask, { key, source }: SourcedKey) {
  const facts = await compareAuditKey(ask, key)
  return { ...facts, source, problem: keyProblem(facts, source) }
}

/** Throws if the service uses a server: the embedded store in DATA_DIR is then an old one, or nobody uses it. */
export function assertEmbedded(dataDir: string, variables: NodeJS.ProcessEnv, remedy: string): void {
  if (!variables['DATABASE_URL']) return
  throw new Error(
    `The store is a server (DATABASE_URL). ${remedy} If you mean the embedded store in ${dataDir}, which the service does not use, unset DATABASE_URL: put DATABASE_URL= before the command.`,
  )
}

/** Opens the store at DATABASE_URL, or the embedded store in DATA_DIR, whose service must be stopped. */
export async function openStore(dataDir: string, variables: NodeJS.ProcessEnv): Promise<Database> {
  const databaseUrl = variables['DATABASE_URL']
  if (!databaseUrl) return openStopped(dataDir)
  assertSafeServer(databaseUrl, variables)
  return openDatabase({ databaseUrl, dataDir })
}

/** Runs a command with the settings of the settings file. An error is written as one message, and the exit code is 1. */
export async function runCommand(run: () => Promise<void>): Promise<void> {
  try {
    loadSettingsFile()
    await run()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
