import '../../private-umask.ts'
import { parseArgs } from 'node:util'
import { backUpStore, keyFile } from '../../store/index.ts'
import { assertSafeServer } from '../addresses.ts'
import { holds, runCommand } from './command.ts'
import { moveStore } from './move-store.ts'

const usage = `Keeps a copy of the embedded store. Stop the service first.

  npm run backup -- <file.tar.gz>            writes it to a new file; npm run restore -- <file.tar.gz> brings it back
  npm run backup -- --to postgres://…        copies it into an empty database of a PostgreSQL server

DATA_DIR says where the store is (data, unless set).`

/** `npm run backup`: the embedded store into a file, or into a server. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { to: { type: 'string' } }, allowPositionals: true })
  const dataDir = process.env['DATA_DIR'] || 'data'
  const [file] = positionals
  if (values.to !== undefined && positionals.length === 0) return toServer(dataDir, values.to)
  if (values.to !== undefined || file === undefined || positionals.length > 1) throw new Error(usage)
  const onServer = process.env['DATABASE_URL'] && !process.env['DATA_DIR']
  if (onServer) throw new Error('The store is a server (DATABASE_URL): back it up with its own tools, such as pg_dump.')
  process.stdout.write(`${file} holds ${holds(await backUpStore(dataDir, file))}.\n${aboutKey(dataDir)}`)
}

async function toServer(dataDir: string, databaseUrl: string): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))
    throw new Error('--to must be a postgres:// address.')
  assertSafeServer(databaseUrl, process.env, '--to')
  const moved = await moveStore({ dataDir, databaseUrl, auditSecret: process.env['AUDIT_SECRET'] || undefined })
  const jobs = moved.waitingJobs === 1 ? '1 job that waits' : `${moved.waitingJobs} jobs that wait`
  process.stdout.write(
    `The server holds ${holds(moved)}, and ${jobs} (${moved.rows} rows in all).
Start the service with DATABASE_URL set to it, and no longer without: what is in ${dataDir} stays as it is.\n${aboutKey(dataDir)}`,
  )
}

/** The key is not in the store, so a copy does not contain it. */
const aboutKey = (dataDir: string): string =>
  process.env['AUDIT_SECRET']
    ? ''
    : `The key that proves the audit is not in it: keep ${keyFile(dataDir)} elsewhere, or set AUDIT_SECRET to what it says.\n`

await runCommand(main)
