/** Webhooks: receiving our own, deliveries to receivers, and a test of a receiver. */
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import {
  anyWebhookBody,
  delivery,
  deliveryDetails,
  deliveryView,
  faultsOf,
  refuseFields,
  showDelivery,
  showDeliveryDetails,
  webhookBody,
  webhookTestResult,
} from '../../../core/index.ts'
import { parseJson } from '../../server/bodies.ts'
import { definePublicRoute, defineRoute, signedBody } from '../../server/define-route.ts'
import { HttpError } from '../../server/problem.ts'
import { listOf, paging } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const provisioned = z.object({ type: z.enum(['site.provisioned', 'mailbox.provisioned']) })

/** Receives our own webhooks, which the bot subscribes to like any other receiver. Unknown types are accepted. */
const receiveWebhook = definePublicRoute({
  id: 'receiveWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/webhooks/provisioning',
  summary: 'Receive a signed provisioning webhook',
  description:
    'Accepts the service’s own provisioning webhook, which completes the request at once. The body is signed by Standard Webhooks.',
  permission: 'public',
  audience: null,
  credential: 'signature',
  headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  body: signedBody(anyWebhookBody),
  answers: { 204: { description: 'Accepted. Unknown types are also accepted.', body: null } },
  refusals: ['invalid-signature', 'rate-limited', 'unavailable'],
  examples: examples.receiveWebhook,
  anyAccept: true,
  async handle({ services, headers }, { body }) {
    verify(services.webhookSecret, body, headers)
    const message = parseJson(body, { depth: 10, storableText: true })
    if (!provisioned.safeParse(message).success) return { status: 204 }
    const parsed = webhookBody.safeParse(message)
    if (!parsed.success) return refuseFields(faultsOf(parsed.error, message))
    const { requestId, data } = parsed.data
    await services.core.system.completeByWebhook(requestId, data.url ?? '')
    return { status: 204 }
  },
})

/**
 * Verifies Standard Webhooks 1.0.0: HMAC-SHA256 over id, timestamp and the raw bytes, with five minutes of tolerance.
 */
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
    throw new HttpError(
      'invalid-signature',
      'The webhook is not signed with our secret, or its signature is too old.',
      {
        headers: { 'WWW-Authenticate': 'Webhook realm="quartermaster"' },
        cause,
      },
    )
  }
}

const params = z.object({ deliveryId: z.uuid().toLowerCase() })
/** Lists deliveries. They contain no secrets and no answers of receivers. */
const listDeliveries = defineRoute({
  id: 'listDeliveries',
  tag: 'Webhooks',
  method: 'GET',
  path: '/webhooks/v1/deliveries',
  summary: 'List webhook deliveries, newest first',
  description: 'Returns one page of webhook deliveries with their state, receiver and next attempt.',
  permission: 'delivery.read',
  audience: 'any',
  query: z.strictObject({
    status: delivery.shape.status.optional(),
    templateId: z.uuid().toLowerCase().optional(),
    requestId: z.uuid().toLowerCase().optional(),
    ...paging,
  }),
  answers: { 200: { description: 'A page of the list.', body: listOf(deliveryView) } },
  refusals: [],
  examples: examples.listDeliveries,
  async handle({ actor, core }, { query }) {
    const { deliveries, nextCursor } = await core.listDeliveries(actor, query)
    return { status: 200, body: { value: deliveries.map(showDelivery), nextCursor } }
  },
})

const readDelivery = defineRoute({
  id: 'readDelivery',
  tag: 'Webhooks',
  method: 'GET',
  path: '/webhooks/v1/deliveries/:deliveryId',
  summary: 'Read a delivery with its attempts and the status of its receiver',
  description: 'Returns one delivery with its body, all attempts and the answers of the receiver.',
  permission: 'delivery.read',
  audience: 'any',
  params,
  answers: { 200: { description: 'The delivery.', body: deliveryDetails } },
  refusals: ['not-found'],
  examples: examples.readDelivery,
  async handle({ actor, core }, { params: { deliveryId } }) {
    return { status: 200, body: showDeliveryDetails(await core.readDelivery(actor, { deliveryId })) }
  },
})

/** Sends the same message under the same `webhook-id`, so a receiver recognises a repeat (Standard Webhooks 1.0.0). */
const replayDelivery = defineRoute({
  id: 'replayDelivery',
  tag: 'Webhooks',
  method: 'POST',
  path: '/webhooks/v1/deliveries/:deliveryId/replay',
  summary: 'Resend a delivery now; a delivery that has ended starts its schedule again',
  description: 'Sends the same message again, with the same `webhook-id`. Receivers recognise the repeat by this id.',
  permission: 'delivery.replay',
  audience: 'any',
  params,
  answers: { 202: { description: 'The delivery is being sent again.', body: deliveryDetails, headers: ['Location'] } },
  refusals: ['not-found', 'illegal-transition'],
  examples: examples.replayDelivery,
  idempotent: true,
  async handle({ actor, core }, { params: { deliveryId } }) {
    const body = showDeliveryDetails(await core.replayDelivery(actor, { deliveryId }))
    return { status: 202, headers: { Location: `/webhooks/v1/deliveries/${deliveryId}` }, body }
  },
})

/** Lets integrators test their receiver, for example from a build server. */
const testWebhook = defineRoute({
  id: 'testWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/templates/v1/:templateId/webhook/test',
  summary: 'Send one signed webhook.test to the receiver of a template, and return the result',
  description: 'Sends a signed `webhook.test` once, without retries, and returns the answer of the receiver.',
  permission: 'webhook.test',
  audience: 'any',
  params: z.object({ templateId: z.uuid().toLowerCase() }),
  answers: {
    200: {
      description: 'The result of one attempt. `delivered` shows whether the receiver accepted it.',
      body: webhookTestResult,
    },
  },
  refusals: ['not-found'],
  examples: examples.testWebhook,
  async handle({ actor, core }, { params: { templateId } }) {
    return { status: 200, body: await core.testReceiver(actor, { subscriber: { templateId } }) }
  },
})

/** Starts the next attempt of each waiting delivery now, for example after a receiver was repaired. */
const sendWaiting = defineRoute({
  id: 'sendWaitingDeliveries',
  tag: 'Webhooks',
  method: 'POST',
  path: '/templates/v1/:templateId/webhook/send-waiting',
  summary: 'Send all waiting deliveries of a template now',
  description: 'Sends deliveries that wait for their next attempt now, for example after the receiver was repaired.',
  permission: 'delivery.replay',
  audience: 'any',
  params: z.object({ templateId: z.uuid().toLowerCase() }),
  answers: {
    202: {
      description: 'The deliveries are being sent: at most 200 in one call, oldest first.',
      body: z.strictObject({ sent: z.int().min(0).describe('Number of deliveries that waited.') }),
    },
  },
  refusals: ['not-found', 'illegal-transition'],
  examples: examples.sendWaitingDeliveries,
  async handle({ actor, core }, { params: { templateId } }) {
    return { status: 202, body: await core.sendWaitingDeliveries(actor, { subscriber: { templateId } }) }
  },
})

export const deliveryRoutes = [listDeliveries, readDelivery, replayDelivery, testWebhook, sendWaiting] as const
export const receiverRoutes = [receiveWebhook] as const
