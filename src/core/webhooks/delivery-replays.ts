import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import { because, type Context, defineUseCase, type ErrorCode, ProvisioningError } from '../shared/index.ts'
import { replayDelivery } from './delivery-log.ts'
import type { WebhookPorts } from './ports.ts'
import { aboutReceiver, knownReceiver, receiverId, templateIdOf } from './receivers.ts'

/** So many are sent again by one click: each is a transaction of its own, and somebody waits for the answer. */
export const mostReplayed = 50
/** Failed deliveries are counted up to here. */
export const mostFailedCounted = 200

/** How many deliveries of a receiver have failed for good, up to {@link mostFailedCounted}. Throws `not-found`. */
export const countFailedDeliveries = defineUseCase({
  permission: 'delivery.read',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<number> {
    const { ports, actor } = context
    await knownReceiver(context, subscriber)
    return ports.deliveries.countFailed(actor.tenantId, templateIdOf(subscriber), mostFailedCounted)
  },
})

/**
 * Sends what a receiver has missed again, the oldest first, {@link mostReplayed} at most; each keeps its `webhook-id`. Gives how many
 * are on their way again, and how many are left. Asked for twice it sends nothing twice: what is on its way is no longer failed.
 * Refuses a receiver that is switched off, by `illegal-transition`. Throws `not-found`.
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
      ...{ tenantId, templateId, status: 'failed', oldestFirst: true, limit: mostReplayed },
    })
    let sent = 0
    for (const { deliveryId } of failed) if (await isReplayed(context, deliveryId)) sent += 1
    if (sent > 0) await noteAct(ports, actor, 'webhook-all-replayed', { ...aboutReceiver(template, url), sent })
    return { sent, left: await ports.deliveries.countFailed(tenantId, templateId, mostFailedCounted) }
  },
})

/** Somebody else may have been faster, or the template's webhook may have gone in between. */
async function isReplayed(context: Context<WebhookPorts>, deliveryId: string): Promise<boolean> {
  try {
    await replayDelivery.handle(context, { deliveryId })
    return true
  } catch (error) {
    if (error instanceof ProvisioningError && passed.includes(error.code)) return false
    throw error
  }
}

const passed: readonly ErrorCode[] = ['illegal-transition', 'not-found']
