import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createPacedChats, ownLimits } from '../../src/bot/channel/chat-pace.ts'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { CardJson } from '../../src/cards/index.ts'
import {
  asWritten,
  type CardOrder,
  type CardPlace,
  mostLinks,
  type Outbox,
  type Person,
  PutOff,
  type Request,
  type SendResult,
  TenantError,
} from '../../src/core/index.ts'
import { chatPaceInMemory } from '../../src/store/notifications/chats.ts'
import { workOff } from '../support/card-jobs.ts'
import { requestOf, siteRoot, stepsUntil } from '../support/card-requests.ts'
import { kim, tenantId, withCore } from '../support/core.ts'
import { jobNamed } from '../support/job-scope.ts'
import { maxIn } from '../support/traffic.ts'

const silent = { warn: () => undefined }
const retries = { retries: 16, retryDelaySeconds: 2, workers: 4 }

describe('the links of many requests of one person', () => {
  const core = withCore()
  const clock = { now: Date.UTC(2026, 10, 20, 12) }
  const at = () => core.with({ clock: { now: () => new Date(clock.now) } })
  /** Every message to the chat, in order. */
  const messages: { how: 'send' | 'update'; text: string; at: number }[] = []
  let answer: () => SendResult
  let outbox: Outbox
  let person: Person
  let number = 6000

  beforeEach(async () => {
    messages.splice(0)
    clock.now += 3_600_000
    const id = randomUUID()
    person = { ...kim, id, displayName: 'Kim Lee' }
    const chat = { conversationId: `chat-${id}`, reference: {}, locale: 'en-GB', timeZone: 'UTC' }
    await core.ports.conversations.put({ tenantId, personId: id, ...chat })
    answer = () => ({ state: 'sent', activityId: `card-${messages.length}` })
    const chats = createPacedChats(
      chatPaceInMemory(() => clock.now),
      silent,
    )
    const written = async (
      how: 'send' | 'update',
      card: CardJson,
      what: string,
      place: CardPlace & { isShort?: boolean },
    ) => {
      const write = async () => {
        messages.push({ how, text: JSON.stringify(card), at: clock.now })
        clock.now += 10
        return answer()
      }
      return chats.write('chat', { what, ...place }, write, () => 0)
    }
    outbox = createOutbox(
      {
        send: (_, card, what, place = { rank: 'new' }) => written('send', card, what, place),
        async update(_, _id, card, what, isShort = false) {
          await written('update', card, what, { rank: 'update', isShort })
          return 'updated'
        },
      },
      { now: () => new Date(clock.now), siteRoot, outlookRoot: 'https://outlook.office.com/' },
    )
  })

  /** Stores a request that has just been announced. */
  async function announced(): Promise<Request> {
    number += 1
    const url = `${siteRoot}s${number}`
    const endedAt = new Date(clock.now).toISOString()
    const request = requestOf({
      ...{ requestId: randomUUID(), tenantId, alias: `s${number}`, requester: person, status: 'succeeded' },
      ...{ steps: stepsUntil(99), finishedAt: endedAt },
      followUp: { state: 'announced', by: 'webhook', url, at: endedAt },
      resource: { url, siteId: 'site', groupId: 'group', securityGroupId: 'security' },
    })
    const stored = await core.ports.requests.insert(request)
    if (!stored) throw new Error('a request of a new id was there already')
    return stored
  }
  const several = async (count: number): Promise<Request[]> => {
    const requests: Request[] = []
    for (let index = 0; index < count; index += 1) requests.push(await announced())
    return requests
  }
  const ready = ({ requestId }: Request): CardOrder => ({
    ...{ requestId, personId: person.id, card: 'outcome:succeeded' },
  })
  const deliver = (order: CardOrder) => (attempt: number) => at().system.deliverCard(outbox, order, attempt)
  const work = (jobs: readonly ((attempt: number) => Promise<void>)[]) =>
    workOff(clock, jobs, retries, Math.random, () => undefined)
  /** Returns the orders of cards with several links. */
  async function bundles(): Promise<CardOrder[]> {
    const { rows } = await core.database.query<{ payload: CardOrder }>(
      `SELECT payload FROM ordered_jobs WHERE name = 'tell' AND payload ->> 'personId' = $1`,
      [person.id],
    )
    return rows.map(({ payload }) => payload)
  }
  /** Returns the requests whose links wait for the card of a bundle. */
  async function bundledNow(requests: readonly Request[]): Promise<Request[]> {
    const cards = await Promise.all(
      requests.map(({ requestId }) => core.ports.sentCards.find(requestId, person.id, 'outcome:succeeded')),
    )
    return requests.filter((_, index) => cards[index]?.state === 'bundled')
  }
  /** Returns an outbox whose chat has no room for a minute, except for cards that replace others. */
  const crowdedChat = (failsToo = false): Outbox =>
    createOutbox(
      {
        async send(_, card, _what, place) {
          if (!place?.instead) throw new PutOff('the chat is full', 60_000)
          if (failsToo) throw new Error('the connector failed')
          messages.push({ how: 'send', text: JSON.stringify(card), at: clock.now })
          return answer()
        },
        update: async () => 'updated',
      },
      { now: () => new Date(clock.now), siteRoot, outlookRoot: 'https://outlook.office.com/' },
    )
  /** Returns the order of the bundle that the ready card of a request starts. */
  async function bundleFor(request: Request | undefined): Promise<CardOrder> {
    if (!request) throw new Error('no request was stored')
    await at().system.deliverCard(crowdedChat(), ready(request), 1)
    const [order, ...more] = await bundles()
    if (!order || more.length > 0) throw new Error(`${more.length} bundles were ordered`)
    return order
  }
  const withLink = ({ requestId: _, ...request }: Request) => {
    const url = request.followUp.url ?? 'no address'
    return messages.filter(({ how, text }) => how === 'send' && text.includes(`"${url}"`))
  }

  it('arrive within 10 seconds of their ends, each once, and one card has those that would be late', async () => {
    const requests = await several(30)
    const endedAt = clock.now
    await work(
      requests.map((request) => async (attempt: number) => {
        await deliver(ready(request))(attempt)
        // The job of a bundle runs next to the others.
        for (const order of await bundles()) await deliver(order)(1)
      }),
    )
    for (const request of requests) {
      expect(withLink(request), `REQ-${request.number}`).toHaveLength(1)
      expect((withLink(request)[0]?.at ?? 0) - endedAt).toBeLessThan(10_000)
    }
    expect(messages.length).toBeLessThan(30)
    for (const { milliseconds, count } of ownLimits)
      expect(
        maxIn(
          messages.map((one) => one.at),
          milliseconds,
        ),
      ).toBeLessThanOrEqual(count)
  })

  it('join a bundle that waits, and arrive on its card', async () => {
    const [first, ...others] = await several(3)
    const order = await bundleFor(first)
    const later = await several(5)
    const { system } = at()
    for (const request of later)
      await expect(system.deliverCard(crowdedChat(), ready(request), 1)).rejects.toThrow('full')
    expect(await bundles()).toHaveLength(1)
    await system.deliverCard(crowdedChat(), order, 1)
    expect(messages).toHaveLength(1)
    for (const request of [first, ...others, ...later]) expect(request && withLink(request)).toHaveLength(1)
    await work(later.map((request) => deliver(ready(request))))
    expect(messages).toHaveLength(1)
  })

  it('join a bundle whose card has failed before', async () => {
    const order = await bundleFor((await several(2))[0])
    const { system } = at()
    await expect(system.deliverCard(crowdedChat(true), order, 1)).rejects.toThrow('the connector failed')
    const later = await several(3)
    for (const request of later)
      await expect(system.deliverCard(crowdedChat(), ready(request), 1)).rejects.toThrow('full')
    await system.deliverCard(crowdedChat(), order, 2)
    for (const request of later) expect(withLink(request), `REQ-${request.number}`).toHaveLength(1)
    expect(messages).toHaveLength(1)
  })

  it('fill a bundle, and the rest is the next bundle', async () => {
    const order = await bundleFor((await several(2))[0])
    const later = await several(mostLinks + 5)
    await at().system.deliverCard(crowdedChat(), order, 1)
    expect(later.filter((request) => withLink(request).length === 1)).toHaveLength(mostLinks - 2)
    const next = await bundles()
    expect(next).toHaveLength(2)
    for (const each of next) await at().system.deliverCard(crowdedChat(), each, 1)
    for (const request of later) expect(withLink(request), `REQ-${request.number}`).toHaveLength(1)
    expect(messages).toHaveLength(2)
  })

  it('that ended hours ago start a bundle of their own, because no other takes them', async () => {
    const old = await several(4)
    clock.now += 3 * 3_600_000
    await bundleFor((await several(2))[0])
    for (const request of old) await at().system.deliverCard(crowdedChat(), ready(request), 1)
    expect(await bundles()).toHaveLength(2)
    expect(await bundledNow(old)).toHaveLength(4)
  })

  it('start another bundle when those that wait are full', async () => {
    const order = await bundleFor((await several(mostLinks))[0])
    const [one, other] = await several(2)
    if (!one || !other) throw new Error('no request was stored')
    await at().system.deliverCard(crowdedChat(), ready(one), 1)
    const another = (await bundles()).filter((bundle) => JSON.stringify(bundle) !== JSON.stringify(order))
    expect(another).toHaveLength(1)
    await work([order, ...another].map(deliver))
    expect([one, other].map((request) => withLink(request).length)).toEqual([1, 1])
    expect(messages).toHaveLength(2)
  })

  it('are not lost and not sent again when each job runs twice', async () => {
    const requests = await several(100)
    await work(requests.map((request) => deliver(ready(request))))
    await work([...(await bundles()), ...(await bundles())].map(deliver))
    const before = messages.length
    await work([...requests.map(ready), ...(await bundles())].map(deliver))
    expect(messages).toHaveLength(before)
    for (const request of requests) expect(withLink(request), `REQ-${request.number}`).toHaveLength(1)
  })

  it('are due again, each alone, when the chat does not accept their card', async () => {
    const requests = await several(40)
    await work(requests.map((request) => deliver(ready(request))))
    answer = () => ({ state: 'undeliverable', why: 'ConversationBlockedByUser', closed: true })
    await work((await bundles()).map(deliver))
    const states = await Promise.all(
      requests.map(({ requestId }) => core.ports.sentCards.find(requestId, person.id, 'outcome:succeeded')),
    )
    expect(states.filter((card) => card?.state === 'bundled')).toEqual([])
    expect(states.filter((card) => card === undefined).length).toBeGreaterThan(20)
    expect((await core.ports.conversations.ofPerson(tenantId, person.id))?.closed).toBe('ConversationBlockedByUser')
  })

  it('come as one card again after the chat refused it at the same moment', async () => {
    const [own, ...others] = await several(3)
    if (!own) throw new Error('no request was stored')
    const { system } = at()
    answer = () => ({ state: 'undeliverable', why: 'ForbiddenOperationException', closed: false })
    const full = crowdedChat()
    await system.deliverCard(full, ready(own), 1)
    for (const order of await bundles()) await system.deliverCard(full, order, 1)
    expect(await bundledNow([own, ...others])).toEqual([])
    answer = () => ({ state: 'sent', activityId: `card-${messages.length}` })
    messages.splice(0)
    await system.deliverCard(full, ready(own), 1)
    for (const order of await bundles()) await system.deliverCard(full, order, 1)
    for (const request of [own, ...others]) expect(withLink(request), `REQ-${request.number}`).toHaveLength(1)
  })

  it('come in the bundle of their own job, even if more links than one card shows are older', async () => {
    const requests = await several(30)
    await at().system.deliverCard(crowdedChat(), await bundleFor(requests.at(-1)), 1)
    expect(requests.slice(-1).map(withLink)).toMatchObject([[{ how: 'send' }]])
    expect(requests.filter((request) => withLink(request).length === 1)).toHaveLength(mostLinks)
    // The bundle was full, so it ordered the next one.
    const next = await bundles()
    expect(next).toHaveLength(2)
    for (const order of next) await at().system.deliverCard(crowdedChat(), order, 1)
    expect(messages).toHaveLength(2)
    expect(requests.filter((request) => withLink(request).length === 1)).toHaveLength(30)
  })

  it('come each alone after the last attempt to send their card failed', async () => {
    const { system } = at()
    const requests = await several(3)
    const order = await bundleFor(requests[0])
    answer = () => {
      throw new TenantError('chat-rejected', asWritten('The connector rejected the card.'), { retryable: false })
    }
    await expect(system.deliverCard(crowdedChat(), order, 1)).rejects.toThrow('rejected')
    expect(await bundledNow(requests)).toHaveLength(3)
    for (const repeat of [1, 2]) {
      await jobNamed('tell', { core: at() }).onDeadLetter(
        { v: 1, ...order },
        { name: 'TenantError', message: `${repeat}` },
      )
      expect(await bundledNow(requests)).toEqual([])
    }
    answer = () => ({ state: 'sent', activityId: `card-${messages.length}` })
    messages.splice(0)
    const orders = await Promise.all(requests.map(({ requestId }) => core.orders(requestId)))
    const alone = orders.flat().filter(({ name, payload }) => name === 'notify' && payload['personId'] === person.id)
    expect(alone).toHaveLength(3)
    await work(requests.map((request) => deliver(ready(request))))
    for (const request of requests) expect(withLink(request), `REQ-${request.number}`).toHaveLength(1)
  })

  it('that arrived on one card stay known when its job fails afterwards', async () => {
    const { system } = at()
    const requests = await several(3)
    const order = await bundleFor(requests[0])
    await system.deliverCard(crowdedChat(), order, 1)
    await jobNamed('tell', { core: at() }).onDeadLetter({ v: 1, ...order }, { name: 'Error', message: 'late' })
    expect(await bundledNow(requests)).toHaveLength(3)
  })

  it('come before updates of cards, which leave most of the room to new cards', async () => {
    const requests = await several(20)
    for (const { requestId } of requests) {
      const card = { requestId, personId: person.id, key: 'status', conversationId: `chat-${person.id}` } as const
      await core.ports.sentCards.put({ ...card, activityId: `status-${requestId}`, state: 'sent' })
    }
    const refresh =
      ({ requestId, version }: Request) =>
      () =>
        at().system.refreshCards(outbox, { requestId, version, cards: 'all', personId: person.id })
    await work([...requests.map(refresh), ...requests.map((request) => deliver(ready(request)))])
    const lastLink = messages.findLastIndex(({ how }) => how === 'send')
    expect(messages.slice(0, lastLink).filter(({ how }) => how === 'update').length).toBeLessThanOrEqual(6)
    expect(messages.filter(({ how }) => how === 'update').length).toBeGreaterThanOrEqual(20)
  })
})
