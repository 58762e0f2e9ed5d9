import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { verifyProvisioningWebhook } from '../../src/client/index.ts'
import { webhookBody } from '../../src/core/index.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const secret = newSecret()
const id = 'c9a1d7b4-2f3e-4a5b-8c6d-7e8f9a0b1c2d'
const message = {
  ...{ type: 'site.provisioned', timestamp: '2026-11-20T09:00:00.000Z' },
  ...{ requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11', tenantId: '0c0ffee0-1111-4111-8111-000000000365' },
  data: {
    reference: 'REQ-1042',
    kind: 'teamSite',
    status: 'succeeded',
    displayName: 'Zoë’s site',
    url: 'https://x.example/',
  },
}
const body = JSON.stringify(message)
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

function signed(text = body, { by = [secret], at = new Date() } = {}): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': by.map((one) => new Webhook(one).sign(id, at, text)).join(' '),
  }
}
const reasonOf = (...parameters: Parameters<typeof verifyProvisioningWebhook>): unknown => {
  try {
    return verifyProvisioningWebhook(...parameters)
  } catch (error) {
    return Object(error).reason ?? error
  }
}

describe('a webhook is verified', () => {
  test('as text and as bytes, with headers of Node and of fetch, in any case', () => {
    const event = verifyProvisioningWebhook(signed(), body, secret)
    expect(event).toEqual({ ...message, id })
    expect(webhookBody.parse(event)).toEqual(message)
    expect(verifyProvisioningWebhook(new Headers(signed()), Buffer.from(body), secret)).toEqual(event)
    expect(verifyProvisioningWebhook(signed(), new TextEncoder().encode(body), secret)).toEqual(event)
    const shouted = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]))
    expect(verifyProvisioningWebhook(shouted, body, secret)).toEqual(event)
  })

  test('during a change of the secret: one of several signatures, one of several secrets', () => {
    const next = newSecret()
    expect(reasonOf(signed(body, { by: [next, secret] }), body, secret)).toMatchObject({ id })
    expect(reasonOf(signed(body, { by: [next] }), body, [secret, next])).toMatchObject({ id })
    expect(reasonOf(signed(body, { by: [newSecret()] }), body, [secret, next])).toBe('signature')
  })

  test('also with an unknown type', () => {
    const text = JSON.stringify({ ...message, type: 'site.archived' })
    expect(reasonOf(signed(text), text, secret)).toMatchObject({ type: 'site.archived' })
  })

  test('within five minutes of its signature', () => {
    expect(reasonOf(signed(body, { at: minutesAgo(4) }), body, secret)).toMatchObject({ id })
    expect(reasonOf(signed(body, { at: minutesAgo(6) }), body, secret)).toBe('timestamp')
    expect(reasonOf(signed(body, { at: minutesAgo(-6) }), body, secret)).toBe('timestamp')
  })

  test.each([
    ['another body', signed(), `${body} `, 'signature'],
    ['bytes that are not UTF-8', signed(), Buffer.concat([Buffer.from(body), Buffer.from([0xff])]), 'signature'],
    ['another id', { ...signed(), 'webhook-id': 'x' }, body, 'signature'],
    [
      'an unsigned time',
      { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 9) },
      body,
      'signature',
    ],
    ['no signature', { ...signed(), 'webhook-signature': undefined }, body, 'headers'],
    ['an empty signature', { ...signed(), 'webhook-signature': '' }, body, 'headers'],
    ['a signature twice', { ...signed(), 'Webhook-Signature': 'v1,x' }, body, 'headers'],
    ['half a signature', { ...signed(), 'webhook-signature': 'v1' }, body, 'signature'],
    ['a signature of another version', { ...signed(), 'webhook-signature': 'v2,abc' }, body, 'signature'],
    ['an invalid time', { ...signed(), 'webhook-timestamp': 'NaN' }, body, 'timestamp'],
    [
      'a time with extra characters',
      { ...signed(), 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}x` },
      body,
      'timestamp',
    ],
    ['a signed text that is not JSON', signed('hello'), 'hello', 'body'],
    ['a signed message of another form', signed('{"type":"x"}'), '{"type":"x"}', 'body'],
  ])('but not %s', (_, headers, body, reason) => {
    expect(reasonOf(headers, body, secret)).toBe(reason)
  })

  test('and parsed JSON or an invalid secret throws a TypeError that does not quote the secret', () => {
    expect(() => verifyProvisioningWebhook(signed(), message as unknown as string, secret)).toThrow('Pass the raw body')
    const bad = 'whsec_this is not base64!'
    expect(() => verifyProvisioningWebhook(signed(), body, bad)).toThrow(
      /^The secret of a webhook must be whsec_ followed by base64\.$/,
    )
    expect(() => verifyProvisioningWebhook(signed(), body, [])).toThrow('A secret is required')
  })
})
