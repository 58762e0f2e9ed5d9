import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { rollBack, Transaction } from '../../src/store/database/transaction.ts'
import { createTurns } from '../../src/store/database/turns.ts'
import { engines, withDatabase } from '../support/database.ts'

/** A connection with the parts that a transaction uses. */
const clientOf = (pipeline: boolean, query: (statement: { text: string }) => Promise<unknown>) =>
  ({ pipeline, query }) as unknown as pg.PoolClient

describe('a transaction whose begin is refused', () => {
  /** Returns a connection on which only `begin` and `rollback` are expected, and the list of its statements. */
  const refusing = (refusal: Error, pipeline: boolean) => {
    const sent: string[] = []
    const query = async ({ text }: { text: string }) => {
      sent.push(text)
      if (text === 'begin') throw refusal
      if (text !== 'rollback') throw new Error(`nobody expected ${text}`)
    }
    return { client: clientOf(pipeline, query), sent }
  }
  const refusal = Object.assign(new Error('canceled'), { severity: 'ERROR', code: '57014' })

  it('runs no statements on a server, which would be stored without it', async () => {
    const { client, sent } = refusing(refusal, true)
    const transaction = new Transaction(client)
    const ended = transaction.run(async () => {
      await setImmediate()
      await transaction.query('insert into facts (id) values (1)')
      return () => expect.unreachable('there is no transaction')
    })
    await expect(ended).rejects.toBe(refusal)
    expect(sent).toEqual(['begin'])
  })

  it('leaves the session of the embedded store able to roll back, because it is never replaced', async () => {
    const { client, sent } = refusing(refusal, false)
    const work = async () => expect.unreachable('there is no transaction')
    await expect(new Transaction(client).run(work)).rejects.toBe(refusal)
    await rollBack(client)
    expect(sent).toEqual(['begin', 'rollback'])
  })
})

describe.each(engines)('the last statement of a transaction, %s', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  const add = async (id: number) =>
    (await store.database.query('insert into facts values ($1) returning id', [id])).rows
  const stored = async () => (await store.database.query('select id from facts order by id')).rows.map(({ id }) => id)

  beforeAll(async () => {
    await store.database.query('create table facts (id bigint primary key)')
  })

  it('is stored with the others, and its result returned', async () => {
    const result = await store.database.endingWith(async () => {
      await add(1)
      return () => add(2)
    })
    expect(result).toEqual([{ id: 2 }])
    expect(await stored()).toEqual([1, 2])
  })

  it('rolls everything back if PostgreSQL refuses it, and tells why', async () => {
    const ended = store.database.endingWith(async () => {
      await add(3)
      return () => add(1)
    })
    await expect(ended).rejects.toMatchObject({ constraint: 'facts_pkey' })
    expect(await stored()).toEqual([1, 2])
  })

  it('rolls everything back if it cannot be sent', async () => {
    const circle: Record<string, unknown> = {}
    circle['again'] = circle
    const ended = store.database.endingWith(async () => {
      await add(3)
      return () => store.database.query('select $1::jsonb', [circle])
    })
    await expect(ended).rejects.toThrow('circular')
    expect(await stored()).toEqual([1, 2])
  })

  it('fails the surrounding transaction with it', async () => {
    const ended = store.database.transaction(async () => {
      await add(3)
      await store.database.endingWith(async () => () => add(1)).catch(() => undefined)
    })
    await expect(ended).rejects.toThrow()
    expect(await stored()).toEqual([1, 2])
  })
})

describe('the last statement on a server', () => {
  it('leaves together with the commit, so that others wait only for PostgreSQL', async () => {
    const sent: string[] = []
    const answers: (() => void)[] = []
    const query = ({ text = 'commit' }: { text?: string }) => {
      sent.push(text)
      const result = { command: text.toUpperCase(), rows: [], rowCount: 0 }
      return new Promise((resolve) => answers.push(() => resolve(result)))
    }
    const transaction = new Transaction(clientOf(true, query))
    const ended = transaction.run(async () => () => transaction.query('select last'))
    await setImmediate()
    for (const answer of answers.splice(0)) answer()
    await setImmediate()
    expect(sent).toEqual(['begin', 'select last', 'commit'])
    for (const answer of answers.splice(0)) answer()
    await ended
  })
})

describe('locks on a server', () => {
  const store = withDatabase('server', { migrated: false })

  it('are held until the end of the transaction, in one order', async () => {
    const held: string[] = []
    const first = Promise.withResolvers<void>()
    const take = (name: string, locks: readonly string[], until?: Promise<void>) =>
      store.database.transaction(async () => {
        await store.database.hold(locks)
        held.push(name)
        await until
      })
    const one = take('one', ['person', 'template'], first.promise)
    await expect.poll(() => held).toEqual(['one'])
    const two = take('two', ['template', 'person'])
    await take('other', ['another person'])
    expect(held).toEqual(['one', 'other'])
    first.resolve()
    await Promise.all([one, two])
    expect(held).toEqual(['one', 'other', 'two'])
  })

  it('need a transaction', async () => {
    await expect(store.database.hold(['person'])).rejects.toThrow('transaction')
  })
})

describe('statements on a server', () => {
  const store = withDatabase('server', { migrated: false })
  const select = 'select * from facts where id = $1'
  const fact = async () => (await store.database.query(select, [1])).rows[0]

  beforeAll(async () => {
    await store.database.query('create table facts (id bigint primary key)')
    await store.database.query('insert into facts (id) values ($1)', [1])
  })

  /** Changes the table over another connection, like a newer replica. */
  async function addColumn(name: string): Promise<void> {
    const other = new pg.Client({ connectionString: store.options.databaseUrl })
    await other.connect()
    await other.query(`alter table ${store.options.schema}.facts add column ${name} text`)
    await other.end()
  }

  it('are prepared once on each connection', async () => {
    const { rows } = await store.database.transaction(async () => {
      await fact()
      await fact()
      return store.database.query('select name from pg_prepared_statements where statement = $1', [select])
    })
    expect(rows).toHaveLength(1)
  })

  it('are planned for their values if they search', async () => {
    const search = 'select * from facts where id > $1 limit 20'
    const { rows } = await store.database.transaction(async () => {
      await store.database.query(search, [0])
      return store.database.query('select name from pg_prepared_statements where statement = $1', [search])
    })
    expect(rows).toEqual([])
  })

  it('are prepared again after another process has changed the table', async () => {
    expect(await fact()).toEqual({ id: 1 })
    await addColumn('colour')
    expect(await fact()).toEqual({ id: 1, colour: null })
    await addColumn('size')
    expect(await store.database.transaction(fact)).toEqual({ id: 1, colour: null, size: null })
  })

  it('that read at the same time share a connection, up to eight', async () => {
    const connection = async () => {
      const { rows } = await store.database.read('select pg_backend_pid() as pid, $1::int as one', [1])
      return rows[0]?.['pid']
    }
    const connections = await Promise.all(Array.from({ length: 9 }, connection))
    expect(new Set(connections.slice(0, 8)).size).toBe(1)
    expect(new Set(connections).size).toBe(2)
  })

  it('that share a connection fail alone', async () => {
    const divided = (by: number) => store.database.read('select 6 / $1::int as result', [by])
    const results = await Promise.allSettled([divided(2), divided(0), divided(3)])
    expect(results).toMatchObject([
      { status: 'fulfilled', value: { rows: [{ result: 3 }] } },
      { status: 'rejected', reason: { message: 'division by zero' } },
      { status: 'fulfilled', value: { rows: [{ result: 2 }] } },
    ])
  })
})

describe('workers on the embedded store', () => {
  it('take jobs at once while nobody uses the store, and while only jobs use it', async () => {
    const turns = createTurns()
    const first = () => Promise.race([turns.giveWay().then(() => 'jobs'), setImmediate('later')])
    expect(await first()).toBe('jobs')
    const leave = await turns.enter(true)
    expect(await first()).toBe('jobs')
    leave()
  })

  it('wait for a call of a person', async () => {
    const turns = createTurns()
    const order: string[] = []
    const leave = await turns.enter(false)
    const waited = turns.giveWay().then(() => order.push('jobs'))
    await setImmediate()
    order.push('person')
    leave()
    await waited
    expect(order).toEqual(['person', 'jobs'])
  })

  it('take jobs although a call of a person never ends', async () => {
    const turns = createTurns()
    await turns.enter(false)
    await turns.giveWay()
  })
})
