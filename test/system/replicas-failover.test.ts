import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { startChild } from '../support/child.ts'
import { discardStore, newStoreOptions } from '../support/database.ts'
import { sleeperJob } from '../support/sleeper-job.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('two replicas with one server', () => {
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

  it('after a kill during a job: the other replica takes it over within 30 s, and its own job runs once', async () => {
    const other = startChild('worker-process.ts', JSON.stringify(options))
    onTestFinished(async () => void (await other.kill()))
    await other.lines(1)
    await queue.enqueue('sleeper', { note: 'hang' })
    await other.lines(2)
    await start()
    let done: () => void = () => undefined
    working = (note) => (note === 'long' ? new Promise((resolve) => (done = resolve)) : Promise.resolve())
    const output = await other.kill()
    expect(output).toEqual(['works', 'began hang 1'])
    await vi.waitFor(() => expect(here.map(({ note }) => note)).toEqual(['hang']), { timeout: 60_000, interval: 50 })
    // This job runs longer than the silence of a dead replica, but its replica is alive.
    await queue.enqueue('sleeper', { note: 'long' })
    await vi.waitFor(() => expect(here).toHaveLength(2), { timeout: 60_000, interval: 20 })
    done()
  })

  it('after a stop during a job: it is due for the other replica at once, with its time and its count of attempts', async () => {
    const other = startChild('worker-process.ts', JSON.stringify(options))
    onTestFinished(async () => void (await other.kill()))
    await other.lines(1)
    here.length = 0
    let done: () => void = () => undefined
    working = () => new Promise((resolve) => (done = resolve))
    // Each of the two replicas has one worker, so each receives one job.
    await queue.enqueue('sleeper', { note: 'hang one' })
    await queue.enqueue('sleeper', { note: 'hang two' })
    await vi.waitFor(() => expect(here).toHaveLength(1), { timeout: 60_000, interval: 20 })
    const began = (await other.lines(2))[1]
    // The job runs longer than the stopped replica needs to end and to report its own jobs.
    working = () => new Promise((resolve) => setTimeout(resolve, 3000))
    process.kill(other.pid, 'SIGTERM')
    done()
    await other.ended
    const mine = here[0]?.note
    expect(began).toBe(mine === 'hang one' ? 'began hang two 1' : 'began hang one 1')
    await vi.waitFor(() => expect(here).toHaveLength(2), { timeout: 60_000, interval: 20 })
    expect(here.map(({ attempt }) => attempt)).toEqual([1, 2])
    // The job has no retries, so a failure reported by another process would end it.
    const counts = async () => (await queue.counts()).find(({ name }) => name === 'sleeper')
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }), {
      timeout: 60_000,
      interval: 50,
    })
    expect(here).toHaveLength(2)
  })

  it('end and retry a job that exceeds its time', async () => {
    here.length = 0
    await queue.enqueue('impatient', { note: 'slow' })
    await vi.waitFor(() => expect(here.map(({ attempt }) => attempt)).toEqual([1, 2]), {
      timeout: 60_000,
      interval: 50,
    })
  })

  it('do not retry jobs at the same time that failed together', async () => {
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
