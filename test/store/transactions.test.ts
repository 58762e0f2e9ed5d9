import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { type EngineName, engines, withDatabase } from '../support/database.ts'

/** A store with one table, empty before each test. */
function withFacts(engine: EngineName) {
  const store = withDatabase(engine, { migrated: false })
  beforeEach(async () => {
    await store.database.query('drop table if exists facts')
    await store.database.query('create table facts (id bigint primary key, at timestamptz, data jsonb)')
  })
  return {
    store,
    insert: (id: number) => store.database.query('insert into facts (id) values ($1)', [id]),
    kept: async () => (await store.database.query('select id from facts order by id')).rows.map(({ id }) => id),
  }
}

describe.each(engines)('transactions, %s', (engine) => {
  const { store, insert, kept } = withFacts(engine)

  it('store all of their work or nothing', async () => {
    await store.database.transaction(async () => {
      await Promise.all([insert(1), insert(2)])
    })
    const failure = store.database.transaction(async () => {
      await insert(3)
      throw new Error('changed my mind')
    })
    await expect(failure).rejects.toThrow('changed my mind')
    expect(await kept()).toEqual([1, 2])
  })

  it('join the surrounding transaction, and a failed part rolls back all of it', async () => {
    await store.database.transaction(async () => {
      await insert(1)
      await store.database.transaction(() => insert(2))
    })
    const failure = store.database.transaction(async () => {
      await insert(3)
      await store.database
        .transaction(async () => {
          await insert(4)
          throw new Error('half done')
        })
        .catch(() => undefined)
    })
    await expect(failure).rejects.toThrow('A part of this transaction failed')
    expect(await kept()).toEqual([1, 2])
  })

  it('fail to commit when the error of a statement was ignored', async () => {
    const failure = store.database.transaction(async () => {
      await insert(1)
      await insert(1).catch(() => undefined)
    })
    await expect(failure).rejects.toThrow('A statement of this transaction failed')
    expect(await kept()).toEqual([])
  })

  it('report the statement that failed first, also if the work waits for a later one', async () => {
    const failure = store.database.transaction(async () => {
      await insert(1)
      const [first, later] = [insert(1), insert(2)]
      first.catch(() => undefined)
      await later
    })
    await expect(failure).rejects.toThrow('duplicate key')
    expect(await kept()).toEqual([])
  })

  it('report the statement that failed first, also if a later one was not prepared because of it', async () => {
    const unseen = () => store.database.query('SELECT $1::int + 17', [1])
    const failure = store.database.transaction(async () => {
      await insert(1)
      const statements = [insert(1), unseen(), unseen()]
      for (const one of statements) one.catch(() => undefined)
      await statements[2]
    })
    await expect(failure).rejects.toThrow('duplicate key')
    expect(await kept()).toEqual([])
  })

  it('throw when their work continues after their end', async () => {
    let resume: () => void = () => undefined
    const paused = new Promise<void>((resolve) => {
      resume = resolve
    })
    let late: Promise<unknown> | undefined
    await store.database.transaction(async () => {
      await insert(1)
      late = paused.then(() => insert(2))
    })
    resume()
    await expect(late).rejects.toThrow('This transaction has ended')
    expect(await kept()).toEqual([1])
  })

  it('can start work outside of themselves', async () => {
    let later: Promise<unknown> | undefined
    await store.database.transaction(async () => {
      later = store.database.outside(async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        return insert(7)
      })
    })
    await later
    expect(await kept()).toEqual([7])
  })

  it('refuse outgoing calls', async () => {
    store.database.assertOutside('Microsoft Graph')
    const calling = store.database.transaction(async () => store.database.assertOutside('Microsoft Graph'))
    await expect(calling).rejects.toThrow('Microsoft Graph must not be called while a transaction is open')
    await store.database.transaction(async () => {
      store.database.outside(() => store.database.assertOutside('Microsoft Graph'))
    })
  })

  it('leave a usable connection after every kind of failure', async () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const { database } = store
    const failures = [
      () => database.query('insert into facts (id, data) values (1, $1)', [circle]),
      () => database.query('begin; insert into facts (id) values (2); select 1 / 0; commit'),
      () => database.query('not even SQL'),
      () => database.transaction(() => database.query('insert into facts (id, data) values (3, $1)', [circle])),
      () => database.transaction(() => database.query('select 1 / 0')),
    ]
    for (const failure of failures) {
      await expect(failure()).rejects.toThrow()
      await database.transaction(() => database.query('delete from facts'))
    }
    await insert(1)
    expect(await kept()).toEqual([1])
  })

  it('read bigint as number, timestamps as Date and jsonb as the written value', async () => {
    const at = new Date('2026-02-03T04:05:06.789Z')
    await store.database.query('insert into facts values ($1, $2, $3)', [2 ** 40, at, { nested: [1, null] }])
    const { rows, rowCount } = await store.database.query('select *, count(*) over () as many from facts')
    expect(rows).toEqual([{ id: 2 ** 40, at, data: { nested: [1, null] }, many: 1 }])
    expect(rowCount).toBe(1)
  })
})

// The embedded store has one connection: it cannot be cut, and locks cannot wait for each other.
describe('transactions on many connections, server', () => {
  const { store, insert, kept } = withFacts('server')

  it('report an unavailable store when its connections are cut, and work again afterwards', async () => {
    const { database, options } = store
    const cutting = new pg.Client(options.databaseUrl)
    await cutting.connect()
    const cut = database.transaction(async () => {
      const { rows } = await database.query('select pg_backend_pid() as pid')
      await insert(1)
      await cutting.query('select pg_terminate_backend($1, 5000)', [rows[0]?.['pid']])
      await insert(2)
    })
    await expect(cut).rejects.toMatchObject({ code: 'unavailable' })
    await cutting.end()
    await insert(3)
    expect(await kept()).toEqual([3])
  })

  it('are run again after a deadlock', async () => {
    await insert(1)
    await insert(2)
    const { database } = store
    let inside = 0
    let open: () => void = () => undefined
    const both = new Promise<void>((resolve) => {
      open = resolve
    })
    const lockInOrder = (first: number, second: number) =>
      database.transaction(async () => {
        await database.query('select id from facts where id = $1 for update', [first])
        inside += 1
        if (inside >= 2) open()
        await both
        await database.query('select id from facts where id = $1 for update', [second])
      })
    await Promise.all([lockInOrder(1, 2), lockInOrder(2, 1)])
    expect(inside).toBe(3)
  })
})
