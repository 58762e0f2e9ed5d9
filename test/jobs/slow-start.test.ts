import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const store = withDatabase('embedded', { migrated: false })

it('a process begins with one job of a kind, and runs more of them as jobs end', async () => {
  let running = 0
  /** How many jobs ran at the end of each job. */
  const counts: number[] = []
  const errand = defineJob({
    name: 'errand',
    payload: z.object({ v: z.literal(1) }),
    ...{ retries: 0, retryDelaySeconds: 1, expireInSeconds: 30, concurrency: 4 },
    async handle() {
      running += 1
      await pause(50)
      counts.push(running)
      running -= 1
    },
  })
  // Jobs can be enqueued once a start has created their queue.
  const before = await createQueue(store.database, silent)
  await before.start(jobRegistry(errand))
  await before.stop(5)
  const queue = await createQueue(store.database, silent)
  await queue.enqueueAll(Array.from({ length: 20 }, () => ({ name: 'errand', payload: {} })))
  await queue.start(jobRegistry(errand))
  await vi.waitFor(() => expect(counts).toHaveLength(20), { timeout: 30_000, interval: 20 })
  await queue.stop(5)
  expect(counts[0]).toBe(1)
  expect(Math.max(...counts.slice(0, 3))).toBeLessThanOrEqual(3)
  expect(Math.max(...counts)).toBe(4)
})
