import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { anyWebhookBody, faultsOf, refuseFields, webhookBody } from '../../../core/index.ts'
import { receiveWebhookExamples } from '../../examples/webhooks.ts'
import { definePublicRoute, signedBody } from '../../server/define-route.ts'
import { parseJson } from '../../server/parse-json.ts'
import { HttpError } from '../../server/problem.ts'

const provisioned = z.object({ type: z.enum(['site.provisioned', 'mailbox.provisioned']) })

/** Our own webhooks, which the bot listens to like any other subscriber. Types that it does not know are fine. */
export const receiveWebhook = definePublicRoute({
  id: 'receiveWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/webhooks/provisioning',
  summary: 'Receive a signed provisioning webhook',
  permission: 'public',
  audience: null,
  credential: 'signature',
  headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  body: signedBody(anyWebhookBody),
  answers: { 204: { says: 'Taken. Types that are not known are taken too.', body: null } },
  refusals: ['invalid-signature', 'rate-limited', 'unavailable'],
  examples: receiveWebhookExamples,
  anyAccept: true,
  async handle({ services, headers }, { body }) {
    verify(services.webhookSecret, body, headers)
    const message = parseJson(body, { depth: 10, storableText: true })
    if (!provisioned.safeParse(message).success) return { status: 204 }
    const parsed = webhookBody.safeParse(message)
    if (!parsed.success) return refuseFields(faultsOf(parsed.error, message))
    const { requestId, data } = parsed.data
    await services.provisioning.system.completeByWebhook(requestId, data.url ?? '')
    return { status: 204 }
  },
})

/** Standard Webhooks 1.0.0: HMAC-SHA256 over id, timestamp and the bytes as sent; five minutes of tolerance. */
function verify(secret: string, body: Buffer, headers: IncomingHttpHeaders): void {
  const one = (name: string): string => {
    const value = headers[name]
    return typeof value === 'string' ? value : ''
  }
  const signature = {
    'webhook-id': one('webhook-id'),
    'webhook-timestamp': one('webhook-timestamp'),
    'webhook-signature': one('webhook-signature'),
  }
  try {
    new Webhook(secret).verify(body, signature, { jsonParse: false })
  } catch (cause) {
    throw new HttpError('invalid-signature', 'The webhook is not signed by us, or too long ago.', {
      headers: { 'WWW-Authenticate': 'Webhook realm="quartermaster"' },
      cause,
    })
  }
}
