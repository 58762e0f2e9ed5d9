import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ownHealthOf, ownVersion } from '../../src/app/readiness.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { discardStore, engines, newStoreOptions } from '../support/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe.each(engines)('the health of the service itself, %s', (engine) => {
  it('comes from its store, its queue and the process, also when the store does not answer', async () => {
    const options = await newStoreOptions(engine)
    const database = await openDatabase(options)
    const queue = await createQueue(database, silent)
    await queue.start(new Map())
    const startedAt = new Date('2026-11-20T09:00:00.000Z')
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await ownVersion()).toBe(version)
    let now = new Date('2026-11-20T09:30:00.000Z')
    let writtenAt = new Date('2026-11-20T09:29:00.000Z')
    const about = { version, startedAt, now: () => now, writtenAt: () => writtenAt }
    const ownHealth = ownHealthOf(database, queue, about)
    expect(await ownHealth.read()).toEqual({
      ...{ databaseMilliseconds: expect.any(Number), queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: null },
      ...{ version, startedAt, databaseSeenAt: now },
    })
    await queue.stop(5)
    await database.close()
    const askedAt = now
    now = new Date('2026-11-20T09:40:00.000Z')
    expect(await ownHealth.read()).toEqual({
      ...{ databaseMilliseconds: null, queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: null },
      ...{ version, startedAt, databaseSeenAt: askedAt },
    })
    writtenAt = new Date('2026-11-20T09:35:00.000Z')
    expect((await ownHealth.read()).databaseSeenAt).toEqual(writtenAt)
    await discardStore(await openDatabase(options), options)
  })
})
