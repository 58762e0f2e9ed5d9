import { z } from 'zod'
import type { AuditAction } from '../audit/index.ts'
import { type Delivery, type DeliveryQuery, delivery, deliveryAttempt } from '../requests/index.ts'
import {
  type Actor,
  because,
  type Context,
  defineUseCase,
  fault,
  instant,
  jobId,
  ProvisioningError,
  refuseFields,
} from '../shared/index.ts'
import { eventTypes } from '../templates/index.ts'
import { endpointOf, type WebhookEndpoint, webhookEndpoint } from './endpoint.ts'
import type { WebhookPorts } from './ports.ts'

/** A delivery as admins see it. `templateId: null` is the bot's own subscription. */
export const deliveryView = z.strictObject({
  deliveryId: z.uuid(),
  requestId: z.uuid(),
  templateId: z.uuid().nullable(),
  type: z.enum(eventTypes),
  url: z.string(),
  status: delivery.shape.status,
  attemptCount: z.int(),
  lastStatus: z.string().nullable(),
  nextAttemptAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
})
/** The same with all that is known of it: each attempt, the body as sent, and how its receiver does. */
export const deliveryDetails = deliveryView.extend({
  attempts: z.array(deliveryAttempt),
  replays: z.array(delivery.shape.replays.unwrap().element.omit({ after: true })),
  body: z.string(),
  receiver: webhookEndpoint.pick({ failingSince: true, disabledAt: true, reason: true, waitsUntil: true }).nullable(),
})

export function showDelivery(one: Delivery): z.output<typeof deliveryView> {
  const { deliveryId, requestId, subscriber, type, url, status, attempts, lastStatus, createdAt, updatedAt } = one
  const templateId = subscriber === 'bot' ? null : subscriber.templateId
  const nextAttemptAt = status === 'pending' ? (one.nextAttemptAt ?? null) : null
  return {
    ...{ deliveryId, requestId, templateId, type, url, status, attemptCount: attempts },
    ...{ lastStatus, nextAttemptAt, createdAt, updatedAt },
  }
}

/**
 * `url`: where it would go now; undefined: its template has no webhook any more, so it goes nowhere. `receiver`: how the endpoint there,
 * or else where it went, does, if anything is known of it.
 */
export interface KnownDelivery {
  readonly delivery: Delivery
  readonly url: string | undefined
  readonly receiver: WebhookEndpoint | undefined
}
export function showDeliveryDetails({ delivery: one, receiver }: KnownDelivery): z.output<typeof deliveryDetails> {
  const { failingSince = null, disabledAt = null, reason = null, waitsUntil = null } = receiver ?? {}
  return {
    ...showDelivery(one),
    attempts: one.history ?? [],
    replays: (one.replays ?? []).map(({ at, by }) => ({ at, by })),
    body: one.body,
    receiver: receiver === undefined ? null : { failingSince, disabledAt, reason, waitsUntil },
  }
}

export type DeliveryFilter = Omit<DeliveryQuery, 'tenantId' | 'after'> & { readonly cursor?: string }

/** The log of deliveries for admins, newest first. The cursor is opaque: it comes from the page before. */
export const listDeliveries = defineUseCase({
  permission: 'delivery.read',
  input: z.object({
    limit: z.int(),
    cursor: z.string().exactOptional(),
    status: delivery.shape.status.exactOptional(),
    templateId: z.string().nullable().exactOptional(),
    requestId: z.string().exactOptional(),
  }),
  async handle(
    { ports, actor }: Context<WebhookPorts>,
    { cursor, limit, ...filter },
  ): Promise<{ deliveries: readonly Delivery[]; nextCursor?: string }> {
    const after = cursor === undefined ? {} : { after: decodeCursor(cursor) }
    const found = await ports.deliveries.list({ ...filter, ...after, tenantId: actor.tenantId, limit: limit + 1 })
    const deliveries = found.slice(0, limit)
    const last = deliveries.at(-1)
    return found.length > limit && last ? { deliveries, nextCursor: encodeCursor(last) } : { deliveries }
  },
})

export const readDelivery = defineUseCase({
  permission: 'delivery.read',
  input: z.object({ deliveryId: z.uuid() }),
  async handle({ ports, actor }: Context<WebhookPorts>, { deliveryId }): Promise<KnownDelivery> {
    return known(ports, ours(actor, await ports.deliveries.find(deliveryId)))
  },
})

/**
 * Sends a delivery that has ended once more, from the start of the schedule, to where its template's webhook is now. It is
 * the same message, so it keeps its `webhook-id` (Standard Webhooks 1.0.0: the id stays when a message is resent) and a
 * receiver that has it can tell. Refuses one that is still on its way, or whose receiver takes nothing.
 */
export const replayDelivery = defineUseCase({
  permission: 'delivery.replay',
  input: z.object({ deliveryId: z.uuid() }),
  async handle({ ports, actor }: Context<WebhookPorts>, { deliveryId }): Promise<KnownDelivery> {
    return ports.work.transaction(async () => {
      const found = ours(actor, await ports.deliveries.lock(deliveryId))
      // Without a next attempt it stands still: the queue has given its job up.
      if (found.status === 'pending' && found.nextAttemptAt !== null)
        throw new ProvisioningError('illegal-transition', because('deliveryUnderWay'))
      const url = await targetOf(ports, found)
      if (url === undefined) throw new ProvisioningError('illegal-transition', because('webhookGone'))
      const receiver = await ports.endpoints.find(endpointOf(found, url).endpointId)
      if (receiver?.disabledAt) throw new ProvisioningError('illegal-transition', because('receiverOffForReplay'))
      const at = ports.clock.now().toISOString()
      const { id, displayName, userPrincipalName } = actor
      const by = { id, displayName, userPrincipalName }
      const { requestId, tenantId, attempts, replays: earlier = [] } = found
      const replays = [...earlier, { at, by, after: attempts }]
      const again: Delivery = { ...found, url, status: 'pending', replays, nextAttemptAt: at, updatedAt: at }
      await ports.deliveries.update(again)
      const action: AuditAction = 'webhook-replayed'
      await ports.audit.append([{ requestId, tenantId, at, actor: by, action, data: { deliveryId } }])
      const jobName = jobId('deliver', deliveryId, attempts, 'replay', replays.length)
      const payload = { v: 1, deliveryId, attempt: attempts } as const
      await ports.jobs.enqueue([{ name: 'deliver-webhook', payload, id: jobName }])
      return { delivery: again, url, receiver }
    })
  },
})

/** Where it would go now: the bot's own goes where it went. Undefined: nowhere. */
async function targetOf(
  { templates }: WebhookPorts,
  { subscriber, tenantId, url }: Delivery,
): Promise<string | undefined> {
  if (subscriber === 'bot') return url
  return (await templates.find(tenantId, subscriber.templateId))?.webhook?.url
}

async function known(ports: WebhookPorts, one: Delivery): Promise<KnownDelivery> {
  const url = await targetOf(ports, one)
  return { delivery: one, url, receiver: await ports.endpoints.find(endpointOf(one, url ?? one.url).endpointId) }
}

function ours(actor: Actor, found: Delivery | undefined): Delivery {
  if (found?.tenantId === actor.tenantId) return found
  throw new ProvisioningError('not-found', because('noSuchDelivery'))
}

const encodeCursor = ({ createdAt, deliveryId }: Delivery): string =>
  Buffer.from(`v1:${createdAt}|${deliveryId}`).toString('base64url')

const cursorPlace = z.tuple([instant, z.uuid()])
function decodeCursor(cursor: string): NonNullable<DeliveryQuery['after']> {
  const text = Buffer.from(cursor, 'base64url').toString()
  const place = cursorPlace.safeParse(text.startsWith('v1:') ? text.slice('v1:'.length).split('|') : [])
  if (place.success) return { createdAt: place.data[0], deliveryId: place.data[1] }
  return refuseFields([fault('/cursor', 'invalid', because('cursorInvalid'))])
}
