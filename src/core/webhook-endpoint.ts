import { z } from 'zod'
import { type Delivery, jobId } from './events.ts'
import type { CardKey } from './notification.ts'
import { instant } from './resource.ts'

/** When the attempts are, in seconds after the one before (Standard Webhooks 1.0.0, DESIGN §5), each ± 20 %. */
export const attemptDelays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const jitter = 0.2
/** Nothing but failures for so long, in hours, and the receiver is switched off. */
const failingHours = 120
/** And for how long the delivery at hand must have been tried, in hours. */
const triedHours = 24
/** The longest that a receiver may ask to be left alone, in seconds. */
export const longestWaitSeconds = 86_400
/** Attempts that a delivery remembers: several replays. */
const rememberedAttempts = 50

/** How the receiver of one template's webhooks at one URL does; `templateId: null` is the bot's own subscription. */
export const webhookEndpoint = z.object({
  endpointId: z.uuid(),
  tenantId: z.uuid(),
  templateId: z.uuid().nullable(),
  url: z.string(),
  /** The first failure after which there was no success. */
  failingSince: instant.nullable(),
  disabledAt: instant.nullable(),
  /** It said 410, or did nothing but fail. */
  reason: z.enum(['gone', 'failing']).nullable(),
  /** It asked to be left alone, or did not answer in time. */
  waitsUntil: instant.nullable(),
  /** The `failingSince` of which admins know that a delivery was given up: they are told once, not of each. */
  toldOf: instant.nullable(),
})
export type WebhookEndpoint = z.output<typeof webhookEndpoint>

/** Deliveries of a receiver, by how they stand. */
export interface DeliveryCounts {
  readonly delivered: number
  readonly failed: number
  readonly pending: number
}

export interface DeliveryQuery {
  readonly tenantId: string
  readonly status?: Delivery['status']
  /** null: the bot's own. */
  readonly templateId?: string | null
  readonly requestId?: string
  readonly oldestFirst?: boolean
  readonly limit: number
  /** Those that come after this one, in the order newest first. */
  readonly after?: { readonly createdAt: string; readonly deliveryId: string }
}

/** The receiver that a delivery goes to when it goes to this URL, doing well. */
export function endpointOf({ tenantId, subscriber }: Pick<Delivery, 'tenantId' | 'subscriber'>, url: string) {
  const templateId = subscriber === 'bot' ? null : subscriber.templateId
  const endpoint: WebhookEndpoint = {
    ...{ endpointId: jobId('endpoint', tenantId, templateId ?? 'bot', url), tenantId, templateId, url },
    ...{ failingSince: null, disabledAt: null, reason: null, waitsUntil: null, toldOf: null },
  }
  return endpoint
}

/** What came of an attempt. */
export interface AttemptOutcome {
  /** The status, or why there is none, in words that tell no secret. */
  readonly said: string
  /** `failed`: no further attempt could do better. */
  readonly ends?: 'delivered' | 'failed'
  /** Answered 410: nobody listens there any more. */
  readonly gone?: boolean
  /** How long the receiver is to be left alone, in seconds. */
  readonly waitSeconds?: number
}

/** What follows from an attempt; `next`: when the next one is; `tell`: the card for the admins. */
export interface Aftermath {
  readonly delivery: Delivery
  readonly endpoint: WebhookEndpoint
  readonly next?: Date
  readonly tell?: CardKey
}

interface Before {
  readonly delivery: Delivery
  readonly endpoint: WebhookEndpoint
}

/**
 * The rules of delivery in one place: the schedule, what the receiver asked for, when it is switched off, and when admins
 * are told. `random` gives 0 to 1.
 */
export function afterAttempt(
  before: Before,
  attempt: { at: Date; outcome: AttemptOutcome },
  now: Date,
  random: () => number,
): Aftermath {
  const { outcome, at } = attempt
  const milliseconds = Math.max(0, now.getTime() - at.getTime())
  const attempts = before.delivery.attempts + 1
  const record = { at: at.toISOString(), status: outcome.said, milliseconds }
  const history = [...(before.delivery.history ?? []), record].slice(-rememberedAttempts)
  const endpoint = healthAfter(before, outcome, now)
  const delay = attemptDelays[attempts - (before.delivery.replays?.at(-1)?.after ?? 0)]
  const goesOn = outcome.ends === undefined && delay !== undefined && endpoint.disabledAt === null
  const seconds = Math.max((delay ?? 0) * (1 - jitter + 2 * jitter * random()), outcome.waitSeconds ?? 0)
  const next = goesOn ? new Date(now.getTime() + seconds * 1000) : undefined
  const status = outcome.ends ?? (goesOn ? 'pending' : 'failed')
  const changed = { status, attempts, history, lastStatus: outcome.said, updatedAt: now.toISOString() } as const
  const delivery = { ...before.delivery, ...changed, nextAttemptAt: next?.toISOString() ?? null }
  if (next) return { delivery, endpoint, next }
  return status === 'failed' ? { delivery, ...toldOf(before.endpoint, endpoint) } : { delivery, endpoint }
}

/** The bot's own subscription is never switched off, and waits for nothing: requests are announced by it. */
function healthAfter({ endpoint, delivery }: Before, outcome: AttemptOutcome, now: Date): WebhookEndpoint {
  if (outcome.ends === 'delivered') return { ...endpoint, failingSince: null, waitsUntil: null, toldOf: null }
  const at = now.toISOString()
  const failingSince = endpoint.failingSince ?? at
  const failing = { ...endpoint, failingSince }
  if (endpoint.templateId === null || endpoint.disabledAt !== null) return failing
  if (outcome.gone) return { ...failing, disabledAt: at, reason: 'gone' }
  // After a quiet time the first failure is no proof: a delivery has to have been tried for a day.
  const tried = now.getTime() - Date.parse(delivery.replays?.at(-1)?.at ?? delivery.createdAt)
  if (tried >= triedHours * 3_600_000 && now.getTime() - Date.parse(failingSince) >= failingHours * 3_600_000)
    return { ...failing, disabledAt: at, reason: 'failing' }
  const { waitSeconds = 0 } = outcome
  const until = Math.max(now.getTime() + waitSeconds * 1000, Date.parse(endpoint.waitsUntil ?? at))
  return waitSeconds > 0 ? { ...failing, waitsUntil: new Date(until).toISOString() } : failing
}

/** One card when it is switched off, and before that one for all deliveries that are given up until it answers again. */
function toldOf(before: WebhookEndpoint, endpoint: WebhookEndpoint): { endpoint: WebhookEndpoint; tell?: CardKey } {
  const { disabledAt, reason, failingSince } = endpoint
  if (before.disabledAt !== null) return { endpoint }
  if (disabledAt !== null && reason !== null) return { endpoint, tell: `webhook:${reason}:${disabledAt}` }
  if (failingSince === null || before.toldOf === failingSince) return { endpoint }
  const what = endpoint.templateId === null ? 'own' : 'undelivered'
  return { endpoint: { ...endpoint, toldOf: failingSince }, tell: `webhook:${what}:${failingSince}` }
}

/** Why nothing is sent to a receiver that was switched off, as the log of deliveries says it. */
export const disabledWords = ({ reason }: WebhookEndpoint): string =>
  reason === 'gone'
    ? 'not sent: the receiver was switched off, since it said 410 Gone'
    : `not sent: the receiver was switched off, since it did nothing but fail for ${failingHours} hours`
