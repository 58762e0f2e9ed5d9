import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startDatabase } from '../support/replica-set.ts'

/** The location of a store, in the format of `openDatabase`. */
export interface Place {
  readonly dataDir: string
  readonly databaseUrl?: string
}
export type Engine = 'embedded' | 'server'

/** Returns the settings of the service for the store, besides its folder. */
export const variablesOf = ({ databaseUrl }: Place): Record<string, string> =>
  databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }

/**
 * Opens stores of both kinds in one folder. The server starts with the first store of its kind, and flushes its
 * commits.
 */
export function openPlaces(folder: string) {
  let server: ReturnType<typeof startDatabase> | undefined
  let count = 0
  return {
    async place(engine: Engine): Promise<Place> {
      count += 1
      const dataDir = join(folder, `store-${count}`)
      mkdirSync(dataDir, { recursive: true })
      if (engine === 'embedded') return { dataDir }
      server ??= startDatabase(folder, { fsync: true })
      return { dataDir, databaseUrl: await newDatabase((await server).url, `bench_${count}`) }
    },
    async close() {
      await (await server)?.stop()
    },
  }
}
export type Places = ReturnType<typeof openPlaces>

async function newDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client(server)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = name
  return url.href
}
