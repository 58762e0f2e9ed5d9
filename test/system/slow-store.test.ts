import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { newStoreOptions, serverUrl } from '../support/database.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

describe('a database server that answers slowly', () => {
  let proxy: TcpProxy
  let database: Database
  beforeAll(async () => {
    const server = new URL(await serverUrl())
    proxy = await startTcpProxy(Number(server.port))
    server.port = String(proxy.port)
    database = await openDatabase({ ...(await newStoreOptions('server')), databaseUrl: server.href })
  })
  afterAll(async () => {
    await proxy.heal()
    await database.close()
    await proxy.close()
  })
  const one = async () => (await database.query<{ one: number }>('select 1 as one')).rows
  const isThere = () =>
    one().then(
      (rows) => rows.length === 1,
      () => undefined,
    )

  it('is not mistaken for a dead one: a doubted connection recovers although every new connection takes long', async () => {
    await one()
    // Half a second or more for each round trip: a connection with a query takes longer than the check of a doubted
    // connection.
    proxy.delay(300)
    expect(await one()).toEqual([{ one: 1 }])
    proxy.forget()
    await expect(one()).rejects.toMatchObject({ code: 'unavailable' })
    await until(isThere, 'the slow server to be there', 15)
    expect(await one()).toEqual([{ one: 1 }])
  })

  it('for one statement only fails that statement, and refuses no other caller', async () => {
    proxy.delay(0)
    await until(isThere, 'the server to be there', 15)
    const slow = database.query('select pg_sleep(4)').catch((error: unknown) => error)
    const others = setInterval(() => void answers.push(isThere()), 100)
    const answers: Promise<boolean | undefined>[] = []
    expect(await slow).toMatchObject({ code: 'unavailable' })
    clearInterval(others)
    expect(answers.length).toBeGreaterThan(10)
    expect(new Set(await Promise.all(answers))).toEqual(new Set([true]))
    expect(await one()).toEqual([{ one: 1 }])
  })

  it('within the time limit is awaited', async () => {
    expect((await database.query('select pg_sleep(2)')).rowCount).toBe(1)
  })
})
