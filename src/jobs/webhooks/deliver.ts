import {
  type Aftermath,
  type AttemptOutcome,
  afterAttempt,
  type Clock,
  type Delivery,
  type DeliveryStore,
  disabledStatus,
  endpointOf,
  type JobOrder,
  type Jobs,
  jobId,
  jobPayloads,
  PutOff,
  signingSecrets,
  type Telemetry,
  type TemplateStore,
  type UnitOfWork,
  type WebhookEndpoint,
  type WebhookEndpointStore,
  type WebhookOutcome,
} from '../../core/index.ts'
import { defineJob, type JobScope } from '../queue/index.ts'
import { headersOf, outcomeOf, unsigned } from './message.ts'
import type { PostWebhook } from './post.ts'
import { createReceiverSlots } from './receiver-slots.ts'

export interface WebhookDeliveryScope {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly deliveries: DeliveryStore
  readonly endpoints: WebhookEndpointStore
  readonly templates: TemplateStore
  readonly jobs: Jobs
  readonly post: PostWebhook
  /** The secret of the bot's own subscription. */
  readonly ownSecret: string
  readonly telemetry?: Telemetry
  readonly log: { warn(facts: object, message: string): void; error(facts: object, message: string): void }
  /** 0 to 1; only tests set another. */
  readonly random?: () => number
}

/**
 * Workers of one process. Receivers that fail take half of them at most, and one that does well takes two; but for our own
 * subscription, by which people are told: it takes most, and waits a moment before its turn is put off.
 */
const workers = 10
const slotLimits = { each: 2, own: workers - 2, failing: 1, allFailing: workers / 2 }
const ownPatience = 250
/** Jobs whose receiver rests come back one after another, within so many milliseconds. */
const spread = 10_000

/** Where a delivery goes now, and what signs it. */
interface Target {
  readonly url: string
  readonly secrets: readonly string[]
}

/**
 * One attempt to deliver one webhook. The answer decides: 2xx is delivered; 410, what could never be sent and the last
 * attempt end it; anything else (redirects too) orders the next attempt. The id stays the same, so a receiver can tell
 * repeats. A receiver that is busy or wants to be left alone puts the job off, which counts as no attempt.
 */
export function deliverWebhookJob(scope: WebhookDeliveryScope) {
  const random = scope.random ?? Math.random
  const slots = createReceiverSlots(slotLimits, random)
  return defineJob({
    name: 'deliver-webhook',
    payload: jobPayloads['deliver-webhook'],
    retries: 8,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: workers,
    async handle({ deliveryId, attempt }, { signal }) {
      const delivery = await scope.deliveries.find(deliveryId)
      if (delivery?.status !== 'pending' || delivery.attempts > attempt) return
      const target = await targetOf(scope, delivery)
      if (target === undefined) return giveUp(scope, deliveryId, 'not sent: the template has no webhook any more')
      const fresh = endpointOf(delivery, target.url)
      const endpoint = (await scope.endpoints.find(fresh.endpointId)) ?? fresh
      if (endpoint.disabledAt !== null) return giveUp(scope, deliveryId, disabledStatus(endpoint))
      const rest = Date.parse(endpoint.waitsUntil ?? '') - scope.clock.now().getTime()
      if (rest > 0) throw new PutOff(`the receiver of ${deliveryId} rests`, rest + spread * random())
      const receiver = { key: endpoint.endpointId, isOwn: delivery.subscriber === 'bot' }
      const visitor = { ...receiver, isFailing: endpoint.failingSince !== null, deliveryId }
      const slot = await slots.enter(visitor, visitor.isOwn ? ownPatience : 0)
      if (typeof slot === 'number') throw new PutOff(`the receiver of ${deliveryId} is taken`, slot)
      try {
        const at = scope.clock.now()
        const outcome = await attemptAt(scope, delivery, target, at, signal)
        await scope.work.transaction(() => record(scope, { deliveryId, attempt, fresh, endpoint }, { at, outcome }))
      } finally {
        slot()
      }
    },
    onDeadLetter: ({ deliveryId }, { message }) => standStill(scope, deliveryId, message),
  })
}

/** The template's webhook as it is now, so a changed address or secret is used at once. */
async function targetOf(
  { templates, ownSecret, clock }: WebhookDeliveryScope,
  { subscriber, tenantId, url }: Delivery,
): Promise<Target | undefined> {
  if (subscriber === 'bot') return { url, secrets: [ownSecret] }
  const webhook = (await templates.find(tenantId, subscriber.templateId))?.webhook
  return webhook ? { url: webhook.url, secrets: signingSecrets(webhook, clock.now()) } : undefined
}

async function attemptAt(
  { post, clock }: WebhookDeliveryScope,
  { deliveryId, body, subscriber }: Delivery,
  { url, secrets }: Target,
  at: Date,
  signal: JobScope['signal'],
): Promise<AttemptOutcome> {
  const headers = headersOf(secrets, deliveryId, at, body)
  if (headers === undefined) return { status: unsigned, ends: 'failed' }
  return outcomeOf(await post({ url, headers, body, anywhere: subscriber === 'bot', signal }), clock.now())
}

/** Whoever records an attempt first decides: the same one may be made twice, when a process seemed dead and was not. */
async function record(
  scope: WebhookDeliveryScope,
  about: { deliveryId: string; attempt: number; fresh: WebhookEndpoint; endpoint: WebhookEndpoint },
  attempt: { at: Date; outcome: AttemptOutcome },
): Promise<void> {
  const stored = await scope.deliveries.lock(about.deliveryId)
  if (stored?.status !== 'pending' || stored.attempts > about.attempt) return
  const delivery = { ...stored, url: about.fresh.url }
  const wasWell = about.endpoint.failingSince === null && about.endpoint.waitsUntil === null
  // A receiver that does well has nothing to store, and is not locked for nothing.
  const isWell = wasWell && attempt.outcome.ends === 'delivered'
  const endpoint = isWell ? about.endpoint : await scope.endpoints.lock(about.fresh)
  const after = afterAttempt({ delivery, endpoint }, attempt, scope.clock.now(), scope.random ?? Math.random)
  await scope.deliveries.update(after.delivery)
  if (!isWell) await scope.endpoints.update(after.endpoint)
  await scope.jobs.enqueue(ordersOf(after))
  told(scope, after)
}

function ordersOf({ delivery, next, tell }: Aftermath): JobOrder[] {
  const { deliveryId, requestId, attempts } = delivery
  const payload = { v: 1, deliveryId, attempt: attempts } as const
  const id = jobId('deliver', deliveryId, attempts)
  return [
    ...(next ? [{ name: 'deliver-webhook', payload, id, startAfter: next } as const] : []),
    ...(tell ? [{ name: 'notify-admins', payload: { v: 1, requestId, card: tell } } as const] : []),
  ]
}

function told(scope: WebhookDeliveryScope, { delivery, endpoint, tell }: Aftermath): void {
  const { log } = scope
  const { deliveryId, requestId, attempts, status, lastStatus: answer } = delivery
  const facts = { deliveryId, requestId, attempts, answer }
  counted(scope, delivery, status === 'pending' ? 'tried-again' : status)
  if (status === 'pending') log.warn(facts, 'a webhook is tried again')
  if (status === 'failed') log.warn(facts, 'a webhook could not be delivered')
  if (tell && endpoint.disabledAt !== null)
    log.warn({ templateId: endpoint.templateId, reason: endpoint.reason }, 'the receiver of a webhook is switched off')
}

/** Once it is stored what became of an attempt. */
const counted = ({ work, telemetry }: WebhookDeliveryScope, { subscriber }: Delivery, outcome: WebhookOutcome): void =>
  work.afterCommit?.(() => telemetry?.webhookTried({ subscriber: subscriber === 'bot' ? 'bot' : 'template', outcome }))

/** Ends a delivery that is not sent. It can be replayed. */
async function giveUp(scope: WebhookDeliveryScope, deliveryId: string, words: string): Promise<void> {
  const { deliveries, work, clock, log } = scope
  await work.transaction(async () => {
    const stored = await deliveries.lock(deliveryId)
    if (stored?.status !== 'pending') return
    const updatedAt = clock.now().toISOString()
    await deliveries.update({ ...stored, status: 'failed', lastStatus: words, nextAttemptAt: null, updatedAt })
    counted(scope, stored, 'not-sent')
    log.warn({ deliveryId, requestId: stored.requestId, answer: words }, 'a webhook could not be delivered')
  })
}

/** The queue has given the job up. The delivery stays pending, so that the job may be run again; it may also be replayed. */
async function standStill({ deliveries, work, clock }: WebhookDeliveryScope, deliveryId: string, why: string) {
  await work.transaction(async () => {
    const stored = await deliveries.lock(deliveryId)
    if (stored?.status !== 'pending') return
    const updatedAt = clock.now().toISOString()
    await deliveries.update({ ...stored, lastStatus: `stands still: ${why}`, nextAttemptAt: null, updatedAt })
  })
}
