import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { GuardedAdapter } from '../src/bot/adapter.ts'
import { type CardSender, createCardSender } from '../src/bot/card-sender.ts'
import { cards } from '../src/cards/index.ts'
import type { Conversation } from '../src/core/index.ts'
import { kim, requests, tenantId, viewerOf } from './support/card-requests.ts'
import { type Connector, startConnector } from './support/connector.ts'

describe('a chat that does not take a card', () => {
  const logged: object[] = []
  const log = { info: () => undefined, error: () => undefined, warn: (facts: object) => void logged.push(facts) }
  let connector: Connector
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
    sender = createCardSender({ adapter, allowLoopback: true, assertOutside: () => undefined, log })
  })
  afterAll(() => connector.close())
  afterEach(() => {
    connector.healthy()
    connector.sent.splice(0)
    logged.splice(0)
  })
  const calls = {
    POST: () => sender.send(conversation, card),
    PUT: () => sender.update(conversation, 'a-card', card),
  }

  it.each([
    ['POST', 401, 60],
    ['POST', 503, 7],
    ['PUT', 401, 60],
    ['PUT', 503, 7],
  ] as const)('%s, %i: is tried again, not before the time that it asks for', async (method, status, seconds) => {
    const headers = { 'retry-after': String(seconds) }
    connector.fail({ method, how: status, count: 1, headers })
    await expect(calls[method]()).rejects.toMatchObject({ retryable: true, retryAfterSeconds: seconds })
    expect(connector.sent).toEqual([])
    expect(await calls[method]()).toEqual(method === 'PUT' ? 'updated' : expect.objectContaining({ state: 'sent' }))
  })

  it.each([403, 404])('POST, %i: is not tried again, and the log is told', async (status) => {
    const fault = connector.fail({ method: 'POST', how: status, count: 2 })
    expect(await calls.POST()).toEqual({ state: 'undeliverable' })
    expect(fault.count, 'one call').toBe(1)
    expect(logged).toEqual([{ status, personId: kim.id }])
  })

  it.each([403, 404])('PUT, %i: there is no such card any more', async (status) => {
    connector.fail({ method: 'PUT', how: status, count: 1 })
    expect(await calls.PUT()).toBe('gone')
  })
})
