import type { Ports } from './ports.ts'
import type { Door } from './provisioning-door.ts'
import type { Settings } from './shared/settings.ts'
import { type DeliveryFilter, listDeliveries, readDelivery, replayDelivery } from './webhooks/delivery-log.ts'
import { countFailed, replayFailed } from './webhooks/delivery-replays.ts'
import { type ReceiverId, readReceiver, readReceivers, switchReceiverOn } from './webhooks/receivers.ts'
import { testReceiver } from './webhooks/test.ts'

/** What admins do with webhooks: their log, and those who receive them. */
export function createDeliveries(ports: Ports, settings: Settings, to: Door) {
  return {
    list: to('delivery.read', (actor, filter: DeliveryFilter) => listDeliveries({ ports, actor }, filter)),
    read: to('delivery.read', (actor, deliveryId: string) => readDelivery({ ports, actor }, deliveryId)),
    replay: to('delivery.replay', (actor, deliveryId: string) => replayDelivery({ ports, actor }, deliveryId)),
    countFailed: to('delivery.read', (actor, subscriber: ReceiverId) =>
      countFailed({ ports, settings, actor }, subscriber),
    ),
    replayFailed: to('delivery.replay', (actor, subscriber: ReceiverId) =>
      replayFailed({ ports, settings, actor }, subscriber),
    ),
    receivers: to('delivery.read', (actor, page: { from: number; most: number }) =>
      readReceivers({ ports, settings, actor }, page),
    ),
    receiver: to('delivery.read', (actor, subscriber: ReceiverId) =>
      readReceiver({ ports, settings, actor }, subscriber),
    ),
    test: to('webhook.test', (actor, subscriber: ReceiverId) => testReceiver({ ports, settings, actor }, subscriber)),
    switchOn: to('webhook.enable', (actor, subscriber: ReceiverId) =>
      switchReceiverOn({ ports, settings, actor }, subscriber),
    ),
  }
}
