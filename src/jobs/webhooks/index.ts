/**
 * Webhooks on their way out: the delivery job, the message with its signatures, and the guarded POST.
 */
export { deliverWebhookJob } from './deliver.ts'
export { createSendWebhook } from './message.ts'
export { createWebhookPoster, type PostWebhook, resolveHost } from './post.ts'
