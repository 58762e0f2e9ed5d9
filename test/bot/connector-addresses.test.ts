import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { GuardedAdapter } from '../../src/bot/channel/adapter.ts'
import { createCardSender } from '../../src/bot/channel/card-sender.ts'
import { connectors, isConnector } from '../../src/bot/channel/connectors.ts'
import { contosoTenant } from '../support/teams-user.ts'
import { withTrap } from '../support/trap.ts'

describe('a service URL', () => {
  const trap = withTrap()

  it.each([
    'https://smba.trafficmanager.net/emea/',
    'https://smba.trafficmanager.net:443/',
    'https://webchat.botframework.com/',
    'https://SMBA.trafficmanager.net/teams/',
  ])('is the connector’s: %s', (url) => expect(isConnector(url, false)).toBe(true))

  it.each([
    'http://smba.trafficmanager.net/',
    'https://smba.trafficmanager.net.evil.example/',
    'https://evil.example/smba.trafficmanager.net',
    'https://evil-smba.trafficmanager.net/',
    'https://smba.trafficmanager.net@evil.example/',
    'https://user:pass@smba.trafficmanager.net/',
    'https://smba.trafficmanager.net:8443/',
    'https://smba.trafficmanager.net./',
    'https://botframework.com/',
    'https://notbotframework.com/',
    'https://evil.example#.botframework.com',
    'https://evil.example\\.botframework.com/',
    'https://ｓmba.trafficmanager.net.evil.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'http://localhost/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '//smba.trafficmanager.net/',
    '',
  ])('is not the connector’s: %s', (url) => expect(isConnector(url, false)).toBe(false))

  it('is checked again before a card is sent, so that an altered stored chat never gets one', async () => {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const sender = createCardSender({
      adapter: new GuardedAdapter(undefined),
      allowLoopback: false,
      serviceUrl: async () => connectors.public.serviceUrl,
      assertOutside: () => undefined,
      chats: { write: async (_, __, work) => work(), noteAnswer: () => undefined },
      log,
    })
    const chat = (serviceUrl: string) => ({
      ...{ tenantId: contosoTenant, personId: randomUUID(), conversationId: 'a', locale: 'en', timeZone: 'UTC' },
      reference: { serviceUrl, channelId: 'msteams', conversation: { id: 'a' }, bot: { id: 'b' }, user: { id: 'c' } },
    })
    const refusal = { code: 'foreign-service-url', retryable: false }
    for (const url of [
      trap.url,
      `${trap.url}/.botframework.com`,
      `https://smba.trafficmanager.net@${trap.url.slice(7)}`,
    ]) {
      await expect(sender.send(chat(url), { type: 'AdaptiveCard' }, 'x')).rejects.toMatchObject(refusal)
      await expect(sender.update(chat(url), 'activity', { type: 'AdaptiveCard' }, 'x')).rejects.toMatchObject(refusal)
    }
    expect(trap.hits).toEqual([])
  })
})
