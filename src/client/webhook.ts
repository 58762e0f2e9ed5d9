import { Webhook } from 'standardwebhooks'
import { isObject } from './call.ts'
import type { ProvisioningEvent } from './types.ts'

/** Headers of Node, frameworks or fetch. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** Thrown for a message that may not come from the service: answer 401 (400 for `body`) and ignore it. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly kind = 'webhook'
  readonly reason: 'headers' | 'timestamp' | 'signature' | 'body'
  constructor(reason: WebhookError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * The maximum age of a signature in seconds (Standard Webhooks), against repeats of old messages.
 */
const toleranceSeconds = 5 * 60

/**
 * Verifies that a webhook comes from the service, and returns its content (Standard Webhooks 1.0.0). `body` is the raw
 * body, byte for byte, not the parsed JSON of a framework. `secret` is the template's (`whsec_…`); with several, any of
 * them may have signed.
 *
 * The same message may come more than once, under the same `id`. Later versions may send further types: ignore them.
 * Throws WebhookError.
 */
export function verifyProvisioningWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
): ProvisioningEvent {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signature = headerOf(headers, 'webhook-signature')
  if (id === '' || timestamp === '' || signature === '')
    throw new WebhookError(
      'headers',
      'The headers webhook-id, webhook-timestamp and webhook-signature are required, each once.',
    )
  if (!isRecent(timestamp))
    throw new WebhookError('timestamp', 'The signature is more than five minutes old, or from the future.')
  const text = textIn(body)
  const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  const isGenuine = keysOf(secret).some((key) => verifies(key, text, signed))
  if (text === undefined || !isGenuine)
    throw new WebhookError('signature', 'The webhook is not signed with this secret.')
  return eventIn(text, id)
}

/** One value, or '' if the header is missing or repeated. */
function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? ''
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value].flat() : []))
  const [only = ''] = values
  return values.length === 1 ? only : ''
}

function isRecent(timestamp: string): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds
}

/** undefined: no UTF-8, so the service has not signed it. */
function textIn(body: string | Uint8Array): string | undefined {
  if (typeof body === 'string') return body
  if (!(body instanceof Uint8Array))
    throw new TypeError('Pass the raw body as text or bytes: parsed JSON does not have the signed bytes.')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return undefined
  }
}

function keysOf(secret: string | readonly string[]): Webhook[] {
  const secrets = [secret].flat()
  if (secrets.length === 0) throw new TypeError('A secret is required: whsec_ followed by base64.')
  return secrets.map((one) => {
    try {
      return new Webhook(one)
    } catch {
      // The library's error may quote the secret.
      throw new TypeError('The secret of a webhook must be whsec_ followed by base64.')
    }
  })
}

/** Compares in constant time. */
function verifies(key: Webhook, text: string | undefined, signed: Record<string, string>): boolean {
  if (text === undefined) return false
  try {
    key.verify(text, signed, { jsonParse: false })
    return true
  } catch {
    return false
  }
}

function eventIn(text: string, id: string): ProvisioningEvent {
  const malformed = () => new WebhookError('body', 'The webhook is signed, but is not a message of this service.')
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    throw malformed()
  }
  if (!isObject(message) || !isObject(message['data'])) throw malformed()
  const texts = ['type', 'timestamp', 'requestId', 'tenantId'].map((field) => message[field])
  if (texts.some((value) => typeof value !== 'string')) throw malformed()
  // The signature is valid, so the service promises its form.
  return { ...(message as unknown as ProvisioningEvent), id }
}
