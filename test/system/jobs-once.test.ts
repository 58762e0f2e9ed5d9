import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineJob, type JobScope, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { engines, withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patience = { timeout: 60_000, interval: 20 }

describe.each(engines)('a job runs once, %s,', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  const ran: string[] = []
  let queue: Queue
  let behave: (note: string, scope: JobScope) => void | Promise<void>

  const errand = defineJob({
    name: 'errand',
    payload: z.object({ v: z.literal(1), note: z.string() }),
    ...{ retries: 1, retryDelaySeconds: 1, expireInSeconds: 1, concurrency: 2 },
    async handle({ note }, scope) {
      ran.push(`${note} ${scope.attempt}`)
      await behave(note, scope)
    },
  })
  beforeEach(async () => {
    ran.splice(0)
    behave = () => undefined
    queue = await createQueue(store.database, silent)
    await queue.start(jobRegistry(errand))
  })
  afterEach(() => queue.stop(5))
  const rowOf = async (id: string) => {
    const { schema } = store.database.queueConnection
    const { rows } = await store.database.query<{ state: string; later: number; failure: string | null }>(
      `select state::text as state, extract(epoch from start_after - now())::float as later,
         output ->> 'message' as failure from ${schema}.job where name = 'errand' and id = $1`,
      [id],
    )
    return rows[0]
  }

  it('although it is enqueued twice in one call', async () => {
    const id = randomUUID()
    const order = { name: 'errand', payload: { note: 'twin' }, id }
    await queue.enqueueAll([order, { ...order, payload: { note: 'other' }, id: randomUUID() }, order])
    await vi.waitFor(() => expect([...ran].sort()).toEqual(['other 1', 'twin 1']), patience)
    await vi.waitFor(async () => expect((await rowOf(id))?.state).toBe('completed'), patience)
    expect(ran).toHaveLength(2)
  })

  it('although it exceeds its time: its late result is ignored', async () => {
    const id = randomUUID()
    let overtime: () => void = () => undefined
    const secondIsDue = new Promise<void>((resolve) => (overtime = resolve))
    let announce: () => void = () => undefined
    const firstIsDone = new Promise<void>((resolve) => (announce = resolve))
    const aborted: boolean[] = []
    behave = async (_, { attempt, signal }) => {
      if (attempt === 2) return
      await secondIsDue
      aborted.push(signal.aborted)
      setTimeout(announce, 300)
      throw Object.assign(new Error('busy'), { retryAfterSeconds: 900 })
    }
    await queue.enqueue('errand', { note: 'long' }, { id })
    await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ state: 'retry' }), patience)
    expect((await rowOf(id))?.failure).toBe('it took longer than 1 s')
    overtime()
    await firstIsDone
    expect(aborted).toEqual([true])
    await vi.waitFor(async () => expect((await rowOf(id))?.state).toBe('completed'), patience)
    expect(ran).toEqual(['long 1', 'long 2'])
  })

  it('although the store does not accept its result at once', async () => {
    const { schema } = store.database.queueConnection
    // A sequence also counts rolled-back inserts.
    await store.database.query(`
      create sequence ${schema}.told;
      create function ${schema}.hard_of_hearing() returns trigger language plpgsql as $$ begin
        if new.state <> 'active' and old.state = 'active' and nextval('${schema}.told') <= 2 then
          raise exception 'come again?';
        end if;
        return new;
      end $$;
      create trigger hard_of_hearing before update on ${schema}.job
        for each row execute function ${schema}.hard_of_hearing()`)
    const id = randomUUID()
    await queue.enqueue('errand', { note: 'heard' }, { id })
    await vi.waitFor(async () => expect((await rowOf(id))?.state).toBe('completed'), patience)
    expect(ran).toEqual(['heard 1'])
  })
})

describe('a process that is stopped while the store is slow', () => {
  const store = withDatabase('embedded', { migrated: false })

  it('starts none of the jobs that the store claims for it afterwards, and releases them', async () => {
    const { database } = store
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    let held = 0
    const slow: typeof database = {
      ...database,
      async query(sql, values) {
        if (/for update of j skip locked/i.test(sql) && sql.includes(`'late'`)) {
          held += 1
          await released
        }
        return database.query(sql, values)
      },
    }
    const ran: string[] = []
    const late = defineJob({
      name: 'late',
      payload: z.object({ v: z.literal(1) }),
      ...{ retries: 0, retryDelaySeconds: 1, expireInSeconds: 30 },
      async handle(_, { attempt }) {
        ran.push(`late ${attempt}`)
      },
    })
    const queue = await createQueue(slow, silent)
    await queue.start(jobRegistry(late))
    await queue.enqueue('late', {})
    await vi.waitFor(() => expect(held).toBeGreaterThan(0), patience)
    await queue.stop(1)
    release()
    const { schema } = database.queueConnection
    const states = async () =>
      (await database.query(`select state::text as state, retry_limit as left from ${schema}.job where name = 'late'`))
        .rows
    await vi.waitFor(async () => expect(await states()).toEqual([{ state: 'retry', left: 1 }]), patience)
    expect(ran).toEqual([])
    const next = await createQueue(database, silent)
    await next.start(jobRegistry(late))
    await vi.waitFor(() => expect(ran).toHaveLength(1), patience)
    await next.stop(5)
  })
})
