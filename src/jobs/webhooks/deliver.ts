import {
  type Aftermath,
  type AttemptOutcome,
  afterAttempt,
  bringForwardAfterSuccess,
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
import { defineJob, type JobScope } from '../queue/define-job.ts'
import { headersOf, outcomeOf, type PostWebhook, unsigned } from './post.ts'

export interface WebhookDeliveryScope {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly deliveries: DeliveryStore
  readonly endpoints: WebhookEndpointStore
  readonly templates: TemplateStore
  readonly jobs: Jobs
  readonly post: PostWebhook
  /** The secret of the service's own receiver. */
  readonly ownSecret: string
  readonly telemetry?: Telemetry
  readonly log: { warn(facts: object, message: string): void; error(facts: object, message: string): void }
  /** Returns 0 to 1; only tests replace it. */
  readonly random?: () => number
}

/**
 * Workers of one process. Failing receivers use at most half of them, a healthy receiver two. The service's own
 * receiver, which notifies people, uses most of them, and its deliveries wait a moment before they are put off.
 */
const workers = 10
const slotLimits = { each: 2, own: workers - 2, failing: 1, allFailing: workers / 2 }
const ownPatience = 250
/** After the pause of a receiver its deliveries return spread over this time, in milliseconds. */
const spread = 10_000

/** The present address of a delivery and the secrets that sign it. */
interface Target {
  readonly url: string
  readonly secrets: readonly string[]
}

/**
 * Defines the job for one attempt of one delivery. 2xx means delivered. A 410, a message that cannot be sent, and the
 * last attempt end the delivery. Any other answer, redirects too, orders the next attempt. The id stays the same, so a
 * receiver can detect repeats. A receiver that is busy or requires a pause puts the job off, without counting an
 * attempt.
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
      if (target === undefined) return endUnsent(scope, deliveryId, 'not sent: the template has no webhook any more')
      const fresh = endpointOf(delivery, target.url)
      const endpoint = (await scope.endpoints.find(fresh.endpointId)) ?? fresh
      if (endpoint.disabledAt !== null) return endUnsent(scope, deliveryId, disabledStatus(endpoint))
      const rest = Date.parse(endpoint.waitsUntil ?? '') - scope.clock.now().getTime()
      if (rest > 0) throw new PutOff(`the receiver of ${deliveryId} pauses`, rest + spread * random())
      const receiver = { key: endpoint.endpointId, isOwn: delivery.subscriber === 'bot' }
      const visitor = { ...receiver, isFailing: endpoint.failingSince !== null, deliveryId }
      const slot = await slots.enter(visitor, visitor.isOwn ? ownPatience : 0)
      if (typeof slot === 'number') throw new PutOff(`the receiver of ${deliveryId} is busy`, slot)
      try {
        const at = scope.clock.now()
        const outcome = await attemptAt(scope, delivery, target, at, signal)
        const about = { deliveryId, attempt, fresh, endpoint }
        await scope.work.transaction(() => record(scope, about, { at, outcome }))
      } finally {
        slot()
      }
    },
    onDeadLetter: ({ deliveryId }, { message }) => recordDeadLetter(scope, deliveryId, message),
  })
}

/**
 * Defines the job that a success orders in its own transaction, so that no crash leaves the other deliveries of the
 * receiver waiting. It locks each of them alone, so that no two attempts wait for each other. A second run finds them
 * due and sends a few more, which does no harm.
 */
export const sendWaitingJob = (scope: WebhookDeliveryScope) =>
  defineJob({
    name: 'send-waiting',
    payload: jobPayloads['send-waiting'],
    retries: 8,
    retryDelaySeconds: 2,
    expireInSeconds: 60,
    concurrency: 2,
    async handle({ isHealthyAgain, ...receiver }) {
      await bringForwardAfterSuccess(scope, receiver, { isHealthyAgain })
    },
  })

/** Returns the template's present webhook, so that a changed address or secret is used at once. */
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

/**
 * Records an attempt. Only the first record counts: two processes can make the same attempt if one only seemed dead.
 * Orders other deliveries of the receiver after a success of a receiver that failed before, or of a delivery that was
 * brought forward.
 */
async function record(
  scope: WebhookDeliveryScope,
  about: { deliveryId: string; attempt: number; fresh: WebhookEndpoint; endpoint: WebhookEndpoint },
  attempt: { at: Date; outcome: AttemptOutcome },
): Promise<void> {
  const stored = await scope.deliveries.lock(about.deliveryId)
  if (stored?.status !== 'pending' || stored.attempts > about.attempt) return
  const delivery = { ...stored, url: about.fresh.url }
  const wasWell = about.endpoint.failingSince === null && about.endpoint.waitsUntil === null
  // A healthy receiver has nothing to store, so it is not locked.
  const isWell = wasWell && attempt.outcome.ends === 'delivered'
  const endpoint = isWell ? about.endpoint : await scope.endpoints.lock(about.fresh)
  const after = afterAttempt({ delivery, endpoint }, attempt, scope.clock.now(), scope.random ?? Math.random)
  await scope.deliveries.update(after.delivery)
  if (!isWell) await scope.endpoints.update(after.endpoint)
  const { tenantId, templateId, disabledAt } = after.endpoint
  const isTaken = attempt.outcome.ends === 'delivered' && disabledAt === null
  const sendsWaiting = isTaken && (!wasWell || stored.broughtForward)
  const payload = { v: 1, tenantId, templateId, isHealthyAgain: !wasWell } as const
  await scope.jobs.enqueue([...ordersOf(after), ...(sendsWaiting ? [{ name: 'send-waiting', payload } as const] : [])])
  report(scope, after)
}

function ordersOf({ delivery, next, alert }: Aftermath): JobOrder[] {
  const { deliveryId, requestId, attempts } = delivery
  const payload = { v: 1, deliveryId, attempt: attempts } as const
  const id = jobId('deliver', deliveryId, attempts)
  return [
    ...(next ? [{ name: 'deliver-webhook', payload, id, startAfter: next } as const] : []),
    ...(alert ? [{ name: 'notify-admins', payload: { v: 1, requestId, card: alert } } as const] : []),
  ]
}

function report(scope: WebhookDeliveryScope, { delivery, endpoint, alert }: Aftermath): void {
  const { log } = scope
  const { deliveryId, requestId, attempts, status, lastStatus: answer } = delivery
  const facts = { deliveryId, requestId, attempts, answer }
  count(scope, delivery, status === 'pending' ? 'tried-again' : status)
  if (status === 'pending') log.warn(facts, 'a delivery failed and will be retried')
  if (status === 'failed') log.warn(facts, 'a webhook could not be delivered')
  if (alert && endpoint.disabledAt !== null)
    log.warn({ templateId: endpoint.templateId, reason: endpoint.reason }, 'a webhook receiver was disabled')
}

/** Counts the outcome of an attempt when it is stored. */
const count = ({ work, telemetry }: WebhookDeliveryScope, { subscriber }: Delivery, outcome: WebhookOutcome): void =>
  work.afterCommit?.(() => telemetry?.webhookTried({ subscriber: subscriber === 'bot' ? 'bot' : 'template', outcome }))

/** Ends a delivery without sending it. An admin can resend it. */
async function endUnsent(scope: WebhookDeliveryScope, deliveryId: string, reason: string): Promise<void> {
  const { deliveries, work, clock, log } = scope
  await work.transaction(async () => {
    const stored = await deliveries.lock(deliveryId)
    if (stored?.status !== 'pending') return
    const updatedAt = clock.now().toISOString()
    await deliveries.update({ ...stored, status: 'failed', lastStatus: reason, nextAttemptAt: null, updatedAt })
    count(scope, stored, 'not-sent')
    log.warn({ deliveryId, requestId: stored.requestId, answer: reason }, 'a webhook could not be delivered')
  })
}

/** Records that the job has failed for good. The delivery stays pending, so that an admin can retry the job. */
async function recordDeadLetter({ deliveries, work, clock }: WebhookDeliveryScope, deliveryId: string, why: string) {
  await work.transaction(async () => {
    const stored = await deliveries.lock(deliveryId)
    if (stored?.status !== 'pending') return
    const updatedAt = clock.now().toISOString()
    await deliveries.update({ ...stored, lastStatus: `stands still: ${why}`, nextAttemptAt: null, updatedAt })
  })
}

/**
 * The maximum number of concurrent attempts of one process. Each limit is below the number of workers, so that some workers stay
 * free.
 */
interface SlotLimits {
  /** To one receiver. */
  readonly each: number
  /** To the service's own receiver. */
  readonly own: number
  /** To a receiver that has failed since its last success. */
  readonly failing: number
  /** To all such receivers together. */
  readonly allFailing: number
}

/** A delivery that needs a slot of its receiver. */
interface Visitor {
  readonly key: string
  readonly deliveryId: string
  readonly isOwn: boolean
  readonly isFailing: boolean
}

interface Receiver {
  active: number
  /** The deliveries that got no slot and have not returned yet. */
  readonly waiting: Set<string>
  lastMilliseconds: number
}

/** The shortest and longest time for which a delivery without a slot is put off, in milliseconds. */
const shortest = 500
const longest = 300_000

/**
 * Limits the workers for each receiver of webhooks, so that a slow or dead receiver does not delay the others. Each process
 * counts its own workers. `random` returns 0 to 1.
 */
function createReceiverSlots(limits: SlotLimits, random: () => number) {
  const receivers = new Map<string, Receiver>()
  let failingNow = 0
  const maxOf = ({ isFailing, isOwn }: Visitor) => (isOwn ? limits.own : isFailing ? limits.failing : limits.each)
  const countsAsFailing = ({ isFailing, isOwn }: Visitor) => isFailing && !isOwn
  const isFull = (visitor: Visitor) =>
    (receivers.get(visitor.key)?.active ?? 0) >= maxOf(visitor) ||
    (countsAsFailing(visitor) && failingNow >= limits.allFailing)

  function take(receiver: Receiver, visitor: Visitor): () => void {
    const { key, deliveryId } = visitor
    const isFailing = countsAsFailing(visitor)
    receiver.waiting.delete(deliveryId)
    receiver.active += 1
    failingNow += isFailing ? 1 : 0
    const entered = performance.now()
    return () => {
      receiver.active -= 1
      failingNow -= isFailing ? 1 : 0
      receiver.lastMilliseconds = performance.now() - entered
      // Other processes may have delivered the waiting deliveries. Those that still wait are counted when they return.
      if (receiver.active === 0) receivers.delete(key)
    }
  }

  return {
    /**
     * Takes a slot and returns the function that releases it. If no slot is free within `patience` milliseconds, returns
     * the time until the next try in milliseconds. It grows with the queue, so that a long queue causes few tries.
     */
    async enter(visitor: Visitor, patience: number): Promise<(() => void) | number> {
      const end = performance.now() + patience
      while (isFull(visitor) && performance.now() < end) await new Promise((resume) => setTimeout(resume, 5))
      const receiver = receivers.get(visitor.key) ?? { active: 0, waiting: new Set<string>(), lastMilliseconds: 0 }
      if (!isFull(visitor)) {
        receivers.set(visitor.key, receiver)
        return take(receiver, visitor)
      }
      receiver.waiting.add(visitor.deliveryId)
      const turn = (receiver.waiting.size * receiver.lastMilliseconds) / maxOf(visitor)
      return Math.min(shortest + turn, longest) * (0.75 + random() / 2)
    },
  }
}
