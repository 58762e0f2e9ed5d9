import { z } from 'zod'
import { type AuditAction, auditAct } from '../audit/index.ts'
import { type Delivery, type DeliveryQuery, delivery, deliveryAttempt } from '../requests/index.ts'
import {
  type Actor,
  because,
  type Context,
  defineUseCase,
  type ErrorCode,
  fault,
  instant,
  jobId,
  ProvisioningError,
  refuseFields,
} from '../shared/index.ts'
import { eventTypes } from '../templates/index.ts'
import { endpointOf, type WebhookEndpoint, type WebhookPorts, webhookEndpoint } from './endpoint.ts'
import { aboutReceiver, knownReceiver, receiverId, templateIdOf } from './receivers.ts'
import { bringAllForward, bringForward, endPause, isAsleep, isWaiting } from './waiting.ts'

/** A delivery for admins. `templateId: null`: the service's own receiver. */
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
/** A delivery with its attempts, the sent body, and the status of its receiver. */
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
    deliveryId,
    requestId,
    templateId,
    type,
    url,
    status,
    attemptCount: attempts,
    lastStatus,
    nextAttemptAt,
    createdAt,
    updatedAt,
  }
}

/**
 * A delivery with its present target. `url`: undefined if its template no longer has a webhook. `receiver`: the stored
 * status of the present target, or else of the former target.
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

/**
 * Returns a page of the delivery log for admins, newest first. The cursor is opaque: it comes from the previous page.
 */
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
 * Resends an ended delivery, from the start of the schedule, to the present address of its template's webhook. A
 * delivery that waits for its next attempt is sent now instead, and its schedule continues. Keeps the `webhook-id`, so
 * that a receiver recognises the message (Standard Webhooks 1.0.0). Refuses a delivery that is being sent, or whose
 * receiver is disabled.
 */
export const replayDelivery = defineUseCase({
  permission: 'delivery.replay',
  input: z.object({ deliveryId: z.uuid() }),
  async handle({ ports, actor }: Context<WebhookPorts>, { deliveryId }): Promise<KnownDelivery> {
    return ports.work.transaction(async () => {
      const found = ours(actor, await ports.deliveries.lock(deliveryId))
      const url = await targetOf(ports, found)
      if (url === undefined) throw new ProvisioningError('illegal-transition', because('webhookGone'))
      const receiver = await ports.endpoints.find(endpointOf(found, url).endpointId)
      const now = ports.clock.now()
      const waits = isWaiting(found, now) || isAsleep(found, receiver, now)
      // A pending delivery without a next attempt is stuck: its job has failed for good.
      if (found.status === 'pending' && found.nextAttemptAt !== null && !waits)
        throw new ProvisioningError('illegal-transition', because('deliveryUnderWay'))
      if (receiver?.disabledAt) throw new ProvisioningError('illegal-transition', because('receiverOffForReplay'))
      const at = now.toISOString()
      const { id, displayName, userPrincipalName } = actor
      const by = { id, displayName, userPrincipalName }
      const { requestId, tenantId, attempts, replays: earlier = [] } = found
      const action: AuditAction = 'webhook-replayed'
      const audited = [{ requestId, tenantId, at, actor: by, action, data: { deliveryId } }]
      if (waits) {
        await bringForward(ports, deliveryId, { receiver })
        if (receiver) await endPause(ports, receiver)
        await ports.audit.append(audited)
        return known(ports, { ...found, nextAttemptAt: at, updatedAt: at })
      }
      const replays = [...earlier, { at, by, after: attempts }]
      const restart = { replays, broughtForward: null, nextAttemptAt: at, updatedAt: at }
      const again: Delivery = { ...found, url, status: 'pending', ...restart }
      await ports.deliveries.update(again)
      await ports.audit.append(audited)
      const jobName = jobId('deliver', deliveryId, attempts, 'replay', replays.length)
      const payload = { v: 1, deliveryId, attempt: attempts } as const
      await ports.jobs.enqueue([{ name: 'deliver-webhook', payload, id: jobName }])
      return { delivery: again, url, receiver }
    })
  },
})

/**
 * Returns the present target of a delivery; undefined if its webhook was removed. The service's own target never
 * changes.
 */
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

/** The maximum number of deliveries that one call resends: each is a separate transaction, and a person waits for the answer. */
export const maxReplayed = 50
export const maxFailedCounted = 200

/** Counts the failed deliveries of a receiver, up to {@link maxFailedCounted}. Throws `not-found`. */
export const countFailedDeliveries = defineUseCase({
  permission: 'delivery.read',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<number> {
    const { ports, actor } = context
    await knownReceiver(context, subscriber)
    return ports.deliveries.countFailed(actor.tenantId, templateIdOf(subscriber), maxFailedCounted)
  },
})

/**
 * Resends the failed deliveries of a receiver, the oldest first, at most {@link maxReplayed}; each keeps its `webhook-id`.
 * Returns how many are sent again and how many are left. A second call does not send the same deliveries. Throws
 * `illegal-transition` for a disabled receiver, and `not-found`.
 */
export const replayFailedDeliveries = defineUseCase({
  permission: 'delivery.replay',
  input: z.object({ subscriber: receiverId }),
  async handle(
    context: Context<WebhookPorts>,
    { subscriber },
  ): Promise<{ readonly sent: number; readonly left: number }> {
    const { ports, actor } = context
    const { endpoint, template, url } = await knownReceiver(context, subscriber)
    if (endpoint.disabledAt !== null) throw new ProvisioningError('illegal-transition', because('receiverOff'))
    const { tenantId } = actor
    const templateId = templateIdOf(subscriber)
    const failed = await ports.deliveries.list({
      tenantId,
      templateId,
      status: 'failed',
      oldestFirst: true,
      limit: maxReplayed,
    })
    let sent = 0
    for (const { deliveryId } of failed) if (await replayed(context, deliveryId)) sent += 1
    if (sent > 0) await auditAct(ports, actor, 'webhook-all-replayed', { ...aboutReceiver(template, url), sent })
    return { sent, left: await ports.deliveries.countFailed(tenantId, templateId, maxFailedCounted) }
  },
})

/** Resends a delivery. Returns false if another admin has resent it or its webhook was removed meanwhile. */
async function replayed(context: Context<WebhookPorts>, deliveryId: string): Promise<boolean> {
  try {
    await replayDelivery.handle(context, { deliveryId })
    return true
  } catch (error) {
    if (error instanceof ProvisioningError && expected.includes(error.code)) return false
    throw error
  }
}

const expected: readonly ErrorCode[] = ['illegal-transition', 'not-found']

/**
 * Sends the waiting deliveries of a receiver now, also if the receiver requested a pause: an admin knows that it is
 * ready. A second call does not send the same deliveries. Throws `illegal-transition` for a disabled receiver, and
 * `not-found`.
 */
export const sendWaitingDeliveries = defineUseCase({
  permission: 'delivery.replay',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<{ readonly sent: number }> {
    const { ports, actor } = context
    const { endpoint, template, url } = await knownReceiver(context, subscriber)
    if (endpoint.disabledAt !== null) throw new ProvisioningError('illegal-transition', because('receiverOff'))
    await ports.work.transaction(() => endPause(ports, endpoint))
    const waiting = { tenantId: actor.tenantId, templateId: templateIdOf(subscriber), receiver: endpoint }
    const sent = await bringAllForward(ports, waiting)
    if (sent > 0) await auditAct(ports, actor, 'webhook-waiting-sent', { ...aboutReceiver(template, url), sent })
    return { sent }
  },
})
