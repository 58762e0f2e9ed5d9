import { afterEach, describe, expect, it, vi } from 'vitest'
import { createStores, isOurTurn, openDatabase, startHousekeeping } from '../src/store/index.ts'
import { withDatabase } from './support/database.ts'

describe('housekeeping', () => {
  const store = withDatabase('server')
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const nextHour = () =>
    store.database.query(`UPDATE settings SET value = (value::int - 1)::text WHERE name = 'housekeeping'`)
  const left = async () => (await store.database.query('SELECT 1 FROM idempotency_keys')).rowCount
  const writeOld = async () => {
    const key = { tenantId: crypto.randomUUID(), personId: crypto.randomUUID(), route: 'POST /x', key: 'old' }
    const [requestId, holder] = [crypto.randomUUID(), crypto.randomUUID()]
    const [at, keepUntil] = [new Date(Date.now() - 8 * 86_400_000), new Date(Date.now() - 86_400_000)]
    const attempt = { fingerprint: 'a', requestId, holder, at, leaseUntil: at, keepUntil }
    await createStores(store.database).idempotency.claim(key, attempt)
  }

  it('is the turn of one of many processes, once an hour', async () => {
    const replicas = await Promise.all([1, 2, 3].map(() => openDatabase(store.options)))
    const turns = () => Promise.all([...replicas, ...replicas].map(isOurTurn))
    for (const _ of ['this hour', 'the next one']) {
      expect((await turns()).filter((ours) => ours)).toHaveLength(1)
      await nextHour()
    }
    await Promise.all(replicas.map((one) => one.close()))
  })

  it('comes soon after the start, and every hour from then on, until it is ended', async () => {
    await nextHour()
    await writeOld()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    // Without jitter each advance ends with the turn: time that passes while a statement runs would be its time-out.
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const warned: unknown[] = []
    const warn = (fields: object) => void warned.push(fields)
    const { database } = store
    let turns = 0
    // A turn is over when what it does last is done: time that passes before that would be the time-out of a statement.
    const own = createStores(database)
    const forgetLast = async (at: Date) => {
      await own.sightings.forgetOld(at)
      turns += 1
    }
    const stores = { ...own, sightings: { ...own.sightings, forgetOld: forgetLast } }
    let reduced = 0
    const reduce = async () => {
      reduced += 1
      if (reduced === 2) throw new Error('one cannot be reduced')
    }
    let noted = 0
    const noteAddresses = async () => {
      noted += 1
    }
    const stop = startHousekeeping({ database, stores, now: () => new Date(), warn, reduce, noteAddresses })
    vi.advanceTimersByTime(59_000)
    expect(await left()).toBe(1)
    vi.advanceTimersByTime(1000)
    await expect.poll(() => turns).toBe(1)
    expect(await left()).toBe(0)
    await writeOld()
    await nextHour()
    vi.advanceTimersByTime(3_600_000)
    await expect.poll(() => turns).toBe(2)
    expect([await left(), reduced]).toEqual([0, 2])
    await expect.poll(() => noted).toBe(2)
    // What keeps one request from being reduced keeps nothing else from being forgotten.
    await expect.poll(() => warned).toEqual([{ err: expect.objectContaining({ message: 'one cannot be reduced' }) }])
    stop()
    await writeOld()
    await nextHour()
    vi.advanceTimersByTime(7_200_000)
    expect(await left()).toBe(1)
  })
})
