import { describe, expect, it } from 'vitest'
import { activityOf } from '../support/bot-activities.ts'
import { botAppId, makeConnectorKey } from '../support/connector-keys.ts'
import { refusals, withGuardedBot } from '../support/guarded-bot.ts'
import { contosoTenant } from '../support/teams-user.ts'

const stranger = '99999999-9999-4999-8999-999999999999'

describe('the guard of the bot', () => {
  const { keys, service, click, post, postWith, bearer, rows, refused } = withGuardedBot()

  it('admits an activity with a token that the connector signed', async () => {
    const answer = await postWith(keys.token())
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toMatchObject({ statusCode: 200, type: 'application/vnd.microsoft.card.adaptive' })
  })

  it('tolerates a difference of five minutes from the connector’s clock', async () => {
    expect((await postWith(keys.token({ exp: keys.now() - 240 }))).status).toBe(200)
    expect((await postWith(keys.token({ nbf: keys.now() + 240 }))).status).toBe(200)
  })

  describe('refuses with a fixed message, and runs and writes nothing, for', () => {
    it.each<[string, Record<string, string>]>([
      ['no token', {}],
      ['an empty token', { authorization: 'Bearer ' }],
      ['another scheme', { authorization: `Basic ${Buffer.from('bot:secret').toString('base64')}` }],
      ['garbage', { authorization: 'Bearer a.b.c' }],
      ['a hundred thousand letters', { authorization: `Bearer ${'a'.repeat(5000)}.${'b'.repeat(5000)}.c` }],
    ])('%s', (_, headers) => refused(401, refusals[401], () => post(click(), headers)))

    it('another channel, even with a key for that channel', () =>
      refused(403, 'This bot speaks on Teams only.', () =>
        postWith(keys.token({}, { key: keys.keys.webchat }), click({ channelId: 'webchat' })),
      ))

    it.each<[string, Record<string, unknown>]>([
      ['of the conversation', { conversation: { id: 'a', tenantId: stranger }, channelData: {} }],
      ['of the channel data', { channelData: { tenant: { id: stranger } } }],
      ['of one of the two', { conversation: { id: 'a', tenantId: stranger, conversationType: 'personal' } }],
      ['no organisation', { conversation: { id: 'a' }, channelData: undefined }],
    ])('another organisation: %s', (_, change) =>
      refused(403, 'This bot serves another organisation.', () => postWith(keys.token(), click(change))),
    )

    it.each([
      'https://evil.example/',
      'https://smba.trafficmanager.net.evil.example/',
      'http://smba.trafficmanager.net/emea/',
      'http://127.0.0.1:9/',
    ])('a signed serviceUrl that is not the connector’s: %s', (serviceUrl) =>
      refused(403, 'This bot answers to the Bot connector only.', () =>
        postWith(keys.token({ serviceurl: serviceUrl }), click({ serviceUrl })),
      ),
    )
  })

  describe('closes the gaps of the SDK', () => {
    it('F1: refuses a token that an app or a person of any tenant got for the bot', async () => {
      for (const tenantId of [contosoTenant, stranger])
        for (const iss of [
          `https://login.microsoftonline.com/${tenantId}/v2.0`,
          `https://sts.windows.net/${tenantId}/`,
        ])
          for (const app of [
            { azp: botAppId, ver: '2.0' },
            { appid: botAppId, ver: '1.0' },
          ])
            await refused(401, refusals[401], () => postWith(keys.token({ iss, tid: tenantId, ...app })))
    })

    it('F3: runs no turn unless token and activity both have a serviceUrl', async () => {
      await refused(401, refusals[401], () => postWith(keys.token({ serviceurl: undefined })))
      await refused(401, refusals[401], () => postWith(keys.token({ serviceurl: '' })))
      for (const serviceUrl of ['', undefined, null, 5, 'no address'])
        await refused(400, refusals[400], () => postWith(keys.token(), click({ serviceUrl })))
    })

    it('F4: answers 400 with our message where the SDK answers 500', () =>
      refused(400, refusals[400], () => postWith(keys.token(), click({ type: undefined }))))

    it('F5: requires a token if the bot has an app id, also from the same machine', () =>
      refused(401, refusals[401], () => post(activityOf('sam', { type: 'message', text: 'help' }))))

    it('F6: refuses a body over 256 KiB before it is read, with or without a content length', async () => {
      const before = await rows()
      const body = JSON.stringify(click({ text: 'a'.repeat(256 * 1024) }))
      const announced = await postWith(keys.token(), body)
      expect(announced.status).toBe(413)
      const unannounced = await fetch(`${service.app.url}/api/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(await keys.token()) },
        body: new Blob([body]).stream(),
        duplex: 'half',
      })
      expect(unannounced.status).toBe(413)
      expect(await rows()).toEqual(before)
    })
  })

  it('sends nothing after any of these refusals', () => {
    expect(service.connector.sent).toEqual([])
    expect(service.connector.unexpected).toEqual([])
  })
})

describe('the guard of a bot without the connector’s keys', () => {
  const { keys, postWith, refused } = withGuardedBot()
  const message = 'The token cannot be checked just now.'

  it('answers 503 with Retry-After, so that Teams does not consider its token invalid', async () => {
    keys.publish(false)
    await refused(503, message, async () => {
      const answer = await postWith(keys.token())
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
      return answer
    })
    await refused(503, message, async () => postWith(keys.token({}, { key: await makeConnectorKey(['msteams']) })))
    await refused(401, refusals[401], () => postWith('not.a-token.'))
    keys.publish(true)
    await expect.poll(async () => (await postWith(keys.token())).status, { timeout: 60_000 }).toBe(200)
  })

  it('keeps known keys when the connector stops answering, and refuses unknown keys', async () => {
    keys.publish(false)
    expect((await postWith(keys.token())).status).toBe(200)
    await refused(401, refusals[401], async () =>
      postWith(keys.token({}, { key: await makeConnectorKey(['msteams']) })),
    )
  })
})
