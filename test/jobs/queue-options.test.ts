import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { engines, withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe.each(engines)('the options of a queue, %s,', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  /** Starts and stops a process whose job has these options, and returns what the store has about its queue. */
  const started = async (options: { retries: number; hasDeadLetters?: boolean }) => {
    const errand = defineJob({
      ...{ name: 'errand', payload: z.object({}), retryDelaySeconds: 1, expireInSeconds: 30, ...options },
      handle: async () => undefined,
      onDeadLetter: async () => undefined,
    })
    const queue = await createQueue(store.database, silent)
    await queue.start(jobRegistry(errand))
    await queue.stop(5)
    const { rows } = await store.database.query<{ retries: number; letters: string | null; version: string }>(
      `select retry_limit as retries, dead_letter as letters, updated_on::text as version
       from ${store.database.queueConnection.schema}.queue where name = 'errand'`,
    )
    return rows[0]
  }

  it('are written when the queue is new or an option has changed, and not at other starts', async () => {
    const first = await started({ retries: 1 })
    expect(first).toMatchObject({ retries: 1, letters: 'dead-letter' })
    expect(await started({ retries: 1 })).toEqual(first)
    expect(await started({ retries: 4 })).toMatchObject({ retries: 4, letters: 'dead-letter' })
    expect(await started({ retries: 4, hasDeadLetters: false })).toMatchObject({ retries: 4, letters: null })
  })
})
