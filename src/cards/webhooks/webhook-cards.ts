import type { AuditReport, KnownDelivery, ReceiverPage, WebhookReceiver } from '../../core/index.ts'
import { adminAuditCard, organisationAuditView } from '../audit/admin-audit.ts'
import { noticeCard, noticeView } from '../notifications/notice.ts'
import type { CardJson } from '../shared/literal.ts'
import type { Viewer } from '../shared/words.ts'
import {
  adminDeliveriesCard,
  adminDeliveriesView,
  adminDeliveryCard,
  adminDeliveryView,
  type DeliveriesPage,
  type DeliveryNews,
} from './admin-deliveries.ts'
import {
  adminWebhookCard,
  adminWebhooksCard,
  adminWebhooksView,
  adminWebhookView,
  type WebhookNews,
} from './admin-webhooks.ts'
import type { ReceiverNames } from './webhook-words.ts'

export const definedWebhookCards = [
  adminWebhooksCard,
  adminWebhookCard,
  adminDeliveriesCard,
  adminDeliveryCard,
] as const

/** What admins see of webhooks, and of what they did about no one request. */
export const webhookCards = {
  /** Who is told of requests by webhooks; a notice that says how to add one, when nobody is. */
  adminWebhooks: (page: ReceiverPage, viewer: Viewer): CardJson =>
    page.receivers.length === 0
      ? noticeCard.render(noticeView({ code: 'noWebhooks' }, viewer))
      : adminWebhooksCard.render(adminWebhooksView(page, viewer)),
  /** One of them. `failed`: how many of its deliveries have failed for good. */
  adminWebhook: (receiver: WebhookReceiver, failed: number, news: WebhookNews, viewer: Viewer): CardJson =>
    adminWebhookCard.render(adminWebhookView(receiver, failed, news, viewer)),
  /** The log of webhooks. */
  adminDeliveries: (page: DeliveriesPage, viewer: Viewer): CardJson =>
    adminDeliveriesCard.render(adminDeliveriesView(page, viewer)),
  /** One delivery with its attempts. */
  adminDelivery: (known: KnownDelivery, names: ReceiverNames, news: DeliveryNews, viewer: Viewer): CardJson =>
    adminDeliveryCard.render(adminDeliveryView(known, names, news, viewer)),
  /** What admins did that is about no one request, in pages, and the proof of it. */
  organisationAudit: (report: AuditReport, from: number, viewer: Viewer): CardJson =>
    adminAuditCard.render(organisationAuditView(report, from, viewer)),
}
