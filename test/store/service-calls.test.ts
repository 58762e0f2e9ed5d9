import { describe, expect, it } from 'vitest'
import { createCallCounts } from '../../src/store/operations/service-calls.ts'
import { createDirectorySightings } from '../../src/store/provisioning/index.ts'
import { tenantId } from '../support/core.ts'
import { engines, withDatabase } from '../support/database.ts'

describe.each(engines)('calls to Microsoft 365, counted in %s stores', (engine) => {
  const store = withDatabase(engine)
  let now = new Date('2026-11-20T10:00:30Z')
  const minutesLater = (count: number) => {
    now = new Date(now.getTime() + count * 60_000)
  }
  const replica = () => createCallCounts(store.database, () => now)

  it('are known to their own process at once, and to all processes after a write', async () => {
    const [one, other] = [replica(), replica()]
    for (const outcome of ['answered', 'answered', 'throttled', 'refused', 'timedOut'] as const)
      one.count({ service: 'graph', outcome })
    const counts = {
      name: 'graph',
      calls: 5,
      failed: 2,
      throttled: 1,
      timedOut: 1,
      lastSuccessAt: now,
      lastFailureAt: now,
    }
    expect(await one.lately()).toEqual([counts])
    expect(await other.lately()).toEqual([])
    await one.write()
    await one.write()
    other.count({ service: 'graph', outcome: 'answered' })
    await other.write()
    for (const each of [one, other, replica()]) expect(await each.lately()).toEqual([{ ...counts, calls: 6 }])
  })

  it('count for 15 minutes, and keep the time of the last success for two days', async () => {
    const last = now
    minutesLater(16)
    const none = { calls: 0, failed: 0, throttled: 0, timedOut: 0 }
    const reader = replica()
    expect(await reader.lately()).toEqual([{ name: 'graph', ...none, lastSuccessAt: last, lastFailureAt: last }])
    await reader.forgetOld(now)
    expect(await reader.lately()).toHaveLength(1)
    minutesLater(3 * 1440)
    await reader.forgetOld(now)
    expect(await reader.lately()).toEqual([])
  })

  it('are reported by their own process while the store does not answer, and written afterwards', async () => {
    const one = replica()
    one.count({ service: 'exchange', outcome: 'answered' })
    await store.database.query('ALTER TABLE service_calls RENAME TO service_calls_away')
    await expect(one.write()).rejects.toThrow()
    one.count({ service: 'exchange', outcome: 'unreachable' })
    expect(await one.lately()).toMatchObject([{ name: 'exchange', calls: 2, failed: 1 }])
    await store.database.query('ALTER TABLE service_calls_away RENAME TO service_calls')
    await one.write()
    expect(await replica().lately()).toMatchObject([{ name: 'exchange', calls: 2, failed: 1 }])
  })

  it('are written by several processes at the same time without deadlocks', async () => {
    const before = (await replica().lately()).find(({ name }) => name === 'sharePoint')?.calls ?? 0
    const names = ['graph', 'sharePoint', 'exchange'] as const
    // Rows that are locked long enough for the transactions to meet.
    await store.database.query(
      `CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END'`,
    )
    await store.database.query(
      'CREATE TRIGGER slowly BEFORE UPDATE ON service_calls FOR EACH ROW EXECUTE FUNCTION slowly()',
    )
    const all = [names, names.toReversed(), names, names.toReversed()].map((order) => {
      const one = replica()
      for (const service of order) one.count({ service, outcome: 'answered' })
      return one
    })
    await all[0]?.write()
    const others = all.slice(1).map((one) => one.write())
    expect((await Promise.allSettled(others)).map(({ status }) => status)).toEqual(others.map(() => 'fulfilled'))
    expect(await replica().lately()).toContainEqual(expect.objectContaining({ name: 'sharePoint', calls: before + 4 }))
    await store.database.query('DROP FUNCTION slowly CASCADE')
  })

  it('are written one write at a time: later counts wait for the next write', async () => {
    const queries: string[] = []
    let answer = (): void => undefined
    const slow = {
      ...store.database,
      query: async (sql: string) => {
        queries.push(sql)
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        return { rows: [], rowCount: 0 }
      },
    } as typeof store.database
    const one = createCallCounts(slow, () => now)
    one.count({ service: 'graph', outcome: 'answered' })
    const first = one.write()
    one.count({ service: 'graph', outcome: 'answered' })
    const second = one.write()
    expect(queries).toHaveLength(1)
    answer()
    await Promise.all([first, second])
    const third = one.write()
    expect(queries).toHaveLength(2)
    answer()
    await third
  })

  it('are stored together with the delays of the directory, one for each site, for two days', async () => {
    const sightings = createDirectorySightings(store.database)
    const ids = [10, 20, 30, 400].map(
      (seconds, place) => [`00000000-0000-4000-8000-00000000000${place}`, seconds] as const,
    )
    for (const [requestId, seconds] of ids) await sightings.note({ tenantId, requestId, seenAt: now, seconds })
    for (const [requestId] of ids) await sightings.note({ tenantId, requestId, seenAt: now, seconds: 9999 })
    const since = new Date(now.getTime() - 86_400_000)
    expect(await sightings.delay(tenantId, since)).toEqual({
      seen: 4,
      p50Seconds: 25,
      p95Seconds: expect.closeTo(344.5),
    })
    expect(await sightings.delay(tenantId, new Date(now.getTime() + 1))).toMatchObject({ seen: 0 })
    expect([await sightings.isNoted(ids[0]?.[0] ?? ''), await sightings.isNoted(tenantId)]).toEqual([true, false])
    await sightings.forgetOld(new Date(now.getTime() + 3 * 86_400_000))
    expect(await sightings.delay(tenantId, since)).toMatchObject({ seen: 0 })
  })
})
