import { Webhook } from 'standardwebhooks'
import {
  type Clock,
  type Delivery,
  type DeliveryStore,
  type Jobs,
  jobId,
  jobPayloads,
  type TemplateStore,
  type UnitOfWork,
} from '../core/index.ts'
import { defineJob } from './define-job.ts'

export interface WebhookDeliveryScope {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly deliveries: DeliveryStore
  readonly templates: TemplateStore
  readonly jobs: Jobs
  /** Refuses to run inside a transaction. */
  readonly fetch: typeof fetch
  /** The secret of the bot's own subscription. */
  readonly ownSecret: string
  readonly log: { warn(facts: object, message: string): void }
}

/** When the attempts are, in seconds after the one before (Standard Webhooks 1.0.0, DESIGN §5), each ± 20 %. */
export const attemptDelays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const jitter = 0.2
/** How long a receiver may take, in milliseconds. */
const timeout = 15_000

/**
 * One attempt to deliver one webhook. The answer decides: 2xx is delivered, 410 and the last attempt end it, anything
 * else (redirects too) orders the next attempt. The id stays the same, so a receiver can tell repeats.
 */
export const deliverWebhookJob = (scope: WebhookDeliveryScope) =>
  defineJob({
    name: 'deliver-webhook',
    payload: jobPayloads['deliver-webhook'],
    retries: 3,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 8,
    async handle({ deliveryId, attempt }) {
      const delivery = await scope.deliveries.find(deliveryId)
      if (delivery?.status !== 'pending' || delivery.attempts > attempt) return
      const secret = await secretOf(scope, delivery)
      const answer = secret === undefined ? 'the template has no webhook any more' : await post(scope, delivery, secret)
      await scope.work.transaction(() => recordAnswer(scope, { ...delivery, attempts: attempt + 1 }, answer))
    },
  })

/** The template's secret as it is now, so a changed one is used at once. */
async function secretOf(
  { templates, ownSecret }: WebhookDeliveryScope,
  { subscriber, tenantId }: Delivery,
): Promise<string | undefined> {
  if (subscriber === 'bot') return ownSecret
  return (await templates.find(tenantId, subscriber.templateId))?.webhook?.secret
}

/** The status, or in words why there is none. The timestamp is that of this attempt, as receivers check its age. */
async function post(
  scope: WebhookDeliveryScope,
  { url, body, deliveryId }: Delivery,
  secret: string,
): Promise<number | string> {
  const at = scope.clock.now()
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quartermaster-Webhooks/1.0',
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(deliveryId, at, body),
  }
  try {
    const response = await scope.fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'no answer in 15 s' : 'not reachable'
  }
}

async function recordAnswer(scope: WebhookDeliveryScope, delivery: Delivery, answer: number | string): Promise<void> {
  const delivered = typeof answer === 'number' && answer >= 200 && answer < 300
  const delay = attemptDelays[delivery.attempts]
  const over =
    answer === 410 || (typeof answer === 'string' && answer.startsWith('the template')) || delay === undefined
  const now = scope.clock.now()
  const status = delivered ? 'delivered' : over ? 'failed' : 'pending'
  await scope.deliveries.update({ ...delivery, status, lastStatus: String(answer), updatedAt: now.toISOString() })
  if (delivered) return
  const { deliveryId, requestId, attempts } = delivery
  scope.log.warn(
    { deliveryId, requestId, attempts, answer },
    over ? 'a webhook could not be delivered' : 'a webhook is tried again',
  )
  if (over) return
  const startAfter = new Date(now.getTime() + delay * 1000 * (1 - jitter + 2 * jitter * Math.random()))
  const payload = { v: 1, deliveryId, attempt: attempts } as const
  await scope.jobs.enqueue([
    { name: 'deliver-webhook', payload, id: jobId('deliver', deliveryId, attempts), startAfter },
  ])
}
