import { describe, expect, it } from 'vitest'
import type { BucketRule, TokenBuckets } from '../../src/core/index.ts'
import { createLimits, createOwnBuckets } from '../../src/http/server/limits.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { createTokenBuckets } from '../../src/store/shared/index.ts'
import { engines, withDatabase } from '../support/database.ts'

const start = Date.parse('2026-11-20T09:00:00.000Z')
const rule = (key: string, capacity: number, perSecond = 1): BucketRule => ({ key, capacity, perSecond })

describe.each(['own', ...engines] as const)('token buckets, %s', (kind) => {
  const store = kind === 'own' ? undefined : withDatabase(kind)
  let at = start
  const make = (): TokenBuckets =>
    store === undefined ? createOwnBuckets(() => at) : createTokenBuckets(store.database, () => new Date(at))
  const drawn = async (buckets: TokenBuckets, ...rules: BucketRule[]) => (await buckets.draw(rules)).taken

  it('refill over time up to their capacity', async () => {
    const buckets = make()
    const own = rule('hold', 2)
    expect(await buckets.draw([own])).toEqual({ taken: true, tokens: [1] })
    expect([await drawn(buckets, own), await drawn(buckets, own)]).toEqual([true, false])
    at += 1500
    expect(await buckets.draw([own])).toEqual({ taken: true, tokens: [0.5] })
    expect(await buckets.draw([own])).toEqual({ taken: false, tokens: [0.5] })
    at += 3_600_000
    expect([await drawn(buckets, own), await drawn(buckets, own), await drawn(buckets, own)]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('give tokens from all requested buckets or from no bucket, and report them in order', async () => {
    const buckets = make()
    const [one, everybody] = [rule('z-one', 5), rule('a-everybody', 2)]
    expect((await buckets.draw([one, everybody])).tokens).toEqual([4, 1])
    expect((await buckets.draw([rule('z-two', 5), everybody])).tokens).toEqual([4, 0])
    expect(await buckets.draw([one, everybody])).toEqual({ taken: false, tokens: [4, 0] })
    expect(await buckets.draw([one])).toEqual({ taken: true, tokens: [3] })
  })

  it('give each token once to concurrent callers', async () => {
    const buckets = make()
    const [mine, everybody] = [rule('mine', 30), rule('everybody', 100)]
    const draws = await Promise.all(
      Array.from({ length: 60 }, (_, index) => buckets.draw(index % 2 ? [mine, everybody] : [everybody, mine])),
    )
    expect(draws.filter(({ taken }) => taken)).toHaveLength(30)
    expect((await buckets.draw([everybody])).tokens).toEqual([69])
  })

  it('stay unchanged when the clock goes back', async () => {
    const buckets = make()
    const own = rule('clock', 2)
    await buckets.draw([own])
    at -= 60_000
    expect((await buckets.draw([own])).tokens).toEqual([0])
    at += 61_000
    expect((await buckets.draw([own])).tokens).toEqual([0])
  })

  it('are deleted when they are full again', async () => {
    const buckets = make()
    await buckets.draw([rule('full soon', 10, 1)])
    await buckets.draw([rule('full late', 10, 0.01)])
    at += 10_000
    await buckets.forgetFull()
    expect(await drawn(buckets, rule('full soon', 10, 1))).toBe(true)
    expect((await buckets.draw([rule('full late', 10, 0.01)])).tokens[0]).toBeCloseTo(8.1)
  })
})

describe('replicas', () => {
  const store = withDatabase('server')

  it('count together by the clock of their store', async () => {
    const replicas = await Promise.all([1, 2, 3].map(() => openDatabase(store.options)))
    const limits = replicas.map((one) =>
      createLimits(options, Date.now, { buckets: createTokenBuckets(one), warn: () => undefined }),
    )
    const caller = { tenantId: 'contoso', id: 'kim' }
    const taken = await Promise.allSettled(
      Array.from({ length: 30 }, async (_, index) => limits[index % 3]?.take('write', caller)),
    )
    const refused = taken.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toHaveLength(20)
    for (const error of refused) expect(error).toMatchObject({ code: 'rate-limited' })
    await Promise.all(replicas.map((one) => one.close()))
  })

  const options = { writesPerMinute: 1, writeBurst: 10, readsPerMinute: 1, tenantWritesPerMinute: 600 }
  const away: TokenBuckets['draw'] = () => Promise.reject(new Error('away'))
  const silent: TokenBuckets['draw'] = () => new Promise(() => undefined)

  it.each([
    ['is away', away],
    ['does not answer', silent],
  ])('count alone while the store %s, and log a warning', async (_, draw) => {
    const messages: string[] = []
    const warn = (__: object, message: string) => void messages.push(message)
    const buckets = { draw, forgetFull: async () => undefined }
    const limits = createLimits(options, Date.now, { buckets, warn })
    const caller = { tenantId: 'contoso', id: 'kim' }
    expect(await limits.take('read', caller)).toMatchObject({ RateLimit: '"reads";r=0;t=60' })
    await expect(limits.take('read', caller)).rejects.toMatchObject({ code: 'rate-limited' })
    expect(messages).toEqual(['the shared rate limits do not answer; this process counts its calls alone'])
  })

  it('log the warning once a minute with the number of requests', async () => {
    let at = start
    const warnings: unknown[] = []
    const warn = (fields: object) => void warnings.push(fields)
    const buckets = { draw: away, forgetFull: async () => undefined }
    const limits = createLimits({ ...options, readsPerMinute: 0, writeBurst: 100 }, () => at, { buckets, warn })
    const write = () => limits.take('write', { tenantId: 'contoso', id: 'kim' })
    for (const seconds of [0, 1, 58, 1]) {
      at += seconds * 1000
      await write()
    }
    expect(warnings).toMatchObject([{ requests: 1, err: new Error('away') }, { requests: 3 }])
  })
})
