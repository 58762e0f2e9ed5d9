import { z } from 'zod'
import { cardsFor, type DeliveriesOf, type DeliveryNews, deliveriesOfPage, receiverKey } from '../../cards/index.ts'
import { referenceOf, type Template, templateIdOf } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, isRefusal, showNotice, undefinedIfNotFound, version } from '../define.ts'
import { receiverOf } from './receivers.ts'

const nothing = z.literal('')
const id = z.uuid().toLowerCase()

/** Shows the delivery log or another page of it, on the same card. */
export const pageDeliveries = defineCardAction({
  verb: 'admin.deliveries',
  forAdmins: true,
  data: z.object({
    of: z.enum(['all', 'failed']).default('all'),
    templateId: z.union([id, receiverKey, nothing]).default(''),
    requestId: z.union([id, nothing]).default(''),
    after: z.string().max(200).default(''),
  }),
  handle: showDeliveries,
})

/** Shows one delivery. */
export const examineDelivery = defineCardAction({
  verb: 'admin.delivery',
  forAdmins: true,
  data: z.object({ deliveryId: id }),
  handle: (turn, { deliveryId }) => showDelivery(turn, deliveryId, async () => ''),
})

/** Resends a delivery after an admin confirms it. The version is the number of deliveries at the confirmation. */
export const redeliver = defineCardAction({
  verb: 'admin.redeliver',
  forAdmins: true,
  data: z.object({ deliveryId: id, version: version.optional() }),
  handle: (turn, { deliveryId, version }) =>
    showDelivery(turn, deliveryId, async () => {
      const { delivery, url, receiver } = await turn.core.readDelivery(turn.actor, { deliveryId })
      const isOnItsWay = delivery.status === 'pending' && delivery.nextAttemptAt !== null
      if (url === undefined || receiver?.disabledAt || (isOnItsWay && version === undefined)) return ''
      if (version === undefined) return 'ask'
      if (version !== (delivery.replays?.length ?? 0) + 1) return 'changed'
      try {
        await turn.core.replayDelivery(turn.actor, { deliveryId })
      } catch (error) {
        if (!isRefusal(error, 'illegal-transition')) throw error
        return ''
      }
      return 'again'
    }),
})

/** The part of the log to show; `''`: the whole log. */
interface Filter {
  readonly of: DeliveriesOf
  readonly templateId?: string
  readonly requestId?: string
  readonly after?: string
}

/** Shows a page of the log. */
export async function showDeliveries(turn: Turn, filter: Filter): Promise<Reply> {
  const { core, actor, viewer } = turn
  const { of, templateId: key = '', requestId = '', after = '' } = filter
  const names = await namesOf(turn)
  const subscriber = key === '' ? undefined : receiverOf(key)
  const { deliveries, nextCursor } = await core.listDeliveries(actor, {
    limit: deliveriesOfPage,
    ...(of === 'failed' && { status: 'failed' }),
    ...(subscriber && { templateId: templateIdOf(subscriber) }),
    ...(requestId && { requestId }),
    ...(after && { cursor: after }),
  })
  const request = requestId === '' ? undefined : await core.readRequest(actor, { requestId })
  const receiver = subscriber && (await core.readReceiver(actor, { subscriber }).catch(undefinedIfNotFound))
  const failed = receiver ? await core.countFailedDeliveries(actor, { subscriber: receiver.subscriber }) : 0
  return {
    card: cardsFor(viewer).adminDeliveries(
      {
        of,
        deliveries,
        nextCursor,
        names,
        isLater: after !== '',
        receiver: subscriber && { id: key, name: key === 'own' ? '' : (names.get(key)?.name ?? '') },
        request: request && { requestId, reference: referenceOf(request) },
        canResend: failed > 0 && receiver?.state !== 'off',
      },
      viewer,
    ),
  }
}

/** Runs an action on a delivery, then shows its status; a notice if the log no longer contains it. */
async function showDelivery(turn: Turn, deliveryId: string, act: () => Promise<DeliveryNews>): Promise<Reply> {
  const { core, actor, viewer } = turn
  try {
    const news = await act()
    const known = await core.readDelivery(actor, { deliveryId })
    return { card: cardsFor(viewer).adminDelivery(known, await namesOf(turn), news, viewer) }
  } catch (error) {
    if (!isRefusal(error, 'not-found')) throw error
    return showNotice(turn, { code: 'deliveryGone' })
  }
}

async function namesOf({ core, actor }: Turn): Promise<ReadonlyMap<string, Template>> {
  return new Map((await core.listTemplates(actor)).map((one) => [one.id, one]))
}
