import { z } from 'zod'
import type { ProvisioningPorts } from '../provisioning/index.ts'
import type { Delivery } from '../requests/index.ts'
import { type CardKey, instant, jobId } from '../shared/index.ts'

/** The state of the receivers of webhooks. One that is not stored is healthy. */
export interface WebhookEndpointStore {
  /** The receivers of the tenant that fail or are switched off, in any order. */
  troubled(tenantId: string): Promise<WebhookEndpoint[]>
  find(endpointId: string): Promise<WebhookEndpoint | undefined>
  /** Stores an unknown one; returns the stored one, and locks it until the transaction ends. */
  lock(endpoint: WebhookEndpoint): Promise<WebhookEndpoint>
  update(endpoint: WebhookEndpoint): Promise<void>
  /** Deletes the states of a template's receivers. */
  forget(tenantId: string, templateId: string): Promise<void>
}

/** Returns the present addresses of a host. Rejects when it has none or the resolver does not answer. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>
/**
 * Sends one webhook now, outside the queue, and returns its status as in the log of deliveries. `own`: the bot's own
 * subscription, which goes to the service itself.
 */
export type SendWebhook = (message: {
  readonly url: string
  /** The `webhook-id`. */
  readonly id: string
  readonly at: Date
  readonly body: string
  readonly secrets: readonly string[] | 'own'
}) => Promise<{ readonly status: string; readonly milliseconds: number }>

/** The ports that this room and the rooms above it need. */
export interface WebhookPorts extends ProvisioningPorts {
  readonly endpoints: WebhookEndpointStore
  readonly resolveHost: ResolveHost
  readonly sendWebhook: SendWebhook
}

/** The delays of the attempts, in seconds after the one before (Standard Webhooks 1.0.0, DESIGN §5), each ± 20 %. */
export const attemptDelays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const jitter = 0.2
/** A receiver is switched off after failures for this long, in hours, … */
const failingHours = 120
/** … if the present delivery has been tried for this long, in hours. */
const triedHours = 24
/** The longest pause that a receiver may request, in seconds. */
export const longestWaitSeconds = 86_400
/** The most attempts that a delivery stores, those of replays included. */
const rememberedAttempts = 50

/** The state of the receiver of one template's webhooks at one URL; `templateId: null` is the bot's own subscription. */
export const webhookEndpoint = z.object({
  endpointId: z.uuid(),
  tenantId: z.uuid(),
  templateId: z.uuid().nullable(),
  url: z.string(),
  /** The first failure after which there was no success. */
  failingSince: instant.nullable(),
  disabledAt: instant.nullable(),
  /** It answered 410, or only failed. */
  reason: z.enum(['gone', 'failing']).nullable(),
  /** It requested a pause, or did not answer in time. */
  waitsUntil: instant.nullable(),
  /** The `failingSince` about which admins were notified: one alert for all deliveries that are given up. */
  toldOf: instant.nullable(),
})
export type WebhookEndpoint = z.output<typeof webhookEndpoint>

/** The healthy receiver of a subscriber at this URL. */
export function endpointOf({ tenantId, subscriber }: Pick<Delivery, 'tenantId' | 'subscriber'>, url: string) {
  const templateId = subscriber === 'bot' ? null : subscriber.templateId
  const endpoint: WebhookEndpoint = {
    endpointId: jobId('endpoint', tenantId, templateId ?? 'bot', url),
    tenantId,
    templateId,
    url,
    failingSince: null,
    disabledAt: null,
    reason: null,
    waitsUntil: null,
    toldOf: null,
  }
  return endpoint
}

/** The result of an attempt. */
export interface AttemptOutcome {
  /** The HTTP status, or why there is none; without secrets. */
  readonly status: string
  /** `failed`: a further attempt makes no sense. */
  readonly ends?: 'delivered' | 'failed'
  /** Answered 410 Gone. */
  readonly gone?: boolean
  /** The pause for the receiver, in seconds. */
  readonly waitSeconds?: number
}

/** The consequences of an attempt; `next`: the time of the next one; `tell`: the card for the admins. */
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
 * Applies the rules of delivery: the schedule, the pause that the receiver requested, switching it off, and alerts.
 * `random` returns 0 to 1.
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
  const record = { at: at.toISOString(), status: outcome.status, milliseconds }
  const history = [...(before.delivery.history ?? []), record].slice(-rememberedAttempts)
  const endpoint = healthAfter(before, outcome, now)
  const { replays, broughtForward } = before.delivery
  const delay = attemptDelays[attempts - (replays?.at(-1)?.after ?? 0) - (broughtForward?.attempts ?? 0)]
  const goesOn = outcome.ends === undefined && delay !== undefined && endpoint.disabledAt === null
  const kept = Date.parse(broughtForward?.until ?? '') - now.getTime()
  const own = kept > 0 ? kept / 1000 : (delay ?? 0) * (1 - jitter + 2 * jitter * random())
  const next = goesOn ? new Date(now.getTime() + Math.max(own, outcome.waitSeconds ?? 0) * 1000) : undefined
  const status = outcome.ends ?? (goesOn ? 'pending' : 'failed')
  const changed = { status, attempts, history, lastStatus: outcome.status, updatedAt: now.toISOString() } as const
  const schedule = { ...(broughtForward && { broughtForward: { ...broughtForward, until: null } }) }
  const delivery = { ...before.delivery, ...changed, ...schedule, nextAttemptAt: next?.toISOString() ?? null }
  if (next) return { delivery, endpoint, next }
  return status === 'failed' ? { delivery, ...withAlert(before.endpoint, endpoint) } : { delivery, endpoint }
}

/** The receiver after an attempt. The bot's own subscription is never switched off and never pauses: it announces requests. */
function healthAfter({ endpoint, delivery }: Before, outcome: AttemptOutcome, now: Date): WebhookEndpoint {
  if (outcome.ends === 'delivered') return { ...endpoint, failingSince: null, waitsUntil: null, toldOf: null }
  const at = now.toISOString()
  const failingSince = endpoint.failingSince ?? at
  const failing = { ...endpoint, failingSince }
  if (endpoint.templateId === null || endpoint.disabledAt !== null) return failing
  if (outcome.gone) return { ...failing, disabledAt: at, reason: 'gone' }
  // After a quiet time one failure proves little: a delivery must have been tried for a day.
  const tried = now.getTime() - Date.parse(delivery.replays?.at(-1)?.at ?? delivery.createdAt)
  if (tried >= triedHours * 3_600_000 && now.getTime() - Date.parse(failingSince) >= failingHours * 3_600_000)
    return { ...failing, disabledAt: at, reason: 'failing' }
  const { waitSeconds = 0 } = outcome
  const until = Math.max(now.getTime() + waitSeconds * 1000, Date.parse(endpoint.waitsUntil ?? at))
  return waitSeconds > 0 ? { ...failing, waitsUntil: new Date(until).toISOString() } : failing
}

/** One card when it is switched off, and before that one for all deliveries that are given up until it answers again. */
function withAlert(before: WebhookEndpoint, endpoint: WebhookEndpoint): { endpoint: WebhookEndpoint; tell?: CardKey } {
  const { disabledAt, reason, failingSince } = endpoint
  if (before.disabledAt !== null) return { endpoint }
  if (disabledAt !== null && reason !== null) return { endpoint, tell: `webhook:${reason}:${disabledAt}` }
  if (failingSince === null || before.toldOf === failingSince) return { endpoint }
  const what = endpoint.templateId === null ? 'own' : 'undelivered'
  return { endpoint: { ...endpoint, toldOf: failingSince }, tell: `webhook:${what}:${failingSince}` }
}

/** The status of an attempt that was not sent because the receiver was switched off. {@link meaningOf} reads it. */
export const disabledStatus = ({ reason }: WebhookEndpoint): string =>
  reason === 'gone'
    ? 'not sent: the receiver was switched off, since it said 410 Gone'
    : `not sent: the receiver was switched off, since it did nothing but fail for ${failingHours} hours`

/** The meaning of an attempt's status; cards have a sentence for each. */
export const answerMeanings = [
  'taken',
  'redirect',
  'signature',
  'notThere',
  'gone',
  'tooMany',
  'refused',
  'broken',
  'timeout',
  'noName',
  'noListener',
  'cutOff',
  'certificate',
  'unreachable',
  'forbidden',
  'switchedOff',
  'noWebhook',
  'noSecret',
  'standsStill',
  'other',
  'none',
] as const
export type AnswerMeaning = (typeof answerMeanings)[number]

/** Network errors of Node by the beginnings of their codes (Node.js, "Errors": common system errors, TLS). */
const networkErrors: readonly (readonly [RegExp, AnswerMeaning])[] = [
  [/^(ENOTFOUND|EAI_|ENODATA|ENOTIMP|ESERVFAIL)/, 'noName'],
  [/^ECONNREFUSED/, 'noListener'],
  [/^(ETIMEDOUT|ESOCKETTIMEDOUT)/, 'timeout'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|HPE_)/, 'cutOff'],
  [/CERT|^(DEPTH_ZERO|UNABLE_TO_|SELF_SIGNED|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME_MISMATCH)/, 'certificate'],
]

/** The beginnings of the statuses of attempts without an answer. */
const unsent: readonly (readonly [RegExp, AnswerMeaning])[] = [
  [/^no answer in /, 'timeout'],
  [/^not sent: the receiver was switched off/, 'switchedOff'],
  [/^not sent: the template has no webhook/, 'noWebhook'],
  [/^not sent: its secret/, 'noSecret'],
  [/^not sent: /, 'forbidden'],
  [/^stands still: /, 'standsStill'],
]

/**
 * Returns the meaning of an attempt's status in the log of deliveries (`204`, `not reachable (ECONNREFUSED)`,
 * `no answer in 15 s`). `null`: there was no attempt yet.
 */
export function meaningOf(status: string | null): AnswerMeaning {
  if (status === null) return 'none'
  if (/^\d{3}$/.test(status)) return meaningOfHttp(Number(status))
  const code = /^not reachable(?: \(([A-Z0-9_]+)\))?$/.exec(status)
  if (code) return networkErrors.find(([beginning]) => beginning.test(code[1] ?? ''))?.[1] ?? 'unreachable'
  return unsent.find(([beginning]) => beginning.test(status))?.[1] ?? 'other'
}

function meaningOfHttp(status: number): AnswerMeaning {
  if (status >= 200 && status < 300) return 'taken'
  if (status >= 300 && status < 400) return 'redirect'
  if (status === 400 || status === 401 || status === 403) return 'signature'
  if (status === 404 || status === 405) return 'notThere'
  if (status === 410) return 'gone'
  if (status === 429) return 'tooMany'
  return status >= 500 ? 'broken' : 'refused'
}
