/**
 * Webhooks on their way out: the delivery job, the message with its signatures, and the guarded POST.
 */
export { deliverWebhookJob, type WebhookDeliveryScope } from './deliver.ts'
export { createSendWebhook } from './message.ts'
export { createWebhookPoster, resolveHost } from './post.ts'
