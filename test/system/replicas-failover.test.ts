import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { startChild } from '../support/child.ts'
import { discardStore, newStoreOptions } from '../support/database.ts'
import { sleeperJob } from '../support/sleeper-job.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('two replicas over one server', () => {
  let options: Awaited<ReturnType<typeof newStoreOptions>>
  let database: Database
  let queue: Queue
  const here: { note: string; attempt: number }[] = []
  let working: (note: string) => Promise<void> = async () => undefined
  const impatient = defineJob({
    name: 'impatient',
    payload: z.object({ note: z.string() }),
    ...{ retries: 1, retryDelaySeconds: 1, expireInSeconds: 1 },
    async handle({ note }, { attempt, signal }) {
      here.push({ note, attempt })
      if (attempt === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })

  beforeAll(async () => {
    options = await newStoreOptions('server')
    database = await openDatabase(options)
    queue = await createQueue(database, silent)
  })
  afterAll(async () => {
    await queue.stop(1)
    await discardStore(database, options)
  })
  const start = () =>
    queue.start(
      jobRegistry(
        sleeperJob(async ({ note }, { attempt }) => {
          here.push({ note, attempt })
          await working(note)
        }),
        impatient,
      ),
    )

  it('one is killed within a job: the other takes it over within 30 s, and the living one’s own job runs once', async () => {
    const other = startChild('worker-process.ts', JSON.stringify(options))
    onTestFinished(async () => void (await other.kill()))
    await other.lines(1)
    await queue.enqueue('sleeper', { note: 'hang' })
    await other.lines(2)
    await start()
    let done: () => void = () => undefined
    working = (note) => (note === 'long' ? new Promise((resolve) => (done = resolve)) : Promise.resolve())
    const said = await other.kill()
    expect(said).toEqual(['works', 'began hang 1'])
    await vi.waitFor(() => expect(here.map(({ note }) => note)).toEqual(['hang']), { timeout: 30_000, interval: 50 })
    // Longer at work than a dead one would be silent, and alive all the time.
    await queue.enqueue('sleeper', { note: 'long' })
    await vi.waitFor(() => expect(here).toHaveLength(2), { timeout: 10_000, interval: 20 })
    done()
  }, 45_000)

  it('one is stopped within a job: it is due at once for the other, which knows that it was begun and has its time', async () => {
    const other = startChild('worker-process.ts', JSON.stringify(options))
    onTestFinished(async () => void (await other.kill()))
    await other.lines(1)
    here.length = 0
    let done: () => void = () => undefined
    working = () => new Promise((resolve) => (done = resolve))
    // Each of the two has one worker, so each gets one of them.
    await queue.enqueue('sleeper', { note: 'hang one' })
    await queue.enqueue('sleeper', { note: 'hang two' })
    await vi.waitFor(() => expect(here).toHaveLength(1), { timeout: 10_000, interval: 20 })
    const began = (await other.lines(2))[1]
    // At work on it for longer than the stopped one takes to end, and to say what it has to say of its own jobs.
    working = () => new Promise((resolve) => setTimeout(resolve, 3000))
    process.kill(other.pid, 'SIGTERM')
    done()
    await other.ended
    const mine = here[0]?.note
    expect(began).toBe(mine === 'hang one' ? 'began hang two 1' : 'began hang one 1')
    await vi.waitFor(() => expect(here).toHaveLength(2), { timeout: 10_000, interval: 20 })
    expect(here.map(({ attempt }) => attempt)).toEqual([1, 2])
    // It has no retries, so that a failure that somebody else said of it would be its end.
    const counts = async () => (await queue.counts()).find(({ name }) => name === 'sleeper')
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }), {
      timeout: 15_000,
      interval: 50,
    })
    expect(here).toHaveLength(2)
  }, 30_000)

  it('a job that outlives its time is ended and tried again', async () => {
    here.length = 0
    await queue.enqueue('impatient', { note: 'slow' })
    await vi.waitFor(() => expect(here.map(({ attempt }) => attempt)).toEqual([1, 2]), {
      timeout: 15_000,
      interval: 50,
    })
  })

  it('jobs that failed together do not come back together', async () => {
    const { schema } = database.queueConnection
    const { rows } = await database.query<{ name: string; backoff: boolean; longest: number }>(
      `select name, retry_backoff as backoff, retry_delay_max as longest from ${schema}.queue where name = any($1)`,
      [['sleeper', 'impatient']],
    )
    expect(rows.map(({ backoff, longest }) => [backoff, longest])).toEqual([
      [true, 900],
      [true, 900],
    ])
  })
})
