import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { asWritten, ProvisioningError } from '../../src/core/index.ts'
import { coreWith, startIssuer, startRest, tenantId, webhookSecret } from '../support/rest.ts'

const requestId = 'aaaaaaaa-0000-4000-8000-000000000001'
const url = 'https://contoso.sharepoint.com/sites/apollo'
const event = {
  type: 'site.provisioned',
  timestamp: '2026-03-02T09:00:00.000Z',
  requestId,
  tenantId,
  data: { reference: 'REQ-1042', kind: 'teamSite', status: 'succeeded', displayName: 'Apollo', url },
}

function signed(body: string, { secret = webhookSecret, at = new Date(), id = 'msg_1' } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
}

async function receiver(completeByWebhook?: (requestId: string, url: string) => Promise<void>) {
  const completed: unknown[] = []
  const complete = async (...call: [string, string]) => {
    completed.push(call)
    await completeByWebhook?.(...call)
  }
  const provisioning = coreWith({ system: { completeByWebhook: complete } })
  const rest = await startRest(await startIssuer(), { core: provisioning })
  const post = (body: string, headers: Record<string, string> = signed(body)) =>
    rest.call('POST', '/webhooks/provisioning', { body, headers: { authorization: '', ...headers } })
  return { completed, post }
}

describe('a provisioning webhook', () => {
  test('completes the request with its URL if it is signed', async () => {
    const { completed, post } = await receiver()
    const answer = await post(JSON.stringify(event))
    expect([answer.status, answer.text, completed]).toEqual([204, '', [[requestId, url]]])
  })

  test('is verified over the sent bytes, not over the parsed JSON', async () => {
    const { completed, post } = await receiver()
    const spaced = JSON.stringify(event, undefined, 2)
    expect((await post(spaced)).status).toBe(204)
    expect((await post(spaced, signed(JSON.stringify(event)))).status).toBe(401)
    expect(completed.length).toBe(1)
  })

  test('is accepted with one valid signature among several, as during a change of secrets', async () => {
    const { post } = await receiver()
    const body = JSON.stringify(event)
    const good = signed(body)
    const old = signed(body, { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })
    const both = `${old['webhook-signature']} v1a,xx ${good['webhook-signature']}`
    expect((await post(body, { ...good, 'webhook-signature': both })).status).toBe(204)
  })

  const body = JSON.stringify(event)
  const good = signed(body)
  const minutes = (count: number) => new Date(Date.now() + count * 60_000)
  test.each<[string, Record<string, string>]>([
    ['without headers', {}],
    ['without a signature', { ...good, 'webhook-signature': '' }],
    ['without an id', { ...good, 'webhook-id': '' }],
    ['without a time', { ...good, 'webhook-timestamp': '' }],
    ['with another id', { ...good, 'webhook-id': 'msg_2' }],
    ['with another time', { ...good, 'webhook-timestamp': String(Number(good['webhook-timestamp']) - 1) }],
    ['with a time that is none', { ...good, 'webhook-timestamp': 'now' }],
    ['signed six minutes ago', signed(body, { at: minutes(-6) })],
    ['signed six minutes from now', signed(body, { at: minutes(6) })],
    ['signed with another secret', signed(body, { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })],
    ['signed for another body', signed('{}')],
    ['with a version alone', { ...good, 'webhook-signature': 'v1' }],
    ['of another version', { ...good, 'webhook-signature': good['webhook-signature'].replace('v1,', 'v2,') }],
    ['cut off', { ...good, 'webhook-signature': good['webhook-signature'].slice(0, -4) }],
  ])('with %s gets 401 and changes nothing', async (_, headers) => {
    const { completed, post } = await receiver()
    const answer = await post(body, headers)
    expect([answer.status, answer.body.code, completed]).toEqual([401, 'invalid-signature', []])
    expect(answer.headers.has('www-authenticate')).toBe(true)
  })

  test('completes the request of a mailbox without a URL', async () => {
    const { completed, post } = await receiver()
    const data = { reference: 'REQ-1043', kind: 'sharedMailbox', status: 'succeeded', displayName: 'Info' }
    const mailbox = { address: 'info@contoso.example', mailboxId: 'm' }
    const body = { ...event, type: 'mailbox.provisioned', data: { ...data, ...mailbox } }
    expect([(await post(JSON.stringify(body))).status, completed]).toEqual([204, [[requestId, '']]])
  })

  test.each([['request.failed'], ['request.cancelled'], ['something.new']])(
    'of type %s is accepted and ignored',
    async (type) => {
      const { completed, post } = await receiver()
      expect([(await post(JSON.stringify({ ...event, type }))).status, completed]).toEqual([204, []])
    },
  )

  test('is refused if it is signed but invalid', async () => {
    const { completed, post } = await receiver()
    expect((await post('{')).status).toBe(400)
    expect((await post('')).status).toBe(400)
    const answer = await post(JSON.stringify({ ...event, requestId: 'REQ-1042' }))
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '#/requestId'])
    expect(completed).toEqual([])
  })

  test('must be delivered again if the core is not available', async () => {
    const { post } = await receiver(async () => {
      throw new ProvisioningError('unavailable', asWritten('Not now.'))
    })
    const answer = await post(body, signed(body))
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true])
  })
})
