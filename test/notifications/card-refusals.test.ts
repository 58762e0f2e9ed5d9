import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { GuardedAdapter } from '../../src/bot/channel/adapter.ts'
import { type CardSender, createCardSender } from '../../src/bot/channel/card-sender.ts'
import { createPacedChats } from '../../src/bot/channel/chat-pace.ts'
import { asWritten, type Conversation, ProvisioningError, PutOff } from '../../src/core/index.ts'
import { chatPaceInMemory } from '../../src/store/notifications/chats.ts'
import { kim, requests, tenantId, viewerOf } from '../support/card-requests.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { cards } from '../support/english-cards.ts'

describe('a chat that rejects a card', () => {
  const logged: object[] = []
  const log = { info: () => undefined, error: () => undefined, warn: (facts: object) => void logged.push(facts) }
  /** Each test starts long after the cards of the test before. */
  let now = 0
  let connector: Connector
  const serviceUrl = async () => connector.url
  let sender: CardSender
  let conversation: Conversation
  const card = cards.requestStatus(requests.waiting, viewerOf(kim))

  beforeAll(async () => {
    connector = await startConnector()
    const reference = {
      ...{ channelId: 'msteams', serviceUrl: connector.url, conversation: { id: 'chat', tenantId } },
      ...{ bot: { id: '28:bot', name: 'Quartermaster' }, user: { id: `29:${kim.id}`, name: kim.displayName } },
    }
    conversation = { tenantId, personId: kim.id, conversationId: 'chat', reference, locale: 'en-GB', timeZone: 'UTC' }
    const adapter = new GuardedAdapter(undefined)
    const chats = createPacedChats(
      chatPaceInMemory(() => now),
      log,
    )
    sender = createCardSender({ adapter, allowLoopback: true, serviceUrl, assertOutside: () => undefined, chats, log })
  })
  afterAll(() => connector.close())
  afterEach(() => {
    connector.healthy()
    connector.sent.splice(0)
    logged.splice(0)
    now += 7_200_000
  })
  const calls = {
    POST: () => sender.send(conversation, card, 'a card'),
    PUT: () => sender.update(conversation, 'a-card', card, 'a card'),
  }

  it.each([
    ['POST', 401],
    ['POST', 412],
    ['POST', 502],
    ['POST', 503],
    ['POST', 504],
    ['PUT', 401],
    ['PUT', 412],
    ['PUT', 502],
    ['PUT', 503],
    ['PUT', 504],
  ] as const)('%s, %i: gets the card again after its Retry-After time', async (method, status) => {
    connector.fail({ method, how: status, count: 1, headers: { 'retry-after': '60' } })
    const error = await calls[method]().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ retryable: true })
    const { retryAfterSeconds } = error as { retryAfterSeconds: number }
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(60)
    expect(retryAfterSeconds, 'with some spread').toBeLessThanOrEqual(72)
    expect(connector.sent).toEqual([])
    expect(await calls[method]()).toEqual(method === 'PUT' ? 'updated' : expect.objectContaining({ state: 'sent' }))
  })

  it('gets the connector’s default address if nobody has written in it', async () => {
    const found = { ...conversation, conversationId: '19:bot_kim@unq.gbl.spaces', reference: null }
    expect(await sender.send(found, card, 'a card')).toMatchObject({ state: 'sent' })
    expect(connector.sent).toMatchObject([{ conversationId: found.conversationId }])
    expect(connector.calls.at(-1)?.activity).toMatchObject({
      conversation: { id: found.conversationId, conversationType: 'personal', tenantId },
      recipient: { aadObjectId: kim.id },
    })
  })

  it('429: gets no other card before its Retry-After time', async () => {
    connector.fail({ method: 'POST', how: 429, count: 1, headers: { 'retry-after': '30' } })
    await expect(calls.POST()).rejects.toMatchObject({ retryable: true })
    now += 29_999
    for (const call of [calls.POST, calls.PUT]) await expect(call()).rejects.toBeInstanceOf(PutOff)
    now += 6002
    expect(await calls.POST()).toMatchObject({ state: 'sent' })
  })

  it('429 with a date or without a time: gets no card until the date, or for two seconds', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString()
    connector.fail({ method: 'POST', how: 429, count: 1, headers: { 'retry-after': date } })
    await expect(calls.POST()).rejects.toMatchObject({ retryAfterSeconds: expect.any(Number) })
    now += 50_000
    await expect(calls.POST()).rejects.toBeInstanceOf(PutOff)
    now += 60_000
    connector.fail({ method: 'POST', how: 429, count: 1 })
    await expect(calls.POST()).rejects.toMatchObject({ retryable: true, retryAfterSeconds: undefined })
    now += 1999
    await expect(calls.POST()).rejects.toBeInstanceOf(PutOff)
    now += 2002
    expect(await calls.POST()).toMatchObject({ state: 'sent' })
  })

  it.each([400, 413])('POST, %i: does not get this card again', async (status) => {
    connector.fail({ method: 'POST', how: status, count: 1 })
    await expect(calls.POST()).rejects.toMatchObject({ retryable: false })
  })

  it.each([403, 404])(
    'POST, %i without an error code of the connector: gets the card again, because a proxy may have answered',
    async (status) => {
      connector.fail({ method: 'POST', how: status, count: 1 })
      await expect(calls.POST()).rejects.toMatchObject({ retryable: true })
      expect(await calls.POST()).toMatchObject({ state: 'sent' })
    },
  )

  it('gets the card again if no token was available', async () => {
    const nowhere = new GuardedAdapter({ appId: tenantId, password: 'x', tenantId: 'no tenant', type: 'SingleTenant' })
    const chats = createPacedChats(
      chatPaceInMemory(() => now),
      log,
    )
    const parts = { adapter: nowhere, allowLoopback: true, serviceUrl, assertOutside: () => undefined, chats, log }
    await expect(createCardSender(parts).send(conversation, card, 'a card')).rejects.toMatchObject({ retryable: true })
    expect(connector.sent).toEqual([])
  })

  it('gets the card again if the store did not answer about the limit of the chat', async () => {
    const away = new ProvisioningError('unavailable', asWritten('The store does not answer.'))
    const store = {
      change: () => Promise.reject(away),
      count: () => Promise.reject(away),
      forgetOld: () => Promise.resolve(),
    }
    const adapter = new GuardedAdapter(undefined)
    const chats = createPacedChats(store, log)
    const parts = { adapter, allowLoopback: true, serviceUrl, assertOutside: () => undefined, chats, log }
    await expect(createCardSender(parts).send(conversation, card, 'a card')).rejects.toBe(away)
  })

  it.each([
    [403, 'BotNotInConversationRoster', true],
    [403, 'ConversationBlockedByUser', true],
    [403, 'BotDisabledByAdmin', true],
    [403, 'ForbiddenOperationException', false],
    [404, 'ConversationNotFound', true],
  ] as const)('POST, %i %s: does not get the card again, and the log records it', async (status, code, closed) => {
    const fault = connector.fail({ method: 'POST', how: status, code, count: 2 })
    expect(await calls.POST()).toEqual({ state: 'undeliverable', why: code, closed })
    expect(fault.count, 'one call').toBe(1)
    expect(logged).toEqual([{ status, why: code, closed, personId: kim.id }])
  })

  it('PUT: is closed, or only this card is gone', async () => {
    connector.fail({ method: 'PUT', how: 403, code: 'ConversationBlockedByUser', count: 1 })
    expect(await calls.PUT()).toMatchObject({ state: 'undeliverable', closed: true })
    connector.fail({ method: 'PUT', how: 404, code: 'ConversationNotFound', count: 1 })
    expect(await calls.PUT()).toMatchObject({ state: 'undeliverable', closed: true })
    connector.fail({ method: 'PUT', how: 404, code: 'ActivityNotFoundInConversation', count: 1 })
    expect(await calls.PUT()).toBe('gone')
  })
})
