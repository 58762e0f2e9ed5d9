import { z } from 'zod'
import { delivery, deliveryDetails, deliveryView, showDelivery, showDeliveryDetails } from '../../../core/index.ts'
import { listDeliveriesExamples, readDeliveryExamples, replayDeliveryExamples } from '../../examples/deliveries.ts'
import { defineRoute } from '../../server/define-route.ts'
import { listOf, paging } from '../shared/paging.ts'

const params = z.object({ deliveryId: z.uuid().toLowerCase() })
/** What became of webhooks. A secret is nowhere in it, and what receivers answer is not kept. */
export const listDeliveries = defineRoute({
  id: 'listDeliveries',
  tag: 'Webhooks',
  method: 'GET',
  path: '/webhooks/v1/deliveries',
  summary: 'List deliveries of webhooks, newest first',
  permission: 'delivery.read',
  audience: 'any',
  query: z.strictObject({
    status: delivery.shape.status.optional(),
    templateId: z.uuid().toLowerCase().optional(),
    requestId: z.uuid().toLowerCase().optional(),
    ...paging,
  }),
  answers: { 200: { says: 'A page of the list.', body: listOf(deliveryView) } },
  refusals: [],
  examples: listDeliveriesExamples,
  async handle({ actor, provisioning }, { query: { status, templateId, requestId, limit, cursor } }) {
    const { deliveries, nextCursor } = await provisioning.deliveries.list(actor, {
      limit,
      ...(status && { status }),
      ...(templateId && { templateId }),
      ...(requestId && { requestId }),
      ...(cursor && { cursor }),
    })
    return { status: 200, body: { value: deliveries.map(showDelivery), ...(nextCursor && { nextCursor }) } }
  },
})

export const readDelivery = defineRoute({
  id: 'readDelivery',
  tag: 'Webhooks',
  method: 'GET',
  path: '/webhooks/v1/deliveries/:deliveryId',
  summary: 'Read a delivery with its attempts, and how its receiver does',
  permission: 'delivery.read',
  audience: 'any',
  params,
  answers: { 200: { says: 'The delivery.', body: deliveryDetails } },
  refusals: ['not-found'],
  examples: readDeliveryExamples,
  async handle({ actor, provisioning }, { params: { deliveryId } }) {
    return { status: 200, body: showDeliveryDetails(await provisioning.deliveries.read(actor, deliveryId)) }
  },
})

/** The same message under the same `webhook-id`, so a receiver that has it can tell (Standard Webhooks 1.0.0). */
export const replayDelivery = defineRoute({
  id: 'replayDelivery',
  tag: 'Webhooks',
  method: 'POST',
  path: '/webhooks/v1/deliveries/:deliveryId/replay',
  summary: 'Send a delivery that has ended once more, from the start of the schedule',
  permission: 'delivery.replay',
  audience: 'any',
  params,
  answers: { 202: { says: 'It is on its way again.', body: deliveryDetails, headers: ['Location'] } },
  refusals: ['not-found', 'illegal-transition'],
  examples: replayDeliveryExamples,
  idempotent: true,
  async handle({ actor, provisioning }, { params: { deliveryId } }) {
    const body = showDeliveryDetails(await provisioning.deliveries.replay(actor, deliveryId))
    return { status: 202, headers: { Location: `/webhooks/v1/deliveries/${deliveryId}` }, body }
  },
})
