import { z } from 'zod'
import type { ProvisioningPorts } from '../provisioning/index.ts'
import type { Delivery } from '../requests/index.ts'
import { type CardKey, instant, jobId } from '../shared/index.ts'

/** The status of webhook receivers. A receiver that is not stored is healthy. */
export interface WebhookEndpointStore {
  /** Returns the receivers of the tenant that fail or are disabled, in any order. */
  troubled(tenantId: string): Promise<WebhookEndpoint[]>
  find(endpointId: string): Promise<WebhookEndpoint | undefined>
  /** Stores an unknown receiver. Returns the stored one, and locks it until the transaction ends. */
  lock(endpoint: WebhookEndpoint): Promise<WebhookEndpoint>
  update(endpoint: WebhookEndpoint): Promise<void>
  /** Deletes the status of a template's receivers. */
  forget(tenantId: string, templateId: string): Promise<void>
}

/** Returns the present addresses of a host. Rejects when the host has no address or the resolver does not answer. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>
/**
 * Sends one webhook now, outside the queue, and returns its status as in the delivery log. `own`: to the service's own
 * receiver.
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

/**
 * The delays of the attempts, in seconds after the previous attempt (Standard Webhooks 1.0.0, DESIGN §5), each ± 20 %.
 */
export const attemptDelays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const jitter = 0.2
/** A receiver is disabled after failures for this long, in hours, … */
const failingHours = 120
/** … if the present delivery has been tried for this long, in hours. */
const triedHours = 24
/** The longest pause that a receiver may request, in seconds. */
export const longestWaitSeconds = 86_400
/** The maximum number of attempts that a delivery stores, including resends. */
const rememberedAttempts = 50

/** The status of the receiver of one template's webhooks at one URL. `templateId: null`: the service's own receiver. */
export const webhookEndpoint = z.object({
  endpointId: z.uuid(),
  tenantId: z.uuid(),
  templateId: z.uuid().nullable(),
  url: z.string(),
  /** The first failure since the last success. */
  failingSince: instant.nullable(),
  disabledAt: instant.nullable(),
  /** `gone`: it answered 410; `failing`: it only failed. */
  reason: z.enum(['gone', 'failing']).nullable(),
  /** It requested a pause, or did not answer in time. */
  waitsUntil: instant.nullable(),
  /** The `failingSince` about which admins were notified: one alert for all deliveries that fail for good. */
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
  /** The HTTP status, or why there was no answer; without secrets. */
  readonly status: string
  /** `failed`: a further attempt would fail too. */
  readonly ends?: 'delivered' | 'failed'
  /** Whether it answered 410 Gone. */
  readonly gone?: boolean
  /** The requested pause, in seconds. */
  readonly waitSeconds?: number
}

/** The consequences of an attempt. `next`: the time of the next attempt; `alert`: the card for the admins. */
export interface Aftermath {
  readonly delivery: Delivery
  readonly endpoint: WebhookEndpoint
  readonly next?: Date
  readonly alert?: CardKey
}

interface Before {
  readonly delivery: Delivery
  readonly endpoint: WebhookEndpoint
}

/**
 * Applies the rules of delivery: the schedule, the requested pause, the disabling of receivers, and alerts.
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

/**
 * Returns the receiver after an attempt. The service's own receiver is never disabled and never pauses: it announces
 * requests.
 */
function healthAfter({ endpoint, delivery }: Before, outcome: AttemptOutcome, now: Date): WebhookEndpoint {
  if (outcome.ends === 'delivered') return { ...endpoint, failingSince: null, waitsUntil: null, toldOf: null }
  const at = now.toISOString()
  const failingSince = endpoint.failingSince ?? at
  const failing = { ...endpoint, failingSince }
  if (endpoint.templateId === null || endpoint.disabledAt !== null) return failing
  if (outcome.gone) return { ...failing, disabledAt: at, reason: 'gone' }
  // After a time without deliveries one failure proves little: a delivery must have failed for a day.
  const tried = now.getTime() - Date.parse(delivery.replays?.at(-1)?.at ?? delivery.createdAt)
  if (tried >= triedHours * 3_600_000 && now.getTime() - Date.parse(failingSince) >= failingHours * 3_600_000)
    return { ...failing, disabledAt: at, reason: 'failing' }
  const { waitSeconds = 0 } = outcome
  const until = Math.max(now.getTime() + waitSeconds * 1000, Date.parse(endpoint.waitsUntil ?? at))
  return waitSeconds > 0 ? { ...failing, waitsUntil: new Date(until).toISOString() } : failing
}

/**
 * Alerts once when the receiver is disabled, and before that once for all deliveries that fail for good until it
 * answers again.
 */
function withAlert(before: WebhookEndpoint, endpoint: WebhookEndpoint): { endpoint: WebhookEndpoint; alert?: CardKey } {
  const { disabledAt, reason, failingSince } = endpoint
  if (before.disabledAt !== null) return { endpoint }
  if (disabledAt !== null && reason !== null) return { endpoint, alert: `webhook:${reason}:${disabledAt}` }
  if (failingSince === null || before.toldOf === failingSince) return { endpoint }
  const what = endpoint.templateId === null ? 'own' : 'undelivered'
  return { endpoint: { ...endpoint, toldOf: failingSince }, alert: `webhook:${what}:${failingSince}` }
}

/** The status of an attempt that was not sent because the receiver was disabled. {@link meaningOf} reads it. */
export const disabledStatus = ({ reason }: WebhookEndpoint): string =>
  reason === 'gone'
    ? 'not sent: the receiver was disabled because it answered 410 Gone'
    : `not sent: the receiver was disabled because each delivery failed for ${failingHours} hours`

/** The meanings of an attempt's status. The catalogue has a text for each. */
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

/** The stored statuses of attempts without an answer, by their beginnings. */
const unsent: readonly (readonly [RegExp, AnswerMeaning])[] = [
  [/^no answer in /, 'timeout'],
  [/^not sent: the receiver was (disabled|switched off)/, 'switchedOff'],
  [/^not sent: the template has no webhook/, 'noWebhook'],
  [/^not sent: its secret/, 'noSecret'],
  [/^not sent: /, 'forbidden'],
  [/^stands still: /, 'standsStill'],
]

/**
 * Returns the meaning of an attempt's status in the delivery log (`204`, `not reachable (ECONNREFUSED)`,
 * `no answer in 15 s`). `null`: no attempt yet.
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
