import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Delivery, Draft, SentCard, Template } from '../../src/core/index.ts'
import { createStores, ownSetting, type Stores } from '../../src/store/index.ts'
import { at, dana, kim, projectSite } from '../support/card-world.ts'
import { engines, withDatabase } from '../support/database.ts'

const fifty = Array.from({ length: 50 }, (_, index) => index)

describe.each(engines)('the stores, %s', (engine) => {
  const store = withDatabase(engine)
  let stores: Stores
  beforeAll(() => {
    stores = createStores(store.database)
  })

  it('give a name to one of many concurrent holders, regardless of case', async () => {
    const tenantId = randomUUID()
    const ids = fifty.map(() => randomUUID())
    const got = await Promise.all(
      ids.map((id, index) => stores.reservations.reserve(tenantId, [index % 2 ? 'Aurora' : 'aurora'], id)),
    )
    const winner = ids.filter((_, index) => got[index]?.length === 0)
    expect(winner).toHaveLength(1)
    const [holder = ''] = winner
    expect(await stores.reservations.holder(tenantId, 'AURORA')).toBe(holder)
    expect(await stores.reservations.reserve(tenantId, ['aurora'], holder)).toEqual([])
    expect(await stores.reservations.reserve(randomUUID(), ['aurora'], randomUUID())).toEqual([])
    expect(await stores.reservations.reserve(tenantId, ['Borealis', 'AURORA'], randomUUID())).toEqual(['AURORA'])
    // Independent of the store's locale, which has its own rules for lower case.
    expect(await stores.reservations.reserve(tenantId, ['\u0130zmir'], holder)).toEqual([])
    expect(await stores.reservations.reserve(tenantId, ['\u0130zmir'], randomUUID())).toEqual(['\u0130zmir'])
    await stores.reservations.release(holder)
    expect(await stores.reservations.holder(tenantId, 'aurora')).toBeUndefined()
  })

  it('read the present version of a template that another process has changed', async () => {
    const tenantId = randomUUID()
    const other = createStores(store.database).templates
    await stores.templates.put(tenantId, { ...projectSite, version: 1 }, 0)
    expect((await other.find(tenantId, projectSite.id))?.name).toBe(projectSite.name)
    await stores.templates.put(tenantId, { ...projectSite, version: 2, name: 'Renamed' }, 1)
    expect((await other.find(tenantId, projectSite.id.toUpperCase()))?.name).toBe('Renamed')
    expect((await other.find(tenantId, projectSite.id))?.version).toBe(2)
    expect(await other.find(randomUUID(), projectSite.id)).toBeUndefined()
  })

  it('read the last of two writes of a template in one transaction, or neither after a rollback', async () => {
    const tenantId = randomUUID()
    const { put, find } = stores.templates
    const named = async () => (await find(tenantId, projectSite.id))?.name
    const twice = (more: () => void) =>
      store.database.transaction(async () => {
        await put(tenantId, { ...projectSite, version: 1, name: 'First' }, 0)
        expect(await named()).toBe('First')
        await put(tenantId, { ...projectSite, version: 2, name: 'Second' }, 1)
        expect(await named()).toBe('Second')
        more()
      })
    await expect(twice(() => expect.unreachable('changed my mind'))).rejects.toThrow('changed my mind')
    expect(await named()).toBeUndefined()
    await twice(() => undefined)
    expect(await named()).toBe('Second')
  })

  it('return templates that readers cannot change, because they share them', async () => {
    const tenantId = randomUUID()
    await stores.templates.put(tenantId, { ...projectSite, version: 1 }, 0)
    const read = await stores.templates.find(tenantId, projectSite.id)
    expect(() => Object.assign(read ?? {}, { name: 'Mine' })).toThrow(TypeError)
    expect(() => Object.assign(read?.naming ?? {}, { prefix: 'mine-' })).toThrow(TypeError)
    expect(await stores.templates.find(tenantId, projectSite.id)).toEqual({ ...projectSite, version: 1 })
  })

  it('write a template only over the version that was read, for one of many concurrent writers', async () => {
    const tenantId = randomUUID()
    const made = (version: number, more: Partial<Template> = {}): Template => ({ ...projectSite, version, ...more })
    const put = (version: number, expected: number) => stores.templates.put(tenantId, made(version), expected)
    expect(await put(4, 3)).toBe(false)
    const first = await Promise.all(fifty.map(() => put(1, 0)))
    expect(first.filter(Boolean)).toHaveLength(1)
    const second = await Promise.all(fifty.map(() => put(2, 1)))
    expect(second.filter(Boolean)).toHaveLength(1)
    expect([await put(1, 0), await put(2, 1), await put(9, 8)]).toEqual([false, false, false])
    expect((await stores.templates.find(tenantId, projectSite.id.toUpperCase()))?.version).toBe(2)
    expect(await stores.templates.find(tenantId, 'no uuid')).toBeUndefined()
    expect(await stores.templates.find(randomUUID(), projectSite.id)).toBeUndefined()
    const last = { id: randomUUID(), order: 99 }
    expect(await stores.templates.put(tenantId, made(1, { ...last, name: 'B' }), 0)).toBe(true)
    expect(await stores.templates.put(tenantId, made(1, { ...last, id: randomUUID(), name: 'A' }), 0)).toBe(true)
    expect((await stores.templates.list(tenantId)).map(({ name }) => name)).toEqual(['Project site', 'A', 'B'])
  })

  it('change a draft by one version at a time, for one of many clicks', async () => {
    const draft: Draft = {
      ...{ v: 1, requestId: randomUUID(), tenantId: randomUUID(), personId: kim.id, templateId: projectSite.id },
      ...{ version: 1, step: 'details', values: { displayName: 'Aurora “Süd” 🚀' }, updatedAt: at('09:00') },
    }
    await stores.drafts.insert(draft)
    expect(await stores.drafts.find(draft.requestId)).toEqual(draft)
    expect(await stores.drafts.insert({ ...draft, values: {} })).toBe(false)
    expect(await stores.drafts.find(draft.requestId)).toEqual(draft)
    const next: Draft = { ...draft, version: 2, step: 'review' }
    const written = await Promise.all(fifty.map(() => stores.drafts.update(next)))
    expect(written.filter(Boolean)).toHaveLength(1)
    expect(await stores.drafts.update({ ...draft, version: 4 })).toBe(false)
    expect(await stores.drafts.find(draft.requestId)).toEqual(next)
  })

  it('keep the order and the texts of a timeline', async () => {
    const entry = { requestId: randomUUID(), tenantId: randomUUID(), at: at('09:00'), actor: kim, action: 'queued' }
    const system = { ...entry, actor: { kind: 'system' as const }, action: 'provisioning', data: { why: ['a', 1] } }
    const cancelled = { ...entry, action: 'cancelled', comment: '“Nein” – 漢字' }
    await stores.audit.append([entry, system])
    await stores.audit.append([cancelled])
    expect(await stores.audit.timeline(entry.requestId)).toEqual([entry, system, cancelled])
    expect(await stores.audit.timeline(randomUUID())).toEqual([])
  })

  it('find the present status of a delivery', async () => {
    const subscriber = { templateId: projectSite.id }
    const delivery = {
      ...{ deliveryId: randomUUID(), requestId: randomUUID(), tenantId: randomUUID(), subscriber },
      ...{ type: 'site.provisioned' as const, url: 'https://hooks.example/a', body: '{"a":1}', attempts: 0 },
      ...{ status: 'pending' as const, lastStatus: null, createdAt: at('09:00'), updatedAt: at('09:00') },
    }
    await stores.deliveries.insert(delivery)
    expect(await stores.deliveries.find(delivery.deliveryId)).toEqual(delivery)
    const delivered = { ...delivery, status: 'delivered' as const, attempts: 1, lastStatus: '204' }
    await stores.deliveries.update(delivered)
    expect(await stores.deliveries.find(delivery.deliveryId)).toEqual(delivered)
  })

  it('keep one sent card for each request, person and occasion, with its last status', async () => {
    const card: SentCard = {
      ...{ requestId: randomUUID(), personId: kim.id, key: 'status' as const, conversationId: 'chat' },
      ...{ activityId: null, state: 'sending' as const },
    }
    const other: SentCard = { ...card, key: 'outcome:failed:2026-11-20T09:00:00.000Z', activityId: 'a', state: 'sent' }
    await stores.sentCards.put(card)
    await stores.sentCards.put(other)
    await stores.sentCards.put({ ...card, activityId: 'b', state: 'sent' })
    const { requestId, personId, key } = card
    const sent = { ...card, activityId: 'b', state: 'sent' }
    expect(await stores.sentCards.find(requestId, personId, key)).toMatchObject(sent)
    // A key of a later version, whose replica runs at the same time.
    const later = { ...other, key: 'later:1' as SentCard['key'] }
    await stores.sentCards.put(later)
    expect(await stores.sentCards.ofRequest(requestId)).toHaveLength(2)
    await stores.sentCards.remove(requestId, personId, key)
    expect(await stores.sentCards.ofRequest(requestId)).toMatchObject([other])
  })

  it('keep the cards of a bundle, except cards that exist, and drop those that were not sent', async () => {
    const bundleId = randomUUID()
    const card: SentCard = {
      ...{ requestId: randomUUID(), personId: kim.id, key: 'approval:1' as const, conversationId: 'chat' },
      ...{ activityId: null, state: 'bundled' as const, bundleId },
    }
    const [known, withdrawn] = [randomUUID(), randomUUID()]
    await stores.sentCards.put({ ...card, requestId: known, activityId: 'a', state: 'sent' })
    await stores.sentCards.put({ ...card, requestId: withdrawn, activityId: 'b', state: 'withdrawn', bundleId: known })
    const cards = [card.requestId, known, withdrawn].map((requestId) => ({ ...card, requestId }))
    const stored = [card.requestId, withdrawn].toSorted()
    expect((await stores.sentCards.bundle(cards)).toSorted()).toEqual(stored)
    expect(await stores.sentCards.bundle(cards)).toEqual([])
    const found = await stores.sentCards.ofPerson(kim.id, [known, withdrawn, randomUUID()])
    expect(new Map(found.map(({ requestId, state }) => [requestId, state]))).toEqual(
      new Map([
        [known, 'sent'],
        [withdrawn, 'bundled'],
      ]),
    )
    expect(await stores.sentCards.ofPerson(dana.id, [known])).toEqual([])
    expect((await stores.sentCards.dropBundle(bundleId)).map(({ requestId }) => requestId).toSorted()).toEqual(stored)
    expect(await stores.sentCards.dropBundle(bundleId)).toEqual([])
    expect(await stores.sentCards.ofPerson(kim.id, [known])).toHaveLength(1)
  })

  it('report a new chat once, and keep its last reference', async () => {
    const chat = {
      ...{ tenantId: randomUUID(), personId: kim.id, conversationId: 'chat', reference: { serviceUrl: 'https://a' } },
      ...{ locale: 'en-GB', timeZone: 'Europe/Zurich' },
    }
    const news = await Promise.all(fifty.map(() => stores.conversations.put(chat)))
    expect(news.filter(Boolean)).toHaveLength(1)
    const moved = { ...chat, reference: { serviceUrl: 'https://b' }, locale: 'de-CH' }
    expect(await stores.conversations.put(moved)).toBe(false)
    expect(await stores.conversations.ofPerson(chat.tenantId, kim.id)).toEqual(moved)
    expect(await stores.conversations.ofPerson(randomUUID(), kim.id)).toBeUndefined()
  })

  it('never replace a chat with messages by a chat that Microsoft 365 names', async () => {
    const { conversations } = stores
    const tenantId = randomUUID()
    const found = { tenantId, personId: kim.id, conversationId: '19:x', reference: null, locale: 'en', timeZone: 'UTC' }
    expect(await conversations.lastReference(tenantId)).toBeUndefined()
    expect(await conversations.add(found)).toBe(true)
    expect(await conversations.add(found)).toBe(false)
    expect(await conversations.ofPerson(tenantId, kim.id)).toEqual(found)
    expect(await conversations.lastReference(tenantId)).toBeUndefined()
    const heard = { ...found, conversationId: 'chat', reference: { serviceUrl: 'https://a' } }
    expect(await conversations.put(heard)).toBe(false)
    expect(await conversations.add(found)).toBe(false)
    expect(await conversations.ofPerson(tenantId, kim.id)).toEqual(heard)
    expect(await conversations.lastReference(tenantId)).toEqual(heard.reference)
    await conversations.close(heard, 'ConversationBlockedByUser', new Date())
    expect(await conversations.lastReference(tenantId)).toBeUndefined()
  })

  it('read, replace and delete the state of the bot by its keys', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    await stores.botState.write({ [one]: { a: [1, { b: null }] }, [two]: 'text' })
    await stores.botState.write({ [one]: { a: 2 } })
    expect(await stores.botState.read([one, two, 'none'])).toEqual({ [one]: { a: 2 }, [two]: 'text' })
    await stores.botState.delete([one])
    expect(await stores.botState.read([one, two])).toEqual({ [two]: 'text' })
  })

  describe('delete old data:', () => {
    const now = new Date('2026-11-20T09:00:00.000Z')
    const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000).toISOString()
    const kept = async <T>(ids: readonly string[], find: (id: string) => Promise<T | undefined>) =>
      (await Promise.all(ids.map(find))).map((one) => one !== undefined)

    it('drafts 30 days after their end, and other drafts after 90 days', async () => {
      const drafted = async (step: Draft['step'], days: number) => {
        const requestId = randomUUID()
        const ids = { tenantId: randomUUID(), personId: kim.id, templateId: projectSite.id }
        await stores.drafts.insert({ v: 1, requestId, ...ids, version: 1, step, values: {}, updatedAt: daysAgo(days) })
        return requestId
      }
      const ids = [
        await drafted('submitted', 31),
        await drafted('discarded', 31),
        await drafted('submitted', 29),
        await drafted('details', 31),
        await drafted('review', 89),
        await drafted('review', 91),
      ]
      await stores.drafts.forgetOld(now)
      expect(await kept(ids, stores.drafts.find)).toEqual([false, false, true, true, true, false])
    })

    it('deliveries 90 days after their end, but no pending ones', async () => {
      const delivered = async (status: Delivery['status'], days: number) => {
        const [deliveryId, updatedAt] = [randomUUID(), daysAgo(days)]
        await stores.deliveries.insert({
          ...{
            deliveryId,
            requestId: randomUUID(),
            tenantId: randomUUID(),
            subscriber: 'bot',
            body: '{}',
            attempts: 1,
          },
          ...{ type: 'site.provisioned', url: 'https://hooks.example/a', status, lastStatus: null },
          ...{ createdAt: updatedAt, updatedAt },
        })
        return deliveryId
      }
      const ids = [
        await delivered('delivered', 91),
        await delivered('failed', 91),
        await delivered('pending', 91),
        await delivered('delivered', 89),
      ]
      await stores.deliveries.forgetOld(now)
      expect(await kept(ids, stores.deliveries.find)).toEqual([false, false, true, true])
    })

    it('the state of conversations without activity for 90 days', async () => {
      const [old, recent] = [randomUUID(), randomUUID()]
      await stores.botState.write({ [old]: 1, [recent]: 2 })
      const aged = 'UPDATE bot_state SET updated_at = $2 WHERE key = $1'
      await store.database.query(aged, [old, daysAgo(91)])
      await store.database.query(aged, [recent, daysAgo(89)])
      await stores.botState.forgetOld(now)
      expect(await stores.botState.read([old, recent])).toEqual({ [recent]: 2 })
    })
  })

  it('create an own setting once, which is the same after a restart', async () => {
    let made = 0
    const ask = () =>
      ownSetting(store.database, 'secret', () => {
        made += 1
        return `secret ${made}`
      })
    const values = await Promise.all(fifty.map(ask))
    expect(new Set(values).size).toBe(1)
    expect(await ownSetting(await store.reopen(), 'secret', () => 'another')).toBe(values[0])
    stores = createStores(store.database)
  })
})
