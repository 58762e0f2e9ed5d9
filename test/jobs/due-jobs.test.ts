import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { readDueJobs } from '../../src/jobs/queue/tables.ts'
import { engines, withDatabase } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const emptyOptions = (name: string) => {
  return { name, payload: z.object({}), retries: 1, retryDelaySeconds: 1, expireInSeconds: 30 }
}
const emptyJob = (name: string) => defineJob({ ...emptyOptions(name), async handle() {} })

describe.each(engines)('the jobs that are due soon, %s,', (engine) => {
  const store = withDatabase(engine, { migrated: false })

  it('have one row for each name and step, rounded up', async () => {
    const creator = await createQueue(store.database, silent)
    await creator.start(jobRegistry(emptyJob('errand'), emptyJob('letter'), emptyJob('idle')))
    await creator.stop(5)
    // This queue only enqueues: nobody works on the jobs.
    const queue = await createQueue(store.database, silent)
    const minute = 60_000
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minute)
    const due = { errand: [-60, -1, 2.5, 2.6, 7.5], letter: [undefined, 4.5, 11], idle: [10.5] }
    for (const [name, times] of Object.entries(due))
      for (const minutes of times)
        await queue.enqueue(name, {}, minutes === undefined ? {} : { startAfter: inMinutes(minutes) })

    const found = await readDueJobs(store.database, ['errand', 'letter', 'idle'], { within: 10 * minute, step: minute })

    const rows = found.map(({ name, milliseconds }) => `${name} ${milliseconds / minute}`)
    expect(rows.toSorted()).toEqual(['errand 0', 'errand 3', 'errand 8', 'letter 0', 'letter 5'])
    await queue.stop(5)
  })
})

describe('a job that waits for its time', () => {
  // With the embedded store, the queue uses our connection, so the test sees each poll.
  const store = withDatabase('embedded', { migrated: false })

  it('starts then, and not after the next poll', async () => {
    const { database } = store
    const polls: number[] = []
    const seen: typeof database.query = (sql, values) => {
      if (sql.startsWith('select distinct name')) polls.push(Date.now())
      return database.query(sql, values)
    }
    let ran = 0
    const errand = defineJob({
      ...emptyOptions('errand'),
      async handle() {
        ran = Date.now()
      },
    })
    const queue = await createQueue({ ...database, query: seen }, silent)
    await queue.start(jobRegistry(errand))
    const startsByTimer = async (): Promise<boolean> => {
      const due = Date.now() + 900
      ran = 0
      await queue.enqueue('errand', {}, { startAfter: new Date(due) })
      while (ran === 0) await setTimeout(5)
      expect(ran).toBeGreaterThanOrEqual(due)
      return (polls.findLast((at) => at <= ran) ?? due) < due
    }
    // A poll in the same milliseconds proves nothing, so the next job decides.
    let isByTimer = false
    for (let count = 0; count < 10 && !isByTimer; count += 1) isByTimer = await startsByTimer()
    expect(isByTimer).toBe(true)
    await queue.stop(5)
  })
})
