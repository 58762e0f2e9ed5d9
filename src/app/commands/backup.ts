import '../../private-umask.ts'
import { parseArgs } from 'node:util'
import { type Ask, BackupError, backUpStore, writeKey } from '../../store/index.ts'
import { assertSafeServer } from '../addresses.ts'
import { assertEmbedded, contentsText, examineKey, ownKey, runCommand, type SourcedKey } from './command.ts'
import { moveStore } from './move-store.ts'

const usage = `Copies the embedded store. Stop the service first.

  npm run backup -- <file.tar.gz>            copies the store to a new file, for npm run restore -- <file.tar.gz>
  npm run backup -- --to postgres://…        copies the store to an empty database of a PostgreSQL server
  --with-audit-key <file>                    also writes the audit key to a separate file. Copies of the store do not contain it

The store is in DATA_DIR (default: data).`

/** `npm run backup`: copies the embedded store to a file or a server. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { to: { type: 'string' }, 'with-audit-key': { type: 'string' } },
    allowPositionals: true,
  })
  const dataDir = process.env['DATA_DIR'] || 'data'
  const [file] = positionals
  const isToServer = values.to !== undefined
  if (positionals.length !== (isToServer ? 0 : 1) || values['with-audit-key'] === '') throw new Error(usage)
  if (!isToServer) assertEmbedded(dataDir, process.env, 'Back it up with its own tools, such as pg_dump.')
  const key = keyCopy(ownKey(dataDir, process.env), values['with-audit-key'])
  if (values.to !== undefined) return toServer(dataDir, values.to, key)
  const contents = await backUpStore(dataDir, file ?? '', key.inspect)
  process.stdout.write(`${file} contains ${contentsText(contents)}.\n${key.about()}`)
}

async function toServer(dataDir: string, databaseUrl: string, key: ReturnType<typeof keyCopy>): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))
    throw new Error('--to must be a postgres:// address.')
  assertSafeServer(databaseUrl, process.env, '--to')
  const auditSecret = process.env['AUDIT_SECRET'] || undefined
  const moved = await moveStore({ dataDir, databaseUrl, auditSecret, inspect: key.inspect })
  const jobs = moved.waitingJobs === 1 ? '1 waiting job' : `${moved.waitingJobs} waiting jobs`
  process.stdout.write(
    `The server contains ${contentsText(moved)}, and ${jobs} (${moved.rows} rows in total).
From now on, start the service with DATABASE_URL set to this server. The data in ${dataDir} stays unchanged and is no longer used.
${key.about()}`,
  )
}

/** Copies the audit key to a file if the command line names one, and describes where the key is. */
function keyCopy(own: SourcedKey, file: string | undefined) {
  let about = ''
  return {
    about: () => about,
    /** Runs before the store is copied, so that a wrong key is never copied. */
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
          `${source} has no audit key yet, so nothing was copied. Run the command without --with-audit-key.`,
        )
      writeKey(file, own.key)
      about = `${file} contains the audit key (fingerprint ${fingerprint ?? needed}). Store it separately from the copy: a person with both can rewrite the audit.
A service with this copy needs the key: npm run restore -- … --with-audit-key ${file}, or AUDIT_SECRET with the content of the file.\n`
    },
  }
}

function notIncluded(source: string, fingerprint: string | undefined): string {
  if (fingerprint === undefined) return ''
  return `The audit key is not in this copy: it is in ${source} (fingerprint ${fingerprint}).
Store the key in a safe place, separately from the copy. Without the key, the audit cannot be proved, and production does not start with this copy.
--with-audit-key <file> writes the key to a file.\n`
}

await runCommand(main)
