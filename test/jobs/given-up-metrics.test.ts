import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createMetrics } from '../../src/app/metrics.ts'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue } from '../../src/jobs/queue/queue.ts'
import { engines, withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patience = { timeout: 60_000, interval: 20 }

describe.each(engines)('the metric of jobs that are given up, %s,', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  const metrics = createMetrics('1.2.3')
  let queue: Queue
  let reactions: string[]

  const job = (name: string, handle: () => Promise<void>, more = {}) =>
    defineJob({
      ...{ name, payload: z.object({}), retries: 0, retryDelaySeconds: 1, expireInSeconds: 30, handle },
      async onDeadLetter() {
        reactions.push(name)
        if (name === 'hopeless' && reactions.filter((one) => one === name).length === 1) throw new Error('try again')
      },
      ...more,
    })
  const fail = async () => {
    throw new Error('no')
  }
  const failForGood = async () => {
    throw Object.assign(new Error('never'), { retryable: false })
  }
  const jobs = jobRegistry(
    job('exhausted', fail),
    job('hopeless', failForGood, { retries: 5 }),
    job('slow', () => new Promise(() => undefined), { expireInSeconds: 1 }),
    job('lethal', async () => undefined),
    job('periodic', fail, { hasDeadLetters: false }),
    job('healthy', async () => undefined),
  )
  const start = async () => {
    queue = await createQueue(store.database, silent, metrics.telemetry)
    await queue.start(jobs)
  }
  const givenUp = async () => {
    const text = await metrics.text(undefined)
    const samples = text.matchAll(/^quartermaster_job_attempts_total\{job="(\w+)",outcome="given-up"\} (\d+)$/gm)
    return Object.fromEntries([...samples].map(([, name = '', value]) => [name, Number(value)]))
  }

  beforeAll(async () => {
    reactions = []
    await start()
  })
  afterAll(async () => {
    await queue.stop(0)
    await store.database.query(`drop schema ${store.database.queueConnection.schema} cascade`)
  })

  it('is 0 for each job from the start, so that an alert notices the first failure', async () => {
    expect(await givenUp()).toEqual({ exhausted: 0, hopeless: 0, slow: 0, lethal: 0, periodic: 0, healthy: 0 })
  })

  it('counts each job once: after its last attempt, a final error, a time-out, or the death of its process', async () => {
    await queue.enqueue('lethal', {}, { startAfter: new Date(Date.now() + 86_400_000) })
    await queue.stop(5)
    // The state that the process leaves when it is killed in the last attempt.
    await store.database.query(
      `update ${store.database.queueConnection.schema}.job set state = 'active', retry_count = retry_limit + 10,
         started_on = now(), heartbeat_on = now() - interval '1 minute' where name = 'lethal'`,
    )
    await start()
    for (const name of ['exhausted', 'hopeless', 'slow', 'periodic', 'healthy']) await queue.enqueue(name, {})
    const expected = { exhausted: 1, hopeless: 1, slow: 1, lethal: 1, periodic: 1, healthy: 0 }
    await vi.waitFor(async () => expect(await givenUp()).toEqual(expected), patience)
    // The reaction to a dead letter fails, and is retried.
    await vi.waitFor(
      () => expect(reactions.toSorted()).toEqual(['exhausted', 'hopeless', 'hopeless', 'lethal', 'slow']),
      patience,
    )
    expect(await givenUp()).toEqual(expected)
  })
})
