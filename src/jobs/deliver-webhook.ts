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
  webhookTargetFault,
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
  /** Networks that webhooks of templates may go to although they are private. */
  readonly allowCidrs: readonly string[]
  readonly log: { warn(facts: object, message: string): void }
}

/** When the attempts are, in seconds after the one before (Standard Webhooks 1.0.0, DESIGN §5), each ± 20 %. */
export const attemptDelays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const jitter = 0.2
/** How long a receiver may take, in milliseconds. */
const timeout = 15_000

/** What came of an attempt: the status or the reason, as it is kept, and whether that is the end. */
interface Outcome {
  readonly said: string
  readonly ends?: 'delivered' | 'failed'
}

/**
 * One attempt to deliver one webhook. The answer decides: 2xx is delivered; 410, what could never be sent and the last
 * attempt end it; anything else (redirects too) orders the next attempt. The id stays the same, so a receiver can tell
 * repeats.
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
      const outcome = await attemptOf(scope, delivery)
      await scope.work.transaction(() => record(scope, { ...delivery, attempts: attempt + 1 }, outcome))
    },
  })

/**
 * Where it goes is looked at before each attempt, since the settings may have changed since the template was written; the
 * bot's own subscription goes where the service itself is. What a name resolves to is not checked here.
 */
async function attemptOf(scope: WebhookDeliveryScope, delivery: Delivery): Promise<Outcome> {
  const secret = await secretOf(scope, delivery)
  if (secret === undefined) return { said: 'the template has no webhook any more', ends: 'failed' }
  const refused = delivery.subscriber === 'bot' ? undefined : webhookTargetFault(delivery.url, scope.allowCidrs)
  if (refused !== undefined) return { said: refused, ends: 'failed' }
  const at = scope.clock.now()
  const signature = sign(secret, delivery, at)
  if (signature === undefined) return { said: 'its secret cannot sign: write the webhook anew', ends: 'failed' }
  return post(scope, delivery, at, signature)
}

/** The template's secret as it is now, so a changed one is used at once. */
async function secretOf(
  { templates, ownSecret }: WebhookDeliveryScope,
  { subscriber, tenantId }: Delivery,
): Promise<string | undefined> {
  if (subscriber === 'bot') return ownSecret
  return (await templates.find(tenantId, subscriber.templateId))?.webhook?.secret
}

function sign(secret: string, { deliveryId, body }: Delivery, at: Date): string | undefined {
  try {
    return new Webhook(secret).sign(deliveryId, at, body)
  } catch {
    // The error may quote the secret.
    return undefined
  }
}

/** The timestamp is that of this attempt, as receivers check its age. */
async function post(
  scope: WebhookDeliveryScope,
  { url, body, deliveryId }: Delivery,
  at: Date,
  signature: string,
): Promise<Outcome> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quartermaster-Webhooks/1.0',
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
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
    const said = String(response.status)
    if (response.ok) return { said, ends: 'delivered' }
    return response.status === 410 ? { said, ends: 'failed' } : { said }
  } catch (error) {
    return { said: error instanceof Error && error.name === 'TimeoutError' ? 'no answer in 15 s' : 'not reachable' }
  }
}

async function record(scope: WebhookDeliveryScope, delivery: Delivery, { said, ends }: Outcome): Promise<void> {
  const { deliveryId, requestId, attempts } = delivery
  const delay = attemptDelays[attempts]
  const status = ends ?? (delay === undefined ? 'failed' : 'pending')
  const now = scope.clock.now()
  await scope.deliveries.update({ ...delivery, status, lastStatus: said, updatedAt: now.toISOString() })
  if (status === 'delivered') return
  const words = status === 'failed' ? 'a webhook could not be delivered' : 'a webhook is tried again'
  scope.log.warn({ deliveryId, requestId, attempts, answer: said }, words)
  if (status === 'failed' || delay === undefined) return
  const startAfter = new Date(now.getTime() + delay * 1000 * (1 - jitter + 2 * jitter * Math.random()))
  const payload = { v: 1, deliveryId, attempt: attempts } as const
  await scope.jobs.enqueue([
    { name: 'deliver-webhook', payload, id: jobId('deliver', deliveryId, attempts), startAfter },
  ])
}
