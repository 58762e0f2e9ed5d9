import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { PutOff } from '../../src/core/index.ts'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { putOff } from '../../src/jobs/queue/tables.ts'
import { engines, withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patience = { timeout: 60_000, interval: 20 }

describe.each(engines)('a job whose subject is locked, %s,', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  const ran: string[] = []
  let queue: Queue
  let free: boolean

  const errand = defineJob({
    name: 'errand',
    payload: z.object({ v: z.literal(1), note: z.string() }),
    retries: 1,
    retryDelaySeconds: 1,
    expireInSeconds: 30,
    async handle({ note }, { attempt }) {
      ran.push(`${note} ${attempt}`)
      if (note === 'taken' && !free) throw new PutOff('the subject', 500)
      if (note === 'taken' && attempt === 1) throw new Error('failed for another reason')
    },
  })
  beforeEach(async () => {
    ran.splice(0)
    free = false
    queue = await createQueue(store.database, silent)
    await queue.start(jobRegistry(errand))
  })
  afterEach(async () => {
    await queue.stop(5)
  })

  it('is postponed as often as necessary, without an attempt or a worker', async () => {
    await queue.enqueue('errand', { note: 'taken' })
    await queue.enqueue('errand', { note: 'other' })
    await vi.waitFor(() => expect(ran.filter((note) => note === 'taken 1').length).toBeGreaterThan(2), patience)
    expect(ran.indexOf('other 1')).toBeLessThan(ran.lastIndexOf('taken 1'))
    free = true
    await vi.waitFor(() => expect(ran.at(-1)).toBe('taken 2'), patience)
    const counts = async () => (await queue.counts()).find(({ name }) => name === 'errand')
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }), patience)
  })

  it('ignores the result of a postponed claim, which does not affect a later claim', async () => {
    const id = randomUUID()
    const at = { name: 'stale', id, retryCount: 0 }
    let second: () => void = () => undefined
    const secondBegan = new Promise<void>((resolve) => (second = resolve))
    let announce: () => void = () => undefined
    const firstSaid = new Promise<void>((resolve) => (announce = resolve))
    const stale = defineJob({
      name: 'stale',
      payload: z.object({ v: z.literal(1) }),
      ...{ retries: 1, retryDelaySeconds: 1, expireInSeconds: 30, concurrency: 2 },
      async handle() {
        ran.push('stale')
        if (ran.length === 1) {
          // The job is postponed without the knowledge of its worker, which continues until the next one works and then
          // reports success.
          await putOff(store.database, at, 500)
          await secondBegan
          await putOff(store.database, at, 500)
          setTimeout(announce, 1000)
          return
        }
        second()
        await firstSaid
        if (ran.length === 2) throw new Error('the second claim failed')
      },
    })
    const both = await createQueue(store.database, silent)
    await both.start(jobRegistry(stale))
    await both.enqueue('stale', {}, { id })
    await vi.waitFor(() => expect(ran).toHaveLength(3), patience)
    const counts = async () => (await both.counts()).find(({ name }) => name === 'stale')
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }), patience)
    expect(ran).toEqual(['stale', 'stale', 'stale'])
    await both.stop(5)
  })

  it('has its first failure after many postponements: it returns as after a first attempt', async () => {
    const id = randomUUID()
    const patientJob = defineJob({
      name: 'patient',
      payload: z.object({ v: z.literal(1) }),
      ...{ retries: 5, retryDelaySeconds: 100, expireInSeconds: 30 },
      async handle(_, { putOffs, attempt }) {
        ran.push(`patient ${attempt}`)
        if (putOffs < 4) throw new PutOff('the subject', 1)
        throw new Error('failed for another reason')
      },
    })
    const other = await createQueue(store.database, silent)
    await other.start(jobRegistry(patientJob))
    await other.enqueue('patient', {}, { id })
    const { schema } = store.database.queueConnection
    const row = async () => {
      const sql = `select extract(epoch from start_after - now())::float as later, state::text as state
        from ${schema}.job where id = $1`
      return (await store.database.query<{ later: number; state: string }>(sql, [id])).rows[0]
    }
    await vi.waitFor(() => expect(ran).toHaveLength(5), patience)
    await vi.waitFor(async () => expect((await row())?.later).toBeGreaterThan(50), patience)
    const waits = await row()
    expect(waits?.state).toBe('retry')
    // Once to twice the delay. If each postponement doubled the delay, it would be the maximum.
    expect(waits?.later).toBeLessThanOrEqual(200)
    expect(new Set(ran)).toEqual(new Set(['patient 1']))
    await other.stop(5)
  })

  it('is postponed after a failed attempt too, and keeps the count of attempts', async () => {
    free = true
    await queue.enqueue('errand', { note: 'taken' })
    await vi.waitFor(() => expect(ran).toEqual(['taken 1']), patience)
    free = false
    await vi.waitFor(() => expect(ran.filter((note) => note === 'taken 2').length).toBeGreaterThan(2), patience)
    free = true
    const counts = async () => (await queue.counts()).find(({ name }) => name === 'errand')
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }), patience)
    expect(new Set(ran)).toEqual(new Set(['taken 1', 'taken 2']))
  })
})
