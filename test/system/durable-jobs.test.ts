import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createBoss } from '../../src/jobs/queue/boss.ts'
import {
  defineJob,
  interruption,
  type Job,
  type JobFailure,
  type JobScope,
  jobRegistry,
} from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { startChild } from '../support/child.ts'
import { discardStore, engines, newStoreOptions, withDatabase } from '../support/database.ts'
import { sleeperJob } from '../support/sleeper-job.ts'
import { endPatience } from '../support/unreadable.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patience = { timeout: 60_000, interval: 20 }

describe.each(engines)('durable jobs, %s', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  let queue: Queue
  let ran: { note: string; attempt: number; lastAttempt: boolean }[]
  let givenUp: { note: string; failure: JobFailure }[]
  let behave: (note: string, scope: JobScope) => void | Promise<void>

  const errandOf = (name: string, retries: number) =>
    defineJob({
      name,
      payload: z.object({ v: z.literal(1), note: z.string() }),
      retries,
      retryDelaySeconds: 1,
      expireInSeconds: 30,
      concurrency: 3,
      async handle({ note }, scope) {
        ran.push({ note, attempt: scope.attempt, lastAttempt: scope.lastAttempt })
        await behave(note, scope)
      },
      async onDeadLetter({ note }, failure) {
        givenUp.push({ note, failure })
      },
    })
  const errand = errandOf('errand', 1)

  beforeEach(async () => {
    ran = []
    givenUp = []
    behave = () => undefined
    queue = await createQueue(store.database, silent)
    await queue.start(jobRegistry(errand, errandOf('patient-errand', 2)))
  })
  afterEach(async () => {
    await queue.stop(5)
    await store.database.query(`drop schema ${store.database.queueConnection.schema} cascade`)
  })
  const errandCounts = async () => (await queue.counts()).find(({ name }) => name === 'errand')

  it("are maintained: pg-boss's own maintenance queries succeed", async () => {
    const errors: object[] = []
    const boss = createBoss(store.database, { ...silent, error: (facts) => void errors.push(facts) })
    await store.database.outside(() => boss.start())
    try {
      await store.database.outside(() => boss.supervise('errand'))
      expect(await boss.getQueueStats('errand')).toMatchObject([{ name: 'errand' }])
      expect(errors).toEqual([])
    } finally {
      await boss.stop({ graceful: false })
    }
  })

  it('are created together with the rows of their transaction, or not at all', async () => {
    await store.database.query('create table if not exists facts (note text)')
    const order = async (note: string) => {
      await store.database.query('insert into facts values ($1)', [note])
      await queue.enqueue('errand', { note })
    }
    const failure = store.database.transaction(async () => {
      await order('lost')
      throw new Error('changed my mind')
    })
    await expect(failure).rejects.toThrow('changed my mind')
    await store.database.transaction(() => order('kept'))
    await vi.waitFor(() => expect(ran).toEqual([{ note: 'kept', attempt: 1, lastAttempt: false }]), patience)
    expect((await store.database.query('select note from facts')).rows).toEqual([{ note: 'kept' }])
    await vi.waitFor(
      async () => expect(await errandCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }),
      patience,
    )
  })

  it('with the same id are one job, even after its end', async () => {
    const id = randomUUID()
    await Promise.all([1, 2, 3].map(() => queue.enqueue('errand', { note: 'once' }, { id })))
    await queue.enqueue('errand', { note: 'another' })
    await vi.waitFor(() => expect(ran).toHaveLength(2), patience)
    await queue.enqueue('errand', { note: 'once' }, { id })
    await queue.enqueue('errand', { note: 'last' })
    await vi.waitFor(() => expect(ran.map(({ note }) => note).sort()).toEqual(['another', 'last', 'once']), patience)
  })

  it('run outside the transaction that enqueued them', async () => {
    behave = () => store.database.assertOutside('Microsoft Graph')
    await store.database.transaction(() => queue.enqueue('errand', { note: 'calls out' }))
    await vi.waitFor(() => expect(ran).toHaveLength(1), patience)
    await vi.waitFor(async () => expect(await errandCounts()).toMatchObject({ active: 0, waiting: 0 }), patience)
    expect(givenUp).toEqual([])
  })

  it('are retried, then become dead letters with a log line', async () => {
    behave = () => {
      throw new TypeError('no luck')
    }
    await queue.enqueue('errand', { note: 'hopeless' })
    await vi.waitFor(() => expect(givenUp).toHaveLength(1), patience)
    expect(ran.map(({ attempt, lastAttempt }) => [attempt, lastAttempt])).toEqual([
      [1, false],
      [2, true],
    ])
    expect(givenUp).toEqual([{ note: 'hopeless', failure: { name: 'TypeError', message: 'no luck' } }])
    expect(await errandCounts()).toEqual({ name: 'errand', waiting: 0, active: 0, failed: 1 })
  })

  it('are counted: those that wait, and the age of the oldest due job', async () => {
    expect(await queue.state()).toEqual({ waiting: 0, oldestSeconds: 0 })
    behave = () => {
      throw Object.assign(new Error('forbidden'), { retryable: false })
    }
    await queue.enqueue('errand', { note: 'not allowed' })
    await vi.waitFor(() => expect(givenUp).toHaveLength(1), patience)
    const inAnHour = new Date(Date.now() + 3_600_000)
    await queue.enqueue('errand', { note: 'later' }, { startAfter: inAnHour })
    await vi.waitFor(async () => expect(await queue.state()).toEqual({ waiting: 1, oldestSeconds: 0 }), patience)
    const { schema } = store.database.queueConnection
    // No worker runs any more, and the job has been due for two minutes.
    await queue.stop(5)
    await store.database.query(
      `update ${schema}.job set start_after = now() - interval '2 minutes' where state < 'active'`,
    )
    expect((await queue.state()).oldestSeconds).toBeGreaterThanOrEqual(120)
  })

  it('become dead letters at once when a retry cannot succeed', async () => {
    behave = () => {
      throw Object.assign(new Error('forbidden'), { retryable: false })
    }
    await queue.enqueue('errand', { note: 'not allowed' })
    await vi.waitFor(() => expect(givenUp).toHaveLength(1), patience)
    expect(ran).toHaveLength(1)
  })

  it('wait as long as the other service requires', async () => {
    const startedAt = Date.now()
    let again = 0
    behave = (_, { attempt }) => {
      if (attempt === 1) throw Object.assign(new Error('busy'), { retryAfterSeconds: 2 })
      again = Date.now()
    }
    await queue.enqueue('errand', { note: 'patient' })
    await vi.waitFor(() => expect(ran).toHaveLength(2), patience)
    // A lower limit, not a measurement: the job must not run before this time.
    expect(again).toBeGreaterThanOrEqual(startedAt + 2000)
  })

  it('keep their growing delays when the other service requires shorter waits, and still end', async () => {
    const failedAt: number[] = []
    behave = () => {
      failedAt.push(Date.now())
      throw Object.assign(new Error('busy'), { retryAfterSeconds: 0.1 })
    }
    await queue.enqueue('patient-errand', { note: 'throttled' })
    await vi.waitFor(() => expect(givenUp).toHaveLength(1), patience)
    const [first = 0, second = 0, third = 0, ...more] = failedAt
    // Lower limits, not measurements: the queue's delays before jitter.
    expect(second - first).toBeGreaterThanOrEqual(1000)
    expect(third - second).toBeGreaterThanOrEqual(2000)
    expect(more).toEqual([])
  })

  it('start at their time, not before', async () => {
    const startAfter = new Date(Date.now() + 1500)
    let began = 0
    behave = (note) => {
      if (note === 'later') began = Date.now()
    }
    await queue.enqueue('errand', { note: 'later' }, { startAfter })
    await queue.enqueue('errand', { note: 'now' })
    await vi.waitFor(() => expect(ran.map(({ note }) => note)).toEqual(['now', 'later']), patience)
    expect(began).toBeGreaterThanOrEqual(startAfter.getTime())
  })

  it('that cannot be read wait for a process that can, then become dead letters with the reason, without other effects', async () => {
    await queue.enqueue('errand', { note: 42 })
    await queue.enqueue('errand', { note: 'future', v: 2 })
    await queue.enqueue('errand', { note: 'good' })
    await vi.waitFor(() => expect(ran.map(({ note }) => note)).toEqual(['good']), patience)
    const unread = { waiting: 2, active: 0, failed: 0 }
    await vi.waitFor(async () => expect(await errandCounts()).toMatchObject(unread), patience)
    await endPatience(store.database, 'errand')
    await vi.waitFor(async () => expect(await errandCounts()).toMatchObject({ waiting: 0, failed: 2 }), patience)
    const { rows } = await store.database.query<{ reason: string }>(
      `select source_output ->> 'message' as reason from ${store.database.queueConnection.schema}.job
       where name = 'dead-letter' order by reason`,
    )
    expect(rows.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('→ at v'),
      expect.stringContaining('→ at note'),
    ])
  })

  it('of a slow kind do not block the store, and a backlog is processed without pauses', async () => {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    behave = (note) => (note === 'long' ? held : undefined)
    await queue.enqueue('errand', { note: 'long' })
    await vi.waitFor(() => expect(ran).toHaveLength(1), patience)
    await store.database.transaction(async () => {
      for (let index = 0; index < 200; index += 1) await queue.enqueue('errand', { note: `short ${index}` })
    })
    await vi.waitFor(() => expect(ran).toHaveLength(201), patience)
    expect(new Set(ran.map(({ note }) => note)).size).toBe(201)
    release()
  })

  it('of an unknown kind are refused', async () => {
    await expect(queue.enqueue('unheard-of', {})).rejects.toThrow(/unheard-of/)
    expect(() => jobRegistry(errand, errand)).toThrow('Two jobs are named errand')
  })
})

describe.each(engines)('jobs of a killed process, %s', (engine) => {
  const open = async (job: Job): Promise<{ database: Database; queue: Queue }> => {
    const database = await openDatabase(options)
    return { database, queue: await startQueue(database, job) }
  }
  const startQueue = async (database: Database, job: Job): Promise<Queue> => {
    const queue = await createQueue(database, silent)
    await queue.start(jobRegistry(job))
    return queue
  }
  let options: Awaited<ReturnType<typeof newStoreOptions>>

  it('are claimed again, although they had no retries left', async () => {
    options = await newStoreOptions(engine)
    const first = await open(sleeperJob(async () => undefined))
    await first.queue.enqueue('sleeper', { note: 'unfinished' }, { startAfter: new Date(Date.now() + 1000) })
    await first.queue.stop(5)
    await first.database.close()

    const child = startChild('store-process.ts', 'work', JSON.stringify(options))
    await child.lines(1)
    await child.kill()

    const database = await openDatabase(options)
    if (engine === 'server') {
      // Simulates that the heartbeats have been missing for some time.
      const { schema } = database.queueConnection
      await database.query(`update ${schema}.job set heartbeat_on = now() - interval '1 minute' where state = 'active'`)
    }
    const notes: string[] = []
    const queue = await startQueue(
      database,
      sleeperJob(async ({ note }) => {
        notes.push(note)
      }),
    )
    await vi.waitFor(() => expect(notes).toEqual(['unfinished']), patience)
    await queue.stop(5)
    await discardStore(database, options)
  })

  it('are given up with that reason when the process was killed in each attempt', async () => {
    options = await newStoreOptions(engine)
    const first = await open(sleeperJob(async () => undefined))
    await first.queue.enqueue('sleeper', { note: 'lethal' }, { startAfter: new Date(Date.now() + 1000) })
    await first.queue.stop(5)
    await first.database.close()

    const child = startChild('store-process.ts', 'work', JSON.stringify(options))
    await child.lines(1)
    await child.kill()

    const database = await openDatabase(options)
    // As if this was the last of ten more attempts, which are up to half a minute apart.
    await database.query(
      `update ${database.queueConnection.schema}.job
       set retry_count = retry_limit + 10, heartbeat_on = now() - interval '1 minute' where state = 'active'`,
    )
    const runs: string[] = []
    const givenUp: JobFailure[] = []
    const queue = await startQueue(
      database,
      sleeperJob(
        async ({ note }) => void runs.push(note),
        async (_, failure) => void givenUp.push(failure),
      ),
    )
    await vi.waitFor(() => expect(givenUp).toEqual([interruption]), patience)
    expect(runs).toEqual([])
    await queue.stop(5)
    await discardStore(database, options)
  })
})
