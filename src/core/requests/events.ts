import { z } from 'zod'
import { decision, overrideOf } from '../approvals/index.ts'
import { siteNames } from '../resources/index.ts'
import { instant, person, type RequestState } from '../shared/index.ts'
import { eventTypes } from '../templates/index.ts'
import { isForMailbox, type Request, referenceOf } from './request.ts'

/** The body of a webhook (DESIGN §5). It is short: receivers read the request by its id. */
export const webhookBody = z.object({
  type: z.enum(eventTypes),
  timestamp: instant,
  requestId: z.uuid(),
  tenantId: z.uuid(),
  data: z.object({
    reference: z.string(),
    kind: z.string(),
    status: z.string(),
    displayName: z.string().describe('The name that was requested and approved.'),
    createdAs: siteNames
      .optional()
      .describe('Team sites: the names in Entra ID. The naming policy of the tenant may have changed those requested.'),
    url: z.string().optional(),
    siteId: z.string().optional(),
    groupId: z.string().nullable().optional(),
    securityGroupId: z.string().optional(),
    address: z.string().optional(),
    mailboxId: z.string().optional(),
    /** An admin overrode the approvers: who, which decision and why. */
    override: decision.pick({ by: true, decision: true, comment: true, at: true }).optional(),
  }),
})
export type WebhookBody = z.output<typeof webhookBody>
/** What admins send to try a receiver: about no request, and of no subscription's `events`. */
export const testEventType = 'webhook.test'
/** The same envelope, so that what reads every message can read it. `templateId: null`: the bot's own subscription. */
export const webhookTestBody = webhookBody.extend({
  type: z.literal(testEventType),
  data: z.object({ templateId: z.uuid().nullable() }),
})
export type WebhookTestBody = z.output<typeof webhookTestBody>
/** All that a subscriber may get. */
export const anyWebhookBody = z.discriminatedUnion('type', [webhookBody, webhookTestBody])
const eventOfState = {
  rejected: 'request.rejected',
  failed: 'request.failed',
  expired: 'request.expired',
  cancelled: 'request.cancelled',
} as const
const eventOf = (state: RequestState): WebhookBody['type'] | undefined =>
  Object.entries(eventOfState).find(([known]) => known === state)?.[1]
/** What tells that a request's resource was made. */
export const provisionedEvent = (request: Request): 'mailbox.provisioned' | 'site.provisioned' =>
  isForMailbox(request) ? 'mailbox.provisioned' : 'site.provisioned'
/** The webhook about a request's present state; undefined for states without a webhook. */
export function webhookOf(request: Request): WebhookBody | undefined {
  const { status, requestId, tenantId, kind, resource } = request
  const type = status === 'succeeded' ? provisionedEvent(request) : eventOf(status)
  if (type === undefined) return undefined
  const { by, decision, comment, at } = overrideOf(request.approvals) ?? {}
  const override = by && decision && at && { by, decision, ...(comment && { comment }), at }
  const createdAs = isForMailbox(request) ? undefined : request.progress.createdAs
  const data = {
    reference: referenceOf(request),
    kind,
    status,
    displayName: request.details.displayName,
    ...(createdAs && { createdAs }),
    ...resource,
    ...(override && { override }),
  }
  return { type, timestamp: request.updatedAt, requestId, tenantId, data }
}

/** One attempt, as the delivery log shows it: `status` is the answer's, or why there was none. */
export const deliveryAttempt = z.object({ at: instant, status: z.string(), milliseconds: z.int().min(0) })
/** One webhook on its way to one address. Its id is the `webhook-id` of every attempt, so a receiver can tell repeats. */
export const delivery = z.object({
  deliveryId: z.uuid(),
  requestId: z.uuid(),
  tenantId: z.uuid(),
  /** Whose subscription: the template's, or the bot's own. Address and secrets are looked up by it at each attempt. */
  subscriber: z.union([z.object({ templateId: z.uuid() }), z.literal('bot')]),
  type: z.enum(eventTypes),
  url: z.string(),
  body: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  lastStatus: z.string().nullable(),
  createdAt: instant,
  updatedAt: instant,
  /** The latest attempts, oldest first. */
  history: z.array(deliveryAttempt).optional(),
  nextAttemptAt: instant.nullable().optional(),
  /**
   * Attempts that were brought forward since the last replay. They do not count for the schedule, which continues at `until` if
   * they fail; null: the schedule is not ahead any more.
   */
  broughtForward: z.object({ attempts: z.int(), until: instant.nullable() }).nullable().optional(),
  /** Who had it sent again. The schedule started again with the attempt after `after`. */
  replays: z.array(z.object({ at: instant, by: person, after: z.int() })).optional(),
})
export type Delivery = z.output<typeof delivery>
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
  /** Those whose next attempt is later than this time. */
  readonly waitsAfter?: Date
  readonly oldestFirst?: boolean
  readonly limit: number
  /** Those that come after this one, in the order newest first. */
  readonly after?: { readonly createdAt: string; readonly deliveryId: string }
}

export interface DeliveryStore {
  insert(delivery: Delivery): Promise<void>
  find(deliveryId: string): Promise<Delivery | undefined>
  /** Reads and locks until the transaction ends. */
  lock(deliveryId: string): Promise<Delivery | undefined>
  update(delivery: Delivery): Promise<void>
  /** The newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>
  /** How many have ended since then, and how many are on their way, for each template; null: the bot's own. */
  tally(tenantId: string, since: Date): Promise<ReadonlyMap<string | null, DeliveryCounts>>
  /** How many have failed for good, up to a limit. */
  countFailed(tenantId: string, templateId: string | null, limit: number): Promise<number>
  /** Forgets, at this time, those that ended long ago. */
  forgetOld(at: Date): Promise<void>
}
