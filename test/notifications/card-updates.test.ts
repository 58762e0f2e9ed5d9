import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { CardJson } from '../../src/cards/index.ts'
import {
  asWritten,
  type CardKey,
  type Person,
  PutOff,
  type Request,
  type RequestForSite,
  type SendResult,
  TenantError,
  type UpdateResult,
} from '../../src/core/index.ts'
import { approvedBy, requestOf, requests, siteRoot, stageOf, stepsUntil } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, dana, kim, omar, priya, tenantId, tenantWith, withCore } from '../support/core.ts'

type Sent = { how: 'send' | 'update'; to: string; card: CardJson }
const { signal } = new AbortController()

describe('the cards of a request', () => {
  const core = withCore()
  const sentCards: Sent[] = []
  /** How the chats answer a card. */
  let send: (personId: string) => Promise<SendResult>
  let update: (personId: string) => Promise<UpdateResult>
  const outbox = createOutbox(
    {
      send({ personId }, card) {
        sentCards.push({ how: 'send', to: personId, card })
        return send(personId)
      },
      update({ personId }, _, card) {
        sentCards.push({ how: 'update', to: personId, card })
        return update(personId)
      },
    },
    { now: () => new Date(), siteRoot, outlookRoot: 'https://outlook.office.com/' },
  )
  const sentTo = () => sentCards.map(({ how, to }) => [how, to])

  beforeAll(async () => {
    for (const { id } of [kim, dana, omar]) {
      const conversation = { conversationId: `chat-${id}`, reference: {}, locale: 'en-GB', timeZone: 'UTC' }
      await core.ports.conversations.put({ tenantId, personId: id, ...conversation })
    }
  })
  beforeEach(() => {
    sentCards.splice(0)
    send = async () => ({ state: 'sent', activityId: `card-${sentCards.length}` })
    update = async () => 'updated'
  })
  let number = 7000
  const stored = async (more: Partial<RequestForSite> = {}): Promise<Request> => {
    number += 1
    const queuedAt = new Date().toISOString()
    const request = requestOf({ requestId: randomUUID(), number, tenantId, alias: `s${number}`, queuedAt, ...more })
    await core.ports.requests.insert(request)
    return request
  }
  const shown = ({ requestId }: Request, { id }: Person, key: CardKey, state: 'sent' | 'sending' = 'sent') =>
    core.ports.sentCards.put({
      ...{ requestId, personId: id, key, state, conversationId: `chat-${id}` },
      activityId: state === 'sent' ? `${key} of ${id}` : null,
    })
  const deliver = ({ requestId }: Request, card: CardKey, attempt = 1) =>
    core.provisioning.system.deliverCard(outbox, { requestId, personId: kim.id, card }, attempt)
  const refresh = ({ requestId, version }: Request, cards: 'all' | 'status') =>
    core.provisioning.system.refreshCards(outbox, { requestId, version, cards })
  const refreshes = async (request: Request) =>
    (await core.orders(request.requestId)).filter(({ name }) => name === 'refresh-cards')

  it('are updated if the request changed while they were being sent', async () => {
    const request = await stored()
    send = async () => {
      await core.provisioning.cancelRequest(actorOf(kim), { requestId: request.requestId })
      return { state: 'sent', activityId: 'under-way' }
    }
    const before = (await refreshes(request)).length
    await deliver(request, 'status')
    const [ofTheMove, ofTheCard] = (await refreshes(request)).slice(before)
    expect(ofTheMove?.payload).toMatchObject({ version: 2 })
    expect(ofTheCard?.payload).toMatchObject({ version: 2, cards: 'all' })
    await refresh({ ...request, version: 2 }, 'all')
    expect(sentTo()).toEqual([
      ['send', kim.id],
      ['update', kim.id],
    ])
    expect(textOf(sentCards[1]?.card ?? {})).toContain('Cancelled')
  })

  it('are updated by the next attempt of a job that was killed between the record of its card and the update', async () => {
    const request = await stored({ status: 'pendingApproval', approvals: [stageOf(1, [dana])] })
    const order = { requestId: request.requestId, personId: dana.id, card: 'approval:1' } as const
    send = async () => {
      await core.provisioning.cancelRequest(actorOf(kim), { requestId: request.requestId })
      // The update that the change ordered runs before the card is recorded.
      await refresh({ ...request, version: 2 }, 'all')
      return { state: 'sent', activityId: 'with buttons' }
    }
    const killed = { ...core.ports.jobs, enqueue: () => Promise.reject(new Error('killed')) }
    const first = core.with({ jobs: killed }).system.deliverCard(outbox, order, 1)
    await expect(first).rejects.toThrow('killed')
    expect(sentTo()).toEqual([['send', dana.id]])
    const before = (await refreshes(request)).length
    await core.provisioning.system.deliverCard(outbox, order, 2)
    const ordered = (await refreshes(request)).slice(before)
    expect(ordered.map(({ payload }) => payload)).toMatchObject([{ version: 2, cards: 'all', personId: dana.id }])
    await core.provisioning.system.refreshCards(outbox, { ...request, version: 2, cards: 'all', personId: dana.id })
    expect(sentTo().slice(1)).toEqual([['update', dana.id]])
    expect(textOf(sentCards[1]?.card ?? {})).toContain('Cancelled')
  })

  it('that were just sent are not updated to the same content', async () => {
    const request = await stored()
    await deliver(request, 'status')
    await shown(request, dana, 'approval:1')
    await refresh(request, 'all')
    expect(sentTo()).toEqual([
      ['send', kim.id],
      ['update', dana.id],
    ])
  })

  it('are not updated if another card has taken their place, also in the middle of an update', async () => {
    const request = await stored()
    await shown(request, kim, 'status')
    const { requestId } = request
    const leaves = () =>
      core.ports.sentCards.forgetActivity({ requestId, personId: kim.id, activityId: `status of ${kim.id}` })
    const conversations = {
      ...core.ports.conversations,
      async ofPerson(...about: Parameters<typeof core.ports.conversations.ofPerson>) {
        await leaves()
        return core.ports.conversations.ofPerson(...about)
      },
    }
    const order = { requestId, version: request.version, cards: 'all' } as const
    await core.with({ conversations }).system.refreshCards(outbox, order)
    await core.provisioning.system.refreshCards(outbox, order)
    expect(sentCards).toEqual([])
    expect(await core.ports.sentCards.find(requestId, kim.id, 'status')).toMatchObject({ state: 'sent' })
  })

  it('are updated again if the request changed while a click was answered', async () => {
    const request = await stored()
    const { requestId } = request
    const answered = (shownVersion: number) =>
      core.provisioning.keepCard(actorOf(kim), {
        ...{ requestId, key: 'status', shown: shownVersion, conversationId: `chat-${kim.id}`, activityId: 'clicked' },
      })
    await answered(1)
    expect(await refreshes(request)).toEqual([])
    await core.provisioning.cancelRequest(actorOf(kim), { requestId })
    const before = (await refreshes(request)).length
    await refresh({ ...request, version: 2 }, 'all')
    await answered(2)
    expect((await refreshes(request)).slice(before)).toEqual([])
    await answered(1)
    const [again] = (await refreshes(request)).slice(before)
    expect(again?.payload).toMatchObject({ version: 2, personId: kim.id })
    sentCards.splice(0)
    await refresh({ ...request, version: 2 }, 'all')
    expect(textOf(sentCards[0]?.card ?? {})).toContain('Cancelled')
  })

  it('settle while the directory alternately reports an address as taken and free', async () => {
    const alias = 'alternating'
    const request = await stored({ alias, status: 'pendingApproval', approvals: [stageOf(1, [dana])] })
    await shown(request, dana, 'approval:1')
    const { requestId, version } = request
    let checks = 0
    let now = new Date()
    const { directory } = core.ports
    const alternating = {
      ...directory,
      // Checks of a suggested address do not count.
      async isSiteAddressFree(asked: string) {
        if (asked !== alias) return true
        checks += 1
        return checks % 2 === 0 || checks > 30
      },
    }
    const { system } = core.with({ directory: alternating, clock: { now: () => now } })
    /** Runs all ordered updates, as the queue does. */
    const run = async () => {
      const { length } = await refreshes(request)
      await system.refreshCards(outbox, { requestId, version, cards: 'all' })
      for (let place = length; ; place += 1) {
        const order = (await refreshes(request))[place]
        if (!order) return
        await system.refreshCards(outbox, { requestId, version: Number(order.payload['version']), cards: 'all' })
      }
    }
    const actions = async () => (await core.ports.audit.timeline(requestId)).map(({ action }) => action)
    await run()
    expect(await actions()).toEqual(['address-taken'])
    expect(checks).toBeLessThan(4)
    expect(textOf(sentCards.at(-1)?.card ?? {})).toContain(`This address is taken: ${alias}`)
    checks = 30
    now = new Date(now.getTime() + 540_000)
    await run()
    expect(await actions()).toEqual(['address-taken'])
    now = new Date(now.getTime() + 120_000)
    await run()
    expect(await actions()).toEqual(['address-taken', 'address-free'])
    expect(textOf(sentCards.at(-1)?.card ?? {})).toContain(`This address is free: ${alias}`)
  })

  it('are deleted from the store and not sent again if the chat rejects them', async () => {
    const request = await stored()
    send = async () => ({ state: 'undeliverable', why: 'ForbiddenOperationException', closed: false })
    await deliver(request, 'status')
    expect(await core.ports.sentCards.find(request.requestId, kim.id, 'status')).toBeUndefined()
    expect(sentTo()).toEqual([['send', kim.id]])
  })

  it('are retried while Graph cannot find the chat, and later wait until the chat is found', async () => {
    const request = await stored()
    let findChat = (): Promise<string> =>
      Promise.reject(new TenantError('graph-503', asWritten('Microsoft Graph is away.'), { retryable: true }))
    const tenant = { ...core.ports.tenant, findChat: () => findChat() }
    const order = { requestId: request.requestId, personId: priya.id, card: 'status' } as const
    const attempt = (number: number) => core.with({ tenant }).system.deliverCard(outbox, order, number)
    for (const number of [1, 2, 3]) await expect(attempt(number)).rejects.toThrow('Graph is away')
    await attempt(4)
    expect(sentTo()).toEqual([])
    findChat = async () => 'chat-of-priya'
    await attempt(1)
    expect(sentTo()).toEqual([['send', priya.id]])
    const { rows } = await core.database.query(`SELECT payload FROM ordered_jobs WHERE name = 'catch-up'`)
    expect(rows).toEqual([{ payload: { v: 1, tenantId, personId: priya.id } }])
  })

  it('are sent at most twice if answers are lost, even with other errors between', async () => {
    const request = await stored()
    const answers = ['unknown', 'refused', 'full', 'unknown']
    send = async () => {
      const answer = answers.shift()
      if (answer === 'refused') throw new TenantError('chat-unavailable', asWritten('Not now.'), { retryable: true })
      if (answer === 'full') throw new PutOff('the chat', 500)
      return { state: 'unknown' }
    }
    await expect(deliver(request, 'status', 1)).rejects.toThrow('lost')
    await expect(deliver(request, 'status', 2)).rejects.toThrow('Not now.')
    await expect(deliver(request, 'status', 3)).rejects.toBeInstanceOf(PutOff)
    await deliver(request, 'status', 3)
    expect(answers).toEqual([])
    await deliver(request, 'status', 4)
    expect(sentCards, 'two that may have arrived, and two that did not').toHaveLength(4)
  })

  it('wait only for a chat that has reached its message limit', async () => {
    const request = await stored()
    await shown(request, kim, 'status')
    for (const one of [dana, omar]) await shown(request, one, 'approval:1')
    update = async (personId) => {
      if (personId === dana.id) throw new PutOff('the chat', 90_000)
      return 'updated'
    }
    const before = (await refreshes(request)).length
    await refresh(request, 'all')
    expect(sentTo()).toHaveLength(3)
    const [later, ...more] = (await refreshes(request)).slice(before)
    expect(more).toEqual([])
    expect(later?.payload).toMatchObject({ requestId: request.requestId, cards: 'all', personId: dana.id })
    expect(later?.startAfter?.getTime()).toBeGreaterThan(Date.now())
    const { requestId, version } = request
    const order = { requestId, version, cards: 'all', personId: dana.id } as const
    await expect(core.provisioning.system.refreshCards(outbox, order)).rejects.toBeInstanceOf(PutOff)
    expect(sentTo().slice(3)).toEqual([['update', dana.id]])
  })

  it('reach their chats even if another chat throws, and the retryable error is thrown', async () => {
    const request = await stored()
    await shown(request, kim, 'status')
    for (const one of [dana, omar]) await shown(request, one, 'approval:1')
    update = async (personId) => {
      if (personId === omar.id) return 'updated'
      throw new TenantError(personId, asWritten('This chat throws.'), { retryable: personId === dana.id })
    }
    await expect(refresh(request, 'all')).rejects.toMatchObject({ code: dana.id, retryable: true })
    expect(sentTo()).toHaveLength(3)
    expect(sentTo()).toContainEqual(['update', omar.id])
  })

  it('for approvers are updated when a fact on them changes without the request, and then no more', async () => {
    const details = { ...requestOf().details, displayName: `Harvest ${randomUUID()}` }
    const others = [await stored({ details, requester: priya }), await stored({ details, requester: priya })]
    const second = await stored({ details })
    await shown(second, dana, 'approval:1')
    const updates = async () => {
      await refresh(second, 'all')
      return sentCards.splice(0).map(({ card }) => /similar/i.test(textOf(card)))
    }
    expect(await updates()).toEqual([true])
    expect(await updates()).toEqual([])
    const before = (await refreshes(second)).length
    let now = new Date('2026-11-28T09:00:01Z')
    const { system } = core.with({ clock: { now: () => now } })
    for (const { requestId, version } of others) {
      await core.provisioning.cancelRequest(actorOf(priya), { requestId })
      await system.refreshCards(outbox, { requestId, version, cards: 'all' })
      now = new Date('2026-11-28T09:00:29Z')
    }
    const [ordered, ...more] = (await refreshes(second)).slice(before)
    expect(more, 'others that end in the same half-minute').toEqual([])
    expect(ordered?.startAfter).toEqual(new Date('2026-11-28T09:00:35Z'))
    expect(await updates()).toEqual([false])
    expect(await updates()).toEqual([])
  })

  describe('while a step waits', () => {
    const waiting = tenantWith({ 'wait-for-site': async () => ({ done: false, retryAfterSeconds: 5 }) })
    const provision = ({ requestId }: Request) =>
      core.with({ tenant: waiting }).system.provision(requestId, { lastAttempt: false, signal })

    it('nothing changes: neither version and attempts nor the cards', async () => {
      const request = await stored({ status: 'provisioning', steps: stepsUntil(1) })
      await provision(request)
      const first = await core.ports.requests.find(request.requestId)
      expect(first?.steps[1]).toMatchObject({ name: 'wait-for-site', status: 'running', attempts: 1 })
      const refreshed = await refreshes(request)
      const audit = await core.ports.audit.timeline(request.requestId)
      for (let run = 0; run < 3; run += 1) await provision(request)
      expect(await core.ports.requests.find(request.requestId)).toEqual(first)
      expect(await refreshes(request)).toEqual(refreshed)
      expect(await core.ports.audit.timeline(request.requestId)).toEqual(audit)
      expect((await core.orders(request.requestId)).filter(({ name }) => name === 'provision').length).toBeGreaterThan(
        1,
      )
    })

    it('a step updates only the requester’s card, and not if a later update is ordered', async () => {
      const approvals = [stageOf(1, [dana, omar], { decisions: [approvedBy(dana, '09:31')] })]
      const request = await stored({ status: 'provisioning', steps: stepsUntil(0), approvals })
      await shown(request, kim, 'status')
      for (const one of [dana, omar]) await shown(request, one, 'approval:1')
      await provision(request)
      const orders = await refreshes(request)
      expect(orders.map(({ payload }) => payload['cards'])).toEqual(['status', 'status', 'status'])
      const [first, , latest] = orders.map(({ payload }) => ({ ...request, version: Number(payload['version']) }))
      await refresh(first ?? request, 'status')
      expect(sentCards).toEqual([])
      await refresh(latest ?? request, 'status')
      expect(sentTo()).toEqual([['update', kim.id]])
    })
  })

  describe('after a process stopped while sending the follow-up', () => {
    const announced = async () => {
      const { ready } = requests
      const request = await stored({ ...ready, requestId: randomUUID(), tenantId, number: number + 1000 })
      await shown(request, kim, 'outcome:succeeded', 'sending')
      await shown(request, kim, 'status')
      return request
    }
    const stateOf = async ({ requestId }: Request, key: CardKey) =>
      (await core.ports.sentCards.find(requestId, kim.id, key))?.state

    it('show the link on the status card, and nothing is sent again', async () => {
      const request = await announced()
      await deliver(request, 'outcome:succeeded', 2)
      expect(sentTo()).toEqual([['update', kim.id]])
      expect(textOf(sentCards[0]?.card ?? {})).toContain('Ready')
      expect(JSON.stringify(sentCards[0]?.card)).toContain(requests.ready.resource?.url)
      expect(await stateOf(request, 'outcome:succeeded')).toBe('unknown')
      await deliver(request, 'outcome:succeeded', 3)
      expect(sentCards).toHaveLength(1)
    })

    it('include the follow-up once more if the status card was deleted', async () => {
      const request = await announced()
      update = async () => 'gone'
      await deliver(request, 'outcome:succeeded', 2)
      expect(sentTo()).toEqual([
        ['update', kim.id],
        ['send', kim.id],
      ])
      expect(textOf(sentCards[1]?.card ?? {})).toContain('Your site is ready')
      expect([await stateOf(request, 'outcome:succeeded'), await stateOf(request, 'status')]).toEqual([
        'sent',
        undefined,
      ])
      await deliver(request, 'outcome:succeeded', 3)
      expect(sentCards).toHaveLength(2)
    })
  })
})
