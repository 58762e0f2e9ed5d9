import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { PutOff } from '../src/core/index.ts'
import { defineJob, jobRegistry } from '../src/jobs/define-job.ts'
import { createQueue, type Queue } from '../src/jobs/queue.ts'
import { engines, withDatabase } from './support/database.ts'

const silent = { info() {}, warn() {}, error() {} }
const patience = { timeout: 15_000, interval: 20 }

describe.each(engines)('a job whose subject is taken, %s', (engine) => {
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

  it('is put off as often as it takes, uses up no attempt and holds no worker', async () => {
    await queue.enqueue('errand', { note: 'taken' })
    await queue.enqueue('errand', { note: 'other' })
    await vi.waitFor(() => expect(ran.filter((note) => note === 'taken 1').length).toBeGreaterThan(2), patience)
    expect(ran.indexOf('other 1')).toBeLessThan(ran.lastIndexOf('taken 1'))
    free = true
    await vi.waitFor(() => expect(ran.at(-1)).toBe('taken 2'), patience)
    const counts = async () => (await queue.counts()).find(({ name }) => name === 'errand')
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ waiting: 0, active: 0, failed: 0 }), patience)
  })

  it('is put off after a failed attempt too, and remembers that one', async () => {
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
