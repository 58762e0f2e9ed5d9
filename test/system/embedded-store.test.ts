import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/database/database.ts'
import { openEmbedded } from '../../src/store/database/embedded.ts'
import { startChild } from '../support/child.ts'
import { newStoreOptions, withDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

describe('the embedded store keeps acknowledged data', () => {
  it('and flushes the disk once for each commit', async () => {
    const store = await openEmbedded(await newStoreOptions('embedded'))
    await store.pool.query('create table facts (id integer)')
    const before = store.flushes()
    for (let id = 0; id < 50; id += 1) await store.pool.query('insert into facts values ($1)', [id])
    expect(store.flushes() - before).toBe(50)
    expect(store.flushMilliseconds).toBeGreaterThan(0)
    await store.close()
  })

  it('and has every committed row after kill -9, again and again', async () => {
    const options = await newStoreOptions('embedded')
    for (let round = 0; round < 4; round += 1) {
      const child = startChild('store-process.ts', 'write', JSON.stringify(options))
      await child.lines(40 + round * 17)
      const acknowledged = (await child.kill()).filter((line) => line !== '').map(Number)
      const database = await openDatabase(options)
      const { rows } = await database.query<{ id: number }>('select id from facts')
      const kept = new Set(rows.map(({ id }) => id))
      expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
      await database.close()
    }
  })

  it('and starts again when the process died during the creation of the store', async () => {
    const options = await newStoreOptions('embedded')
    rmSync(join(options.dataDir, 'postgres'), { recursive: true })
    const unfinished = () => readdirSync(options.dataDir).filter((name) => name.startsWith('postgres.new-'))
    const child = startChild('store-process.ts', 'write', JSON.stringify(options))
    await until(() => unfinished().length > 0, 'a folder for the new store')
    await child.kill()
    // The process of initdb ends a moment later, and can still write into its own folder.
    await until(async () => {
      const database = await openDatabase(options)
      expect(await database.ping()).toBeGreaterThan(0)
      await database.close()
      return unfinished().length === 0
    }, 'the removal of the unfinished folder')
  })

  it('and starts again when an earlier version died during the creation of the store', async () => {
    const options = await newStoreOptions('embedded')
    writeFileSync(join(options.dataDir, 'postgres', 'postgresql.conf'), 'half written')
    writeFileSync(join(options.dataDir, 'postgres.initialising'), '')
    const database = await openDatabase(options)
    expect(await database.ping()).toBeGreaterThan(0)
    expect(readdirSync(options.dataDir)).not.toContain('postgres.initialising')
    await database.close()
  })

  it('and belongs to one process at a time, and is free after that process was killed', async () => {
    const options = await newStoreOptions('embedded')
    const child = startChild('store-process.ts', 'write', JSON.stringify(options))
    await child.lines(1)
    await expect(openDatabase(options)).rejects.toThrow(
      `The data folder ${join(options.dataDir, 'postgres')} is in use`,
    )
    await child.kill()
    const database = await openDatabase(options)
    await expect(openDatabase(options)).rejects.toThrow('is in use by another process')
    await database.close()
    await (await openDatabase(options)).close()
  })

  it('and does not grow without bound: maintenance recycles the log and clears dead rows', async () => {
    const options = await newStoreOptions('embedded')
    const store = await openEmbedded(options)
    const segments = () => readdirSync(join(options.dataDir, 'postgres/pg_wal')).filter((file) => /^\w{24}$/.test(file))
    await store.pool.query('create table facts (id integer primary key, note text)')
    await store.pool.query(`insert into facts select id, '' from generate_series(1, 500) id`)
    const churn = async () => {
      // Random text does not compress: some 5 MB of log each time.
      for (let round = 0; round < 4; round += 1) {
        await store.pool.query(
          `update facts set note = (select string_agg(md5(random()::text || facts.id || piece), '') from generate_series(1, 200) piece)`,
        )
      }
    }
    for (let round = 0; round < 8; round += 1) {
      await churn()
      await store.maintain()
    }
    const written = await store.pool.query(`select (pg_current_wal_lsn() - '0/0')::integer / 1048576 as megabytes`)
    expect(written.rows[0].megabytes).toBeGreaterThan(130)
    expect(segments().length).toBeLessThanOrEqual(5)
    const { rows } = await store.pool.query<{ dead: number }>(
      `select n_dead_tup::integer as dead from pg_stat_user_tables where relname = 'facts' and last_vacuum is not null`,
    )
    expect(rows[0]?.dead).toBeLessThan(200)
    await store.close()
  })
})

describe('one connection for all callers', () => {
  const store = withDatabase('embedded', { migrated: false })

  it('does not block the event loop while 32 callers saturate it', async () => {
    const { database } = store
    await database.query('create table busy (id bigint generated always as identity, note text)')
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const caller = async () => {
      for (let round = 0; round < 40; round += 1) {
        await database.transaction(async () => {
          await database.query('insert into busy (note) values ($1)', ['one'])
          await database.query('insert into busy (note) values ($1)', ['two'])
        })
      }
    }
    await Promise.all(Array.from({ length: 32 }, caller))
    clearInterval(timer)
    expect((await database.query('select count(*) as count from busy')).rows).toEqual([{ count: 32 * 40 * 2 }])
    expect(turns).toBeGreaterThan(50)
  })
})
