import '../../private-umask.ts'
import { existsSync, renameSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Ask, BackupError, isSame, keyFile, restoreStore, writeKey } from '../../store/index.ts'
import { examineKey, holds, namedKey, ownKey, runCommand, type SourcedKey } from './command.ts'

const usage = `Brings back a copy of the embedded store that npm run backup has made. Stop the service first.

  npm run restore -- <file.tar.gz>             into an empty DATA_DIR (data, unless set)
  npm run restore -- <file.tar.gz> --replace   in the place of the store that is there, which is kept beside it
  --with-audit-key <file>                      also puts the audit key of this file into DATA_DIR, if it fits the store`

/** `npm run restore`: the embedded store from a file. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { replace: { type: 'boolean' }, 'with-audit-key': { type: 'string' } },
    allowPositionals: true,
  })
  const [file] = positionals
  if (file === undefined || positionals.length > 1) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  const keyName = values['with-audit-key']
  const given = keyName === undefined ? undefined : namedKey(keyName)
  let found: Awaited<ReturnType<typeof examineKey>> | undefined
  const inspect = async (ask: Ask) => {
    found = await examineKey(ask, given ?? ownKey(dataDir, process.env))
    if (given && found.problem !== undefined) throw new BackupError(`${found.problem} Nothing was restored.`)
  }
  const restored = await restoreStore(dataDir, file, { replace: values.replace === true, inspect })
  process.stdout.write(`The store in ${dataDir} holds ${holds(restored)}.\n`)
  if (restored.kept !== undefined) process.stdout.write(`The one before is kept in ${restored.kept}\n`)
  if (given) process.stdout.write(placeKey(dataDir, given))
  else if (found) process.stdout.write(aboutKey(found, file))
}

/** Puts the key into DATA_DIR, unless AUDIT_SECRET counts. Another key there is kept beside it. */
function placeKey(dataDir: string, { key, source }: ReturnType<typeof namedKey>): string {
  const own: SourcedKey = ownKey(dataDir, process.env)
  if (own.source === 'AUDIT_SECRET')
    return isSame(own.key, key)
      ? 'AUDIT_SECRET is the audit key of this store.\n'
      : `Set AUDIT_SECRET to what ${source} says before you start the service: its value now is another key.\n`
  const path = keyFile(dataDir)
  const kept = `${path}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`
  const isOther = existsSync(path) && !isSame(own.key, key)
  if (isOther) renameSync(path, kept)
  writeKey(path, key)
  return `The audit key is in ${path}.${isOther ? ` The one before is kept in ${kept}` : ''}\n`
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
