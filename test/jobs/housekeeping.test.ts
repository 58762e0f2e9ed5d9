import { afterEach, describe, expect, it, vi } from 'vitest'
import { turns } from '../../src/jobs/index.ts'
import { jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue, type Queue, startTurns } from '../../src/jobs/queue/queue.ts'
import { cleanUp, createStores, openDatabase } from '../../src/store/index.ts'
import { withDatabase } from '../support/database.ts'
import { jobNamed } from '../support/job-scope.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
describe('housekeeping', () => {
  const store = withDatabase('server')
  afterEach(() => {
    vi.useRealTimers()
  })
  const left = async () => (await store.database.query('SELECT 1 FROM idempotency_keys')).rowCount
  const writeOld = async () => {
    const key = { tenantId: crypto.randomUUID(), personId: crypto.randomUUID(), route: 'POST /x', key: 'old' }
    const [requestId, holder] = [crypto.randomUUID(), crypto.randomUUID()]
    const [at, keepUntil] = [new Date(Date.now() - 8 * 86_400_000), new Date(Date.now() - 86_400_000)]
    const attempt = { fingerprint: 'a', requestId, holder, at, leaseUntil: at, keepUntil }
    await createStores(store.database).idempotency.claim(key, attempt)
  }

  it('runs in one of many processes, once an hour', async () => {
    let now = Date.now()
    let runs = 0
    const job = jobNamed('housekeeping', {
      cleanUp: async () => {
        runs += 1
      },
    })
    const replicas = await Promise.all(
      [1, 2, 3].map(async () => {
        const database = await openDatabase(store.options)
        const queue = await createQueue(database, silent)
        await queue.start(jobRegistry(job))
        return { database, queue }
      }),
    )
    for (const hour of [1, 2]) {
      const stops = [...replicas, ...replicas].map(({ queue }) =>
        startTurns(queue, silent, () => new Date(now), { ...turns.housekeeping, firstAfter: 0 }),
      )
      await expect.poll(() => runs).toBe(hour)
      await expect.poll(async () => (await replicas[0]?.queue.state())?.waiting).toBe(0)
      for (const stop of stops) stop()
      expect(runs).toBe(hour)
      now += turns.housekeeping.length
    }
    await Promise.all(replicas.map(({ queue }) => queue.stop(1)))
    await Promise.all(replicas.map(({ database }) => database.close()))
  })

  it('keeps completed health checks for an hour, and other completed jobs for a week', async () => {
    const queue = await createQueue(store.database, silent)
    const parts = { healthWatcher: { check: async () => undefined }, cleanUp: async () => undefined }
    await queue.start(jobRegistry(jobNamed('health-watch', parts), jobNamed('housekeeping', parts)))
    const { rows } = await store.database.query<{ name: string; seconds: number }>(
      `SELECT name, deletion_seconds AS seconds FROM ${store.database.queueConnection.schema}.queue
       WHERE name IN ('health-watch', 'housekeeping') ORDER BY name`,
    )
    expect(rows).toEqual([
      { name: 'health-watch', seconds: 3600 },
      { name: 'housekeeping', seconds: 7 * 86_400 },
    ])
    await queue.stop(1)
  })

  it('starts a minute after the start and then every hour until it is stopped', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: new Date('2026-11-20T10:30:00Z') })
    const ordered: unknown[] = []
    const queue = {
      enqueue: async (...order: unknown[]) => void ordered.push(order),
    } as Partial<Queue> as Queue
    const stop = startTurns(queue, silent, () => new Date(), turns.housekeeping)
    vi.advanceTimersByTime(59_000)
    expect(ordered).toHaveLength(0)
    vi.advanceTimersByTime(1000)
    expect(ordered).toHaveLength(1)
    vi.advanceTimersByTime(3_600_000)
    expect(ordered).toHaveLength(2)
    expect(new Set(ordered.map((order) => JSON.stringify(order))).size).toBe(2)
    stop()
    vi.advanceTimersByTime(7_200_000)
    expect(ordered).toHaveLength(2)
  })

  it('deletes old data, also if a request cannot be reduced', async () => {
    await writeOld()
    const { database } = store
    const parts = { database, stores: createStores(database), now: () => new Date() }
    const stopping = new AbortController().signal
    const done: string[] = []
    const reduce = async () => void done.push('reduce')
    const noteAddresses = async () => void done.push('note')
    await cleanUp({ ...parts, reduce, noteAddresses }, stopping)
    expect(await left()).toBe(0)
    await writeOld()
    const fails = async () => {
      throw new Error('one cannot be reduced')
    }
    await expect(cleanUp({ ...parts, reduce: fails, noteAddresses }, stopping)).rejects.toThrow('one cannot be reduced')
    expect([await left(), done]).toEqual([0, ['reduce', 'note', 'note']])
  })
})
