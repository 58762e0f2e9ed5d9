import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { auditAct } from '../audit/index.ts'
import { type Delivery, type DeliveryCounts, testEventType, type WebhookTestBody } from '../requests/index.ts'
import {
  because,
  type Context,
  defineUseCase,
  ProvisioningError,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import { signingSecrets, type Template } from '../templates/index.ts'
import { answerMeanings, endpointOf, meaningOf, type WebhookEndpoint, type WebhookPorts } from './endpoint.ts'
import { bringAllForward, endPause } from './waiting.ts'

/** The id of a receiver: of a template's webhook, or `bot` for the service's own. */
export const receiverId = z.union([z.object({ templateId: z.string() }), z.literal('bot')])
export type ReceiverId = z.output<typeof receiverId>

/** The states of a receiver, the worst first. */
const receiverStates = ['off', 'failing', 'waits', 'well'] as const
type ReceiverState = (typeof receiverStates)[number]

/** A receiver with its status and recent deliveries. */
export interface WebhookReceiver {
  readonly subscriber: ReceiverId
  /** undefined: the service's own receiver. */
  readonly template: Template | undefined
  readonly url: string
  readonly state: ReceiverState
  readonly endpoint: WebhookEndpoint
  /** Deliveries of the last 24 hours by result; `pending`: all pending deliveries. */
  readonly counts: DeliveryCounts
  /** The latest attempt, if there was one. */
  readonly last: { readonly status: string; readonly at: string } | undefined
}
export interface ReceiverPage {
  readonly receivers: readonly WebhookReceiver[]
  /** The index of the first one, and the number of all. */
  readonly from: number
  readonly total: number
  /** How many of all are not healthy. */
  readonly troubled: number
}

/** Over how many hours deliveries are counted. */
const countedHours = 24
/** How many of the newest deliveries are searched for the latest attempt. */
const searched = 20

/** A receiver without its deliveries. */
interface Known {
  readonly subscriber: ReceiverId
  readonly template: Template | undefined
  readonly url: string
  readonly endpoint: WebhookEndpoint
  readonly state: ReceiverState
}

/**
 * Lists all receivers in pages, unhealthy ones first. After deletions returns the last page instead of a missing one.
 */
export const listReceivers = defineUseCase({
  permission: 'delivery.read',
  input: z.object({ from: z.int(), most: z.int() }),
  async handle(context: Context<WebhookPorts>, { from, most }): Promise<ReceiverPage> {
    const { ports, actor } = context
    const all = (await knownReceivers(context)).sort(
      (one, other) => receiverStates.indexOf(one.state) - receiverStates.indexOf(other.state),
    )
    const first = from < all.length ? from : Math.max(0, Math.floor((all.length - 1) / most) * most)
    const receivers = await withUse(ports, actor.tenantId, all.slice(first, first + most))
    const troubled = all.filter(({ state }) => state !== 'well').length
    return { receivers, from: first, total: all.length, troubled }
  },
})

/** Reads a receiver. Throws `not-found` if its template or webhook no longer exists. */
export const readReceiver = defineUseCase({
  permission: 'delivery.read',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<WebhookReceiver> {
    const { ports, actor } = context
    const known = await knownReceiver(context, subscriber)
    const [receiver] = await withUse(ports, actor.tenantId, [known])
    if (!receiver) throw new Error('a known receiver was not returned')
    return receiver
  },
})

/**
 * Returns the present receivers that fail or are disabled. Leaves out former addresses, which an attempt may have
 * stored while the address was changed.
 */
export async function troubledEndpoints(
  { endpoints, templates }: Pick<WebhookPorts, 'endpoints' | 'templates'>,
  { tenantId, followUpWebhookUrl }: Pick<Settings, 'tenantId' | 'followUpWebhookUrl'>,
): Promise<WebhookEndpoint[]> {
  const troubled = await endpoints.troubled(tenantId)
  if (troubled.length === 0) return []
  const urls = new Map((await templates.list(tenantId)).map(({ id, webhook }) => [id, webhook?.url]))
  return troubled.filter(
    ({ templateId, url }) => url === (templateId === null ? followUpWebhookUrl : urls.get(templateId)),
  )
}

/** Finds a present receiver. Throws `not-found`. */
export async function knownReceiver(
  { ports, settings }: SystemContext<WebhookPorts>,
  subscriber: ReceiverId,
): Promise<Known> {
  const { tenantId, followUpWebhookUrl } = settings
  if (subscriber === 'bot') {
    if (followUpWebhookUrl === null) throw new ProvisioningError('not-found', because('ownWebhooksOff'))
    return knownAt(ports, settings, { subscriber, template: undefined, url: followUpWebhookUrl })
  }
  const template = await ports.templates.find(tenantId, subscriber.templateId)
  if (!template) throw new ProvisioningError('not-found', because('noSuchTemplate'))
  if (!template.webhook) throw new ProvisioningError('not-found', because('templateWithoutWebhook'))
  return knownAt(ports, settings, { subscriber, template, url: template.webhook.url })
}

async function knownReceivers({ ports, settings }: SystemContext<WebhookPorts>): Promise<Known[]> {
  const { tenantId, followUpWebhookUrl } = settings
  const templates = await ports.templates.list(tenantId)
  const subscribed = templates.flatMap((template) =>
    template.webhook ? [{ subscriber: { templateId: template.id }, template, url: template.webhook.url }] : [],
  )
  const own = { subscriber: 'bot' as const, template: undefined, url: followUpWebhookUrl ?? '' }
  const all = followUpWebhookUrl === null ? subscribed : [...subscribed, own]
  return Promise.all(all.map((one) => knownAt(ports, settings, one)))
}

async function knownAt(
  { endpoints, clock }: WebhookPorts,
  { tenantId }: Settings,
  one: Pick<Known, 'subscriber' | 'template' | 'url'>,
): Promise<Known> {
  const fresh = endpointOf({ tenantId, subscriber: one.subscriber }, one.url)
  const endpoint = (await endpoints.find(fresh.endpointId)) ?? fresh
  return { ...one, endpoint, state: stateOf(endpoint, clock.now()) }
}

function stateOf({ disabledAt, failingSince, waitsUntil }: WebhookEndpoint, now: Date): ReceiverState {
  if (disabledAt !== null) return 'off'
  if (waitsUntil !== null && Date.parse(waitsUntil) > now.getTime()) return 'waits'
  return failingSince === null ? 'well' : 'failing'
}

async function withUse(ports: WebhookPorts, tenantId: string, some: readonly Known[]): Promise<WebhookReceiver[]> {
  const since = new Date(ports.clock.now().getTime() - countedHours * 3_600_000)
  const tally = await ports.deliveries.tally(tenantId, since)
  return Promise.all(
    some.map(async (one) => {
      const templateId = templateIdOf(one.subscriber)
      const latest = await ports.deliveries.list({ tenantId, templateId, limit: searched })
      return { ...one, counts: tally.get(templateId) ?? { delivered: 0, failed: 0, pending: 0 }, last: lastOf(latest) }
    }),
  )
}

/** Returns the template id of a receiver in the delivery log; null: the service's own receiver. */
export const templateIdOf = (subscriber: ReceiverId): string | null =>
  subscriber === 'bot' ? null : subscriber.templateId

/**
 * Returns the latest attempt of these deliveries. Leaves out attempts that were not sent because the receiver was
 * disabled.
 */
function lastOf(latest: readonly Delivery[]): WebhookReceiver['last'] {
  const attempts = latest.flatMap(({ history = [], lastStatus, updatedAt }) => {
    const last = history.at(-1)
    const isUnsent = meaningOf(lastStatus) === 'switchedOff'
    if (last && (isUnsent || last.status === lastStatus)) return [{ status: last.status, at: last.at }]
    return lastStatus === null || isUnsent ? [] : [{ status: lastStatus, at: updatedAt }]
  })
  return attempts.sort((one, other) => other.at.localeCompare(one.at))[0]
}

/**
 * Enables a receiver again and sends its waiting deliveries now. Admins resend failed deliveries separately. Changes
 * nothing if the receiver is not disabled. Throws `not-found`.
 */
export const switchReceiverOn = defineUseCase({
  permission: 'webhook.enable',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<WebhookReceiver> {
    const { ports, actor } = context
    await ports.work.transaction(async () => {
      const { endpoint, template, url } = await knownReceiver(context, subscriber)
      if (endpoint.disabledAt === null) return
      const locked = await ports.endpoints.lock(endpoint)
      if (locked.disabledAt === null) return
      const { reason } = locked
      const healthy = { failingSince: null, disabledAt: null, reason: null, waitsUntil: null, toldOf: null }
      await ports.endpoints.update({ ...locked, ...healthy })
      await auditAct(ports, actor, 'webhook-switched-on', { ...aboutReceiver(template, url), reason })
    })
    await bringAllForward(ports, { tenantId: actor.tenantId, templateId: templateIdOf(subscriber) })
    return readReceiver.handle(context, { subscriber })
  },
})

/** Returns the data of a receiver for an audit entry: template and host. The rest of an address may contain a key. */
export const aboutReceiver = (template: Template | undefined, url: string) => ({
  ...(template && { templateId: template.id }),
  about: template?.name ?? new URL(url).host,
  host: new URL(url).host,
})

/** The result of a test of a receiver. */
export const webhookTestResult = z.strictObject({
  /** The `webhook-id` of the message. */
  webhookId: z.uuid(),
  /** null: the service's own receiver. */
  templateId: z.uuid().nullable(),
  url: z.string(),
  /** Whether the answer was 2xx, as for a delivery. */
  delivered: z.boolean(),
  /** The answer's status, or why there was no answer, as in the delivery log. */
  status: z.string(),
  meaning: z.enum(answerMeanings),
  milliseconds: z.int().min(0),
})
export type WebhookTestResult = z.output<typeof webhookTestResult>

/** The nil UUID (RFC 9562 §5.9): a valid id that no request has. */
const noRequest = '00000000-0000-0000-0000-000000000000'

/**
 * Sends one signed `webhook.test` to a receiver now, with the secrets of a delivery, and returns the answer. Tries once
 * and writes no delivery. If the receiver accepts the test, its pause ends and its waiting deliveries are sent now.
 * Throws `not-found`.
 */
export const testReceiver = defineUseCase({
  permission: 'webhook.test',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<WebhookTestResult> {
    const { ports, settings, actor } = context
    const { template, url, endpoint } = await knownReceiver(context, subscriber)
    const webhook = template?.webhook
    const at = ports.clock.now()
    const { tenantId } = settings
    const templateId = template?.id ?? null
    const body: WebhookTestBody = {
      type: testEventType,
      timestamp: at.toISOString(),
      requestId: noRequest,
      tenantId,
      data: { templateId },
    }
    const webhookId = randomUUID()
    const secrets = webhook ? signingSecrets(webhook, at) : ('own' as const)
    const { status, milliseconds } = await ports.sendWebhook({
      url,
      id: webhookId,
      at,
      body: JSON.stringify(body),
      secrets,
    })
    const meaning = meaningOf(status)
    await auditAct(ports, actor, 'webhook-tested', { ...aboutReceiver(template, url), status, meaning })
    const delivered = meaning === 'taken'
    if (delivered) {
      await ports.work.transaction(() => endPause(ports, endpoint))
      await bringAllForward(ports, { tenantId, templateId, receiver: endpoint })
    }
    return { webhookId, templateId, url, delivered, status, meaning, milliseconds }
  },
})
