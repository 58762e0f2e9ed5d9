import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { IdempotencyAttempt, IdempotencyKey } from '../../src/core/index.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { engines, withDatabase } from '../support/database.ts'

const fifty = Array.from({ length: 50 }, (_, index) => index)
const noon = Date.UTC(2026, 10, 20, 12)
const keptSeconds = 7 * 86_400

describe.each(engines)('what is done once, %s', (engine) => {
  const store = withDatabase(engine)
  let stores: Stores
  beforeAll(() => {
    stores = createStores(store.database)
  })

  describe('an activity that is delivered more than once', () => {
    const activity = () => ({ channel: 'msteams', conversationId: 'chat', activityId: randomUUID() })
    const age = (activityId: string, seconds: number) =>
      store.database.query(
        'UPDATE inbox SET received_at = received_at - make_interval(secs => $2) WHERE activity_id = $1',
        [activityId, seconds],
      )

    it('is heard by one of many deliveries', async () => {
      const key = activity()
      const heard = await Promise.all(fifty.map(() => stores.inbox.claim(key)))
      expect(heard.filter(Boolean)).toHaveLength(1)
      expect(await stores.inbox.claim({ ...key, conversationId: 'another chat' })).toBe(true)
      expect(await stores.inbox.claim({ ...key, channel: 'emulator' })).toBe(true)
    })

    it('gets the answer of the first delivery, once that has ended', async () => {
      const key = activity()
      await stores.inbox.claim(key)
      expect(await stores.inbox.answer(key)).toBeUndefined()
      await stores.inbox.remember(key, { status: 200, body: { card: '“Süd”' } })
      expect(await stores.inbox.answer(key)).toEqual({ status: 200, body: { card: '“Süd”' } })
      await age(key.activityId, 3600)
      expect(await stores.inbox.claim(key)).toBe(false)
    })

    it('is not heard again when it ended without an answer', async () => {
      const key = activity()
      await stores.inbox.claim(key)
      await stores.inbox.remember(key, null)
      expect(await stores.inbox.answer(key)).toBeUndefined()
      await age(key.activityId, 3600)
      expect(await stores.inbox.claim(key)).toBe(false)
    })

    it('is heard again when handling failed, or when nothing came of it for long', async () => {
      const [failed, abandoned, young] = [activity(), activity(), activity()]
      for (const key of [failed, abandoned, young]) await stores.inbox.claim(key)
      await stores.inbox.release(failed)
      expect(await stores.inbox.claim(failed)).toBe(true)
      await age(abandoned.activityId, 31)
      const again = await Promise.all(fifty.map(() => stores.inbox.claim(abandoned)))
      expect(again.filter(Boolean)).toHaveLength(1)
      await age(young.activityId, 20)
      expect(await stores.inbox.claim(young)).toBe(false)
    })

    it('is forgotten after two days', async () => {
      const [old, recent] = [activity(), activity()]
      for (const key of [old, recent]) {
        await stores.inbox.claim(key)
        await stores.inbox.remember(key, {})
      }
      await age(old.activityId, 49 * 3600)
      await age(recent.activityId, 47 * 3600)
      await stores.inbox.forgetOld()
      expect([await stores.inbox.answer(old), await stores.inbox.answer(recent)]).toEqual([undefined, {}])
      expect([await stores.inbox.claim(old), await stores.inbox.claim(recent)]).toEqual([true, false])
    })
  })

  describe('an Idempotency-Key', () => {
    const keyOf = (more: Partial<IdempotencyKey> = {}): IdempotencyKey => ({
      ...{ tenantId: randomUUID(), personId: randomUUID(), route: 'POST /collab/v1/spo', key: 'once' },
      ...more,
    })
    /** An attempt, `seconds` after noon, whose lease runs for a minute. */
    const attempt = (fingerprint = 'a', seconds = 0): IdempotencyAttempt => ({
      ...{ fingerprint, requestId: randomUUID(), holder: randomUUID(), at: new Date(noon + seconds * 1000) },
      leaseUntil: new Date(noon + (seconds + 60) * 1000),
      keepUntil: new Date(noon + (seconds + keptSeconds) * 1000),
    })
    const answer = { status: 202, headers: { Location: '/requests/v1/x' }, body: '{"a":"ü"}' }
    const idempotency = () => stores.idempotency

    it('is claimed by one of many attempts, and is each caller’s and each route’s own', async () => {
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

    it('gives the first answer again; a second one does not replace it', async () => {
      const key = keyOf()
      const first = attempt()
      await idempotency().claim(key, first)
      await idempotency().complete(key, answer)
      await idempotency().complete(key, { ...answer, status: 500 })
      await idempotency().release(key, first.holder, 'refused')
      expect(await idempotency().claim(key, attempt('a', 3600))).toEqual({ state: 'answered', answer })
      expect(await idempotency().claim(key, attempt('b', 3600))).toEqual({ state: 'reused' })
    })

    it('with another body is a reuse, also while the first attempt runs', async () => {
      const key = keyOf()
      await idempotency().claim(key, attempt())
      expect(await idempotency().claim(key, attempt('b', 1))).toEqual({ state: 'reused' })
      expect(await idempotency().claim(key, attempt('b', 61))).toEqual({ state: 'reused' })
    })

    it('of an attempt that died is taken over when the lease has ended, with the id it always had', async () => {
      const key = keyOf()
      const dead = attempt()
      await idempotency().claim(key, dead)
      expect(await idempotency().claim(key, attempt('a', 59))).toEqual({ state: 'in-flight' })
      const heirs = await Promise.all(fifty.map(() => idempotency().claim(key, attempt('a', 61))))
      const claimed = heirs.filter(({ state }) => state === 'claimed')
      expect(claimed).toEqual([{ state: 'claimed', requestId: dead.requestId }])
    })

    it('that was released lets the same body in at once; a refusal leaves nothing of it', async () => {
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

    it('is not released by who holds it no longer', async () => {
      const key = keyOf()
      const dead = attempt()
      await idempotency().claim(key, dead)
      await idempotency().claim(key, attempt('a', 61))
      await idempotency().release(key, dead.holder, 'refused')
      expect(await idempotency().claim(key, attempt('a', 62))).toEqual({ state: 'in-flight' })
      await idempotency().complete(key, answer)
      expect(await idempotency().claim(key, attempt('a', 63))).toEqual({ state: 'answered', answer })
    })

    it('is forgotten after its time: by whoever comes next, and when old ones are thrown away', async () => {
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
