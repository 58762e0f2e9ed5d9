import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { engines, withDatabase } from '../support/database.ts'

describe.each(engines)('migrations, %s', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  let folder: string

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quartermaster-migrations-'))
    await store.database.query('drop table if exists migrations, fruit, tree')
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const file = (name: string, sql: string) => writeFileSync(join(folder, name), sql)

  it('run once, in the order of their numbers', async () => {
    file('002-fill.sql', "insert into fruit values ('apple')")
    file('001-fruit.sql', "create table fruit (name text); comment on table fruit is 'sweet'")
    expect(await migrate(store.database, folder)).toEqual([1, 2])
    expect(await migrate(store.database, folder)).toEqual([])
    file('010-more.sql', "insert into fruit values ('pear')")
    expect(await migrate(store.database, folder)).toEqual([10])
    const { rows } = await store.database.query('select number, name, applied_at from migrations order by number')
    expect(rows).toMatchObject([
      { number: 1, name: 'fruit', applied_at: expect.any(Date) },
      { number: 2, name: 'fill' },
      { number: 10, name: 'more' },
    ])
  })

  it('roll back a failed migration and keep the earlier ones', async () => {
    file('001-fruit.sql', 'create table fruit (name text)')
    file('002-tree.sql', 'create table tree (name text); insert into nowhere values (1)')
    await expect(migrate(store.database, folder)).rejects.toThrow(/Migration 2 \(tree\) failed.*nowhere/)
    file('002-tree.sql', 'create table tree (name text)')
    expect(await migrate(store.database, folder)).toEqual([2])
  })

  it('refuse two files with the same number, and invalid file names', async () => {
    file('001-fruit.sql', '')
    file('001-tree.sql', '')
    await expect(migrate(store.database, folder)).rejects.toThrow('Two migrations have the number 001: fruit and tree')
    rmSync(join(folder, '001-tree.sql'))
    file('2-tree.sql', '')
    await expect(migrate(store.database, folder)).rejects.toThrow('2-tree.sql is not named')
  })

  it('refuse a store that is newer than the code', async () => {
    file('001-fruit.sql', 'create table fruit (name text)')
    file('002-tree.sql', 'create table tree (name text)')
    await migrate(store.database, folder)
    rmSync(join(folder, '002-tree.sql'))
    await expect(migrate(store.database, folder)).rejects.toThrow(
      /migration 2 \(tree\).*Start a version that is at least as new as the store/,
    )
  })

  it('run once when several replicas start at the same time', async () => {
    file('001-fruit.sql', 'create table fruit (name text)')
    file('002-fill.sql', "insert into fruit select 'apple' from pg_sleep(0.05)")
    const others = engine === 'server' ? await Promise.all([1, 2, 3].map(() => openDatabase(store.options))) : []
    const replicas = [store.database, store.database, ...others]
    const ran = (await Promise.all(replicas.map((replica) => migrate(replica, folder)))).flat()
    expect(ran.sort()).toEqual([1, 2])
    expect((await store.database.query('select * from fruit')).rows).toEqual([{ name: 'apple' }])
    await Promise.all(others.map((other) => other.close()))
  })

  // The embedded store has one connection, so deadlocks are impossible.
  if (engine === 'server')
    it('run again after a deadlock with a running replica', async () => {
      await store.database.query('create table fruit (name text); create table tree (name text)')
      file('001-both.sql', 'alter table fruit add column sweet boolean; alter table tree add column high boolean')
      const other = await openDatabase(store.options)
      const isBlocked = async () => {
        const { rows } = await store.database.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter table fruit%'`,
        )
        expect(rows).toHaveLength(1)
      }
      let migrated: Promise<number[]> = Promise.resolve([])
      await other.transaction(async () => {
        await other.query(`insert into tree values ('apple tree')`)
        migrated = migrate(store.database, folder)
        await vi.waitFor(() => other.outside(isBlocked), { timeout: 60_000, interval: 20 })
        // PostgreSQL ends the transaction that started to wait first: the migration.
        await other.query(`insert into fruit values ('apple')`)
      })
      expect(await migrated).toEqual([1])
      expect((await store.database.query('select * from fruit')).rows).toEqual([{ name: 'apple', sweet: null }])
      await other.close()
    })
})
