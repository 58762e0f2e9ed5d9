import '../../private-umask.ts'
import { existsSync, renameSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Ask, BackupError, isSame, keyFile, restoreStore, writeKey } from '../../store/index.ts'
import { assertEmbedded, contentsText, examineKey, namedKey, ownKey, runCommand, type SourcedKey } from './command.ts'

const usage = `Restores the embedded store from a copy of npm run backup. Stop the service first.

  npm run restore -- <file.tar.gz>             restores into an empty DATA_DIR (default: data)
  npm run restore -- <file.tar.gz> --replace   replaces the current store, and keeps it next to the new store
  --with-audit-key <file>                      also copies the audit key from this file to DATA_DIR, if it fits the store`

/** `npm run restore`: restores the embedded store from a file. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { replace: { type: 'boolean' }, 'with-audit-key': { type: 'string' } },
    allowPositionals: true,
  })
  const [file] = positionals
  if (file === undefined || positionals.length > 1) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  assertEmbedded(dataDir, process.env, 'Restore it with its own tools, such as pg_restore.')
  const keyName = values['with-audit-key']
  const namedFileKey = keyName === undefined ? undefined : namedKey(keyName)
  let found: Awaited<ReturnType<typeof examineKey>> | undefined
  const inspect = async (ask: Ask) => {
    found = await examineKey(ask, namedFileKey ?? ownKey(dataDir, process.env))
    if (namedFileKey && found.problem !== undefined) throw new BackupError(`${found.problem} Nothing was restored.`)
  }
  const restored = await restoreStore(dataDir, file, { replace: values.replace === true, inspect })
  process.stdout.write(`The store in ${dataDir} contains ${contentsText(restored)}.\n`)
  if (restored.kept !== undefined) process.stdout.write(`The previous store is kept in ${restored.kept}\n`)
  if (namedFileKey) process.stdout.write(placeKey(dataDir, namedFileKey))
  else if (found) process.stdout.write(aboutKey(found, file))
}

/** Copies the key to DATA_DIR unless AUDIT_SECRET is set. Keeps another key there under a new name. */
function placeKey(dataDir: string, { key, source }: ReturnType<typeof namedKey>): string {
  const own: SourcedKey = ownKey(dataDir, process.env)
  if (own.source === 'AUDIT_SECRET')
    return isSame(own.key, key)
      ? 'AUDIT_SECRET is the audit key of this store.\n'
      : `AUDIT_SECRET is another key. Set it to the content of ${source} before you start the service.\n`
  const path = keyFile(dataDir)
  const kept = `${path}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`
  const isOther = existsSync(path) && !isSame(own.key, key)
  if (isOther) renameSync(path, kept)
  writeKey(path, key)
  return `The audit key is in ${path}.${isOther ? ` The previous key is kept in ${kept}` : ''}\n`
}

function aboutKey(found: Awaited<ReturnType<typeof examineKey>>, file: string): string {
  const { problem, fingerprint, source } = found
  const again = `npm run restore -- ${file} --replace --with-audit-key <file>`
  const next =
    source === 'AUDIT_SECRET'
      ? 'Set AUDIT_SECRET to that key before you start the service.'
      : `Put that key there before you start the service, or run: ${again}`
  if (problem !== undefined) return `${problem}\n${next}\n`
  return fingerprint === undefined ? '' : `The audit key in ${source} fits this store (fingerprint ${fingerprint}).\n`
}

await runCommand(main)
