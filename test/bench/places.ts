import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startDatabase } from '../support/replica-set.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

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
  const proxies: TcpProxy[] = []
  const farFrom = async (databaseUrl: string, roundTrip: number): Promise<string> => {
    const url = new URL(databaseUrl)
    const proxy = await startTcpProxy(Number(url.port))
    proxies.push(proxy)
    proxy.delay(roundTrip / 2)
    url.port = String(proxy.port)
    return url.href
  }
  return {
    /** Opens a new store. `roundTrip`: the time to a server and back, in milliseconds; 0 = on this machine. */
    async place(engine: Engine, roundTrip = 0): Promise<Place> {
      count += 1
      const dataDir = join(folder, `store-${count}`)
      mkdirSync(dataDir)
      if (engine === 'embedded') return { dataDir }
      server ??= startDatabase(folder, { fsync: true })
      const databaseUrl = await newDatabase((await server).url, `bench_${count}`)
      return { dataDir, databaseUrl: roundTrip === 0 ? databaseUrl : await farFrom(databaseUrl, roundTrip) }
    },
    async close() {
      for (const proxy of proxies) await proxy.close()
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
