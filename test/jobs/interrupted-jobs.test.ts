import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { jobPayloads } from '../../src/core/index.ts'
import { defineJob, interruption, type JobFailure, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { engines, withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patience = { timeout: 60_000, interval: 20 }

describe.each(engines)('a job whose process was killed in each attempt, %s,', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  let queue: Queue
  let ran: string[]
  let givenUp: { note: string; failure: JobFailure }[]

  const errand = defineJob({
    name: 'errand',
    payload: z.object({ note: z.string() }),
    retries: 1,
    retryDelaySeconds: 1,
    expireInSeconds: 30,
    handle: async ({ note }) => void ran.push(note),
    onDeadLetter: async ({ note }, failure) => void givenUp.push({ note, failure }),
  })
  const retry = defineJob({
    name: 'retry-interrupted',
    payload: jobPayloads['retry-interrupted'],
    retries: 1,
    retryDelaySeconds: 1,
    expireInSeconds: 30,
    handle: async (about) => void ('letterId' in about && (await queue.deadLetters.replay(about.letterId))),
  })
  const start = async () => {
    queue = await createQueue(store.database, silent)
    await queue.start(jobRegistry(errand, retry))
  }
  const table = () => `${store.database.queueConnection.schema}.job`
  /** Leaves the waiting errands as their processes would, killed in the last attempt, and starts another process. */
  const killEachAttempt = async () => {
    await queue.stop(5)
    await store.database.query(
      `update ${table()} set state = 'active', retry_count = retry_limit + 10, started_on = now(),
         heartbeat_on = now() - interval '1 minute' where name = 'errand' and state < 'active'`,
    )
    await start()
  }
  const retries = async () => {
    const { rows } = await store.database.query<{ minutes: number }>(
      `select round(extract(epoch from start_after - now()) / 60)::int as minutes from ${table()}
       where name = 'retry-interrupted' and state < 'active'`,
    )
    return rows.map(({ minutes }) => minutes)
  }
  const tomorrow = () => new Date(Date.now() + 86_400_000)
  const letters = async () =>
    Promise.all((await queue.deadLetters.list()).map(async ({ letterId }) => queue.deadLetters.find(letterId)))

  beforeEach(async () => {
    ran = []
    givenUp = []
    await start()
    await queue.enqueue('errand', { note: 'lethal' }, { startAfter: tomorrow() })
    await killEachAttempt()
    await vi.waitFor(async () => expect(await letters()).toHaveLength(1), patience)
  })
  afterEach(async () => {
    await queue.stop(5)
    await store.database.query(`drop schema ${store.database.queueConnection.schema} cascade`)
  })

  it.each([
    [3, 0, 0],
    [4, 0, 1],
    [6, 0, 4],
    [10, 0, 30],
    [10, 8, 0],
  ])('is due again after %i retries, %i of them put off, in %i s', async (retries, putOffs, seconds) => {
    await queue.enqueue('errand', { note: 'again' }, { startAfter: tomorrow() })
    await queue.stop(5)
    await store.database.query(
      `update ${table()} set state = 'active', retry_count = $1, source_retry_count = $2, started_on = now(),
         heartbeat_on = now() - interval '1 minute' where name = 'errand' and state < 'active'`,
      [retries, putOffs],
    )
    await start()
    if (seconds === 0) return vi.waitFor(() => expect(ran).toEqual(['again']), patience)
    const { rows } = await store.database.query<{ seconds: number }>(
      `select extract(epoch from start_after - started_on)::float as seconds from ${table()}
       where name = 'errand' and state = 'retry'`,
    )
    expect(rows[0]?.seconds).toBeGreaterThanOrEqual(seconds)
    expect(rows[0]?.seconds).toBeLessThan(seconds + 60)
  })

  it('is on the list with that reason, and runs once more after an hour', async () => {
    expect(await letters()).toMatchObject([{ job: 'errand', problem: interruption.reason }])
    expect(await retries()).toEqual([60])
    expect(givenUp).toEqual([])
    await store.database.query(`update ${table()} set start_after = now() where name = 'retry-interrupted'`)
    await vi.waitFor(() => expect(ran).toEqual(['lethal']), patience)
    expect(await letters()).toEqual([])
  })

  it('is given up if its process is killed in each attempt again', async () => {
    const [letter] = await queue.deadLetters.list()
    await queue.deadLetters.replay(letter?.letterId ?? '')
    await vi.waitFor(() => expect(ran).toEqual(['lethal']), patience)
    await queue.enqueue('errand', { note: 'lethal' }, { startAfter: tomorrow() })
    await killEachAttempt()
    await vi.waitFor(() => expect(givenUp).toEqual([{ note: 'lethal', failure: interruption }]), patience)
    expect(await retries()).toEqual([60])
  })

  it('is not retried after an admin removed it from the list', async () => {
    const [letter] = await queue.deadLetters.list()
    await queue.deadLetters.settle(letter?.letterId ?? '', { personId: 'priya', why: 'dismissed' })
    await store.database.query(`update ${table()} set start_after = now() where name = 'retry-interrupted'`)
    await vi.waitFor(async () => expect(await retries()).toEqual([]), patience)
    await queue.stop(5)
    expect(ran).toEqual([])
  })
})
