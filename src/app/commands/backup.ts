import '../../private-umask.ts'
import { parseArgs } from 'node:util'
import { type Ask, BackupError, backUpStore, writeKey } from '../../store/index.ts'
import { assertSafeServer } from '../addresses.ts'
import { examineKey, holds, ownKey, runCommand, type SourcedKey } from './command.ts'
import { moveStore } from './move-store.ts'

const usage = `Keeps a copy of the embedded store. Stop the service first.

  npm run backup -- <file.tar.gz>            writes it to a new file; npm run restore -- <file.tar.gz> brings it back
  npm run backup -- --to postgres://…        copies it into an empty database of a PostgreSQL server
  --with-audit-key <file>                    also writes the audit key, to a file of its own. No copy of the store has it

DATA_DIR says where the store is (data, unless set).`

/** `npm run backup`: the embedded store into a file, or into a server. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { to: { type: 'string' }, 'with-audit-key': { type: 'string' } },
    allowPositionals: true,
  })
  const dataDir = process.env['DATA_DIR'] || 'data'
  const [file] = positionals
  const isToServer = values.to !== undefined
  if (positionals.length !== (isToServer ? 0 : 1) || values['with-audit-key'] === '') throw new Error(usage)
  const key = keyCopy(ownKey(dataDir, process.env), values['with-audit-key'])
  if (values.to !== undefined) return toServer(dataDir, values.to, key)
  const onServer = process.env['DATABASE_URL'] && !process.env['DATA_DIR']
  if (onServer) throw new Error('The store is a server (DATABASE_URL): back it up with its own tools, such as pg_dump.')
  const held = await backUpStore(dataDir, file ?? '', key.inspect)
  process.stdout.write(`${file} holds ${holds(held)}.\n${key.about()}`)
}

async function toServer(dataDir: string, databaseUrl: string, key: ReturnType<typeof keyCopy>): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))
    throw new Error('--to must be a postgres:// address.')
  assertSafeServer(databaseUrl, process.env, '--to')
  const auditSecret = process.env['AUDIT_SECRET'] || undefined
  const moved = await moveStore({ dataDir, databaseUrl, auditSecret, inspect: key.inspect })
  const jobs = moved.waitingJobs === 1 ? '1 job that waits' : `${moved.waitingJobs} jobs that wait`
  process.stdout.write(
    `The server holds ${holds(moved)}, and ${jobs} (${moved.rows} rows in all).
Start the service with DATABASE_URL set to it, and no longer without: what is in ${dataDir} stays as it is.
${key.about()}`,
  )
}

/** Copies the audit key to a file if the command line names one, and says where the key is. */
function keyCopy(own: SourcedKey, file: string | undefined) {
  let about = ''
  return {
    about: () => about,
    /** Runs before the store is copied: a key that does not fit is copied nowhere. */
    async inspect(ask: Ask): Promise<void> {
      const { problem, fingerprint, source, needed } = await examineKey(ask, own)
      if (file === undefined) {
        about =
          problem === undefined ? notIncluded(source, fingerprint) : `The audit key is not in this copy. ${problem}\n`
        return
      }
      if (problem !== undefined) throw new BackupError(`${problem} Nothing was copied.`)
      if (own.key === undefined)
        throw new BackupError(
          `There is no audit key in ${source} yet, so nothing was copied. Leave --with-audit-key out.`,
        )
      writeKey(file, own.key)
      about = `${file} holds the audit key (fingerprint ${fingerprint ?? needed}). Keep it apart from the copy of the store: a person who has both can rewrite the audit.
A service over this copy needs it: npm run restore -- … --with-audit-key ${file}, or AUDIT_SECRET set to what the file says.\n`
    },
  }
}

function notIncluded(source: string, fingerprint: string | undefined): string {
  if (fingerprint === undefined) return ''
  return `The audit key is not in this copy: it is in ${source} (fingerprint ${fingerprint}).
Keep it in a safe place apart from the copy. Without it nobody can prove the audit, and production does not start over this copy.
--with-audit-key <file> writes it to a file.\n`
}

await runCommand(main)
