import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import type { Delivery, DeliveryCounts } from '../requests/index.ts'
import {
  because,
  type Context,
  defineUseCase,
  ProvisioningError,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import { meaningOf } from './answer.ts'
import { endpointOf, type WebhookEndpoint } from './endpoint.ts'
import type { WebhookPorts } from './ports.ts'

/** One who receives webhooks: a template's address, or the bot's own. */
export const receiverId = z.union([z.object({ templateId: z.string() }), z.literal('bot')])
export type ReceiverId = z.output<typeof receiverId>

/** How a receiver does; the worst first. */
export const receiverStates = ['off', 'failing', 'waits', 'well'] as const
export type ReceiverState = (typeof receiverStates)[number]

/** One who is told of requests, and how they do. */
export interface WebhookReceiver {
  readonly subscriber: ReceiverId
  /** undefined: the bot's own. */
  readonly template: Template | undefined
  readonly url: string
  readonly state: ReceiverState
  readonly endpoint: WebhookEndpoint
  /** Of the last 24 hours, by their end; `pending`: all that are on their way. */
  readonly counts: DeliveryCounts
  /** The latest attempt, if there was one. */
  readonly last: { readonly said: string; readonly at: string } | undefined
}
export interface ReceiverPage {
  readonly receivers: readonly WebhookReceiver[]
  /** How many stand before these, and how many there are. */
  readonly from: number
  readonly total: number
  /** How many of all need somebody. */
  readonly troubled: number
}

/** Over how many hours deliveries are counted. */
const countedHours = 24
/** The latest attempt is looked for among so many of the newest deliveries. */
const lookedThrough = 20

/** Where somebody is told of requests: the receivers of all templates, and the bot's own. */
interface Known {
  readonly subscriber: ReceiverId
  readonly template: Template | undefined
  readonly url: string
  readonly endpoint: WebhookEndpoint
  readonly state: ReceiverState
}

/** A page of all receivers, those that need somebody first. A page that is no more is the last one. */
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

/** One of them. Throws `not-found` where the template, or its webhook, is no more. */
export const readReceiver = defineUseCase({
  permission: 'delivery.read',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<WebhookReceiver> {
    const { ports, actor } = context
    const known = await knownReceiver(context, subscriber)
    const [receiver] = await withUse(ports, actor.tenantId, [known])
    if (!receiver) throw new Error('a receiver that is known is shown')
    return receiver
  },
})

/**
 * Those that fail or are switched off, of where somebody is told now. What is stored of an address from before, because an attempt was
 * under way when it was changed, is nobody's trouble any more.
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

/** Where one of them is now. Throws `not-found`. */
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
      const latest = await ports.deliveries.list({ tenantId, templateId, limit: lookedThrough })
      return { ...one, counts: tally.get(templateId) ?? { delivered: 0, failed: 0, pending: 0 }, last: lastOf(latest) }
    }),
  )
}

/** What the log of deliveries calls whom it goes to; null: the bot's own subscription. */
export const templateIdOf = (subscriber: ReceiverId): string | null =>
  subscriber === 'bot' ? null : subscriber.templateId

/** The latest attempt at any of these. What was not sent since it was switched off is no answer: then it is the one before. */
function lastOf(latest: readonly Delivery[]): WebhookReceiver['last'] {
  const attempts = latest.flatMap(({ history = [], lastStatus, updatedAt }) => {
    const last = history.at(-1)
    const isUnsent = meaningOf(lastStatus) === 'switchedOff'
    if (last && (isUnsent || last.status === lastStatus)) return [{ said: last.status, at: last.at }]
    return lastStatus === null || isUnsent ? [] : [{ said: lastStatus, at: updatedAt }]
  })
  return attempts.sort((one, other) => other.at.localeCompare(one.at))[0]
}

/**
 * Sends to a receiver again that was switched off, as if nothing had been; what it missed is sent again by hand. Asked for twice, or
 * of one that is not off, it changes nothing. Throws `not-found`.
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
      const well = { failingSince: null, disabledAt: null, reason: null, waitsUntil: null, toldOf: null }
      await ports.endpoints.update({ ...locked, ...well })
      await noteAct(ports, actor, 'webhook-switched-on', { ...aboutReceiver(template, url), reason })
    })
    return readReceiver.handle(context, { subscriber })
  },
})

/** What an entry tells of a receiver: its template, and its host; the rest of an address may hold a key. */
export const aboutReceiver = (template: Template | undefined, url: string) => ({
  ...(template && { templateId: template.id }),
  about: template?.name ?? new URL(url).host,
  host: new URL(url).host,
})
