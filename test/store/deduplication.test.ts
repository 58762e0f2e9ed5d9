import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ActivityKey, IdempotencyAttempt, IdempotencyKey } from '../../src/core/index.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { engines, withDatabase } from '../support/database.ts'

const fifty = Array.from({ length: 50 }, (_, index) => index)
const noon = Date.UTC(2026, 10, 20, 12)
const keptSeconds = 7 * 86_400

describe.each(engines)('deduplication, %s', (engine) => {
  const store = withDatabase(engine)
  let stores: Stores
  beforeAll(() => {
    stores = createStores(store.database)
  })

  describe('an activity that is delivered repeatedly', () => {
    const activity = () => ({ channel: 'msteams', conversationId: 'chat', activityId: randomUUID() })
    const claim = async (key: ActivityKey) => (await stores.inbox.claim(key)).isFirst
    const age = (activityId: string, seconds: number) =>
      store.database.query(
        'UPDATE inbox SET received_at = received_at - make_interval(secs => $2) WHERE activity_id = $1',
        [activityId, seconds],
      )

    it('is handled by one of many deliveries', async () => {
      const key = activity()
      const heard = await Promise.all(fifty.map(() => claim(key)))
      expect(heard.filter(Boolean)).toHaveLength(1)
      expect(await claim({ ...key, conversationId: 'another chat' })).toBe(true)
      expect(await claim({ ...key, channel: 'emulator' })).toBe(true)
    })

    it('gets the answer of the first delivery after that has ended', async () => {
      const key = activity()
      await claim(key)
      expect(await stores.inbox.answer(key)).toBeUndefined()
      await stores.inbox.remember(key, { status: 200, body: { card: '“Süd”' } })
      expect(await stores.inbox.answer(key)).toEqual({ status: 200, body: { card: '“Süd”' } })
      await age(key.activityId, 3600)
      expect(await claim(key)).toBe(false)
    })

    it('is not handled again after it ended without an answer', async () => {
      const key = activity()
      await claim(key)
      await stores.inbox.remember(key, null)
      expect(await stores.inbox.answer(key)).toBeUndefined()
      await age(key.activityId, 3600)
      expect(await claim(key)).toBe(false)
    })

    it('is handled again after a failure, or after a long time without a result', async () => {
      const [failed, abandoned, young] = [activity(), activity(), activity()]
      for (const key of [failed, abandoned, young]) await claim(key)
      await stores.inbox.release(failed)
      expect(await claim(failed)).toBe(true)
      await age(abandoned.activityId, 31)
      const again = await Promise.all(fifty.map(() => claim(abandoned)))
      expect(again.filter(Boolean)).toHaveLength(1)
      await age(young.activityId, 20)
      expect(await claim(young)).toBe(false)
    })

    it('is forgotten after two days', async () => {
      const [old, recent] = [activity(), activity()]
      for (const key of [old, recent]) {
        await claim(key)
        await stores.inbox.remember(key, {})
      }
      await age(old.activityId, 49 * 3600)
      await age(recent.activityId, 47 * 3600)
      await stores.inbox.forgetOld()
      expect([await stores.inbox.answer(old), await stores.inbox.answer(recent)]).toEqual([undefined, {}])
      expect([await claim(old), await claim(recent)]).toEqual([true, false])
    })
  })

  describe('an Idempotency-Key', () => {
    const keyOf = (more: Partial<IdempotencyKey> = {}): IdempotencyKey => ({
      ...{ tenantId: randomUUID(), personId: randomUUID(), route: 'POST /collab/v1/spo', key: 'once' },
      ...more,
    })
    /** Claims the key `seconds` after noon, with a lease of one minute. */
    const attempt = (fingerprint = 'a', seconds = 0): IdempotencyAttempt => ({
      ...{ fingerprint, requestId: randomUUID(), holder: randomUUID(), at: new Date(noon + seconds * 1000) },
      leaseUntil: new Date(noon + (seconds + 60) * 1000),
      keepUntil: new Date(noon + (seconds + keptSeconds) * 1000),
    })
    const answer = { status: 202, headers: { Location: '/requests/v1/x' }, body: '{"a":"ü"}' }
    const idempotency = () => stores.idempotency

    it('is claimed by one of many attempts, separately for each caller and route', async () => {
      const key = keyOf()
      const claims = await Promise.all(fifty.map(() => idempotency().claim(key, attempt())))
      expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1)
      expect(claims.filter(({ state }) => state === 'in-flight')).toHaveLength(49)
      const others = [{ personId: randomUUID() }, { tenantId: randomUUID() }, { route: 'POST /x' }, { key: 'Once' }]
      for (const other of others) {
        const own = attempt('b')
        const claimed = await idempotency().claim({ ...key, ...other }, own)
        expect(claimed).toEqual({ state: 'claimed', requestId: own.requestId })
      }
    })

    it('returns the first answer again, which a second answer does not replace', async () => {
      const key = keyOf()
      const first = attempt()
      await idempotency().claim(key, first)
      await idempotency().complete(key, answer)
      await idempotency().complete(key, { ...answer, status: 500 })
      await idempotency().release(key, first.holder, 'refused')
      expect(await idempotency().claim(key, attempt('a', 3600))).toEqual({ state: 'answered', answer })
      expect(await idempotency().claim(key, attempt('b', 3600))).toEqual({ state: 'reused' })
    })

    it('counts as reused with another body, also while the first attempt runs', async () => {
      const key = keyOf()
      await idempotency().claim(key, attempt())
      expect(await idempotency().claim(key, attempt('b', 1))).toEqual({ state: 'reused' })
      expect(await idempotency().claim(key, attempt('b', 61))).toEqual({ state: 'reused' })
    })

    it('of a dead attempt is taken over with the same id when the lease has ended', async () => {
      const key = keyOf()
      const dead = attempt()
      await idempotency().claim(key, dead)
      expect(await idempotency().claim(key, attempt('a', 59))).toEqual({ state: 'in-flight' })
      const heirs = await Promise.all(fifty.map(() => idempotency().claim(key, attempt('a', 61))))
      const claimed = heirs.filter(({ state }) => state === 'claimed')
      expect(claimed).toEqual([{ state: 'claimed', requestId: dead.requestId }])
    })

    it('accepts the same body again at once after a release, and is deleted by a refusal', async () => {
      const [unknown, refused] = [keyOf(), keyOf()]
      const first = attempt()
      for (const key of [unknown, refused]) await idempotency().claim(key, first)
      await idempotency().release(unknown, first.holder, 'unknown')
      expect(await idempotency().claim(unknown, attempt('b', 1))).toEqual({ state: 'reused' })
      const again = { state: 'claimed', requestId: first.requestId }
      expect(await idempotency().claim(unknown, attempt('a', 1))).toEqual(again)
      const other = attempt('b', 1)
      await idempotency().release(refused, first.holder, 'refused')
      expect(await idempotency().claim(refused, other)).toEqual({ state: 'claimed', requestId: other.requestId })
      expect(await idempotency().claim(refused, attempt('a', 2))).toEqual({ state: 'reused' })
    })

    it('is not released by an attempt that has lost it', async () => {
      const key = keyOf()
      const dead = attempt()
      await idempotency().claim(key, dead)
      await idempotency().claim(key, attempt('a', 61))
      await idempotency().release(key, dead.holder, 'refused')
      expect(await idempotency().claim(key, attempt('a', 62))).toEqual({ state: 'in-flight' })
      await idempotency().complete(key, answer)
      expect(await idempotency().claim(key, attempt('a', 63))).toEqual({ state: 'answered', answer })
    })

    it('is forgotten after its time, by the next attempt and by the cleanup', async () => {
      const [key, other] = [keyOf(), keyOf()]
      for (const one of [key, other]) {
        await idempotency().claim(one, attempt())
        await idempotency().complete(one, answer)
      }
      expect(await idempotency().claim(key, attempt('b', keptSeconds - 1))).toEqual({ state: 'reused' })
      const next = attempt('b', keptSeconds)
      expect(await idempotency().claim(key, next)).toEqual({ state: 'claimed', requestId: next.requestId })
      await idempotency().forgetOld(new Date(noon + keptSeconds * 1000))
      const fresh = attempt('c', 1)
      expect(await idempotency().claim(other, fresh)).toEqual({ state: 'claimed', requestId: fresh.requestId })
      expect(await idempotency().claim(key, attempt('b', keptSeconds + 1))).toEqual({ state: 'in-flight' })
    })
  })
})
