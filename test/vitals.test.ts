import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createQueue } from '../src/jobs/queue.ts'
import { openDatabase } from '../src/store/database.ts'
import { vitalsOf } from '../src/vitals.ts'
import { discardStore, engines, newStoreOptions } from './support/database.ts'

const silent = { info() {}, warn() {}, error() {} }

describe.each(engines)('how the service does, %s', (engine) => {
  it('is told by its store, its queue and itself, also when the store does not answer', async () => {
    const options = await newStoreOptions(engine)
    const database = await openDatabase(options)
    const queue = await createQueue(database, silent)
    await queue.start(new Map())
    const startedAt = new Date('2026-11-20T09:00:00.000Z')
    const vitals = await vitalsOf(database, queue, startedAt)
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await vitals.own()).toEqual({
      ...{ databaseMilliseconds: expect.any(Number), queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: null },
      ...{ version, startedAt },
    })
    await queue.stop(5)
    await database.close()
    expect(await vitals.own()).toEqual({
      ...{ databaseMilliseconds: null, queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: null },
      ...{ version, startedAt },
    })
    await discardStore(await openDatabase(options), options)
  })
})
