import { z } from 'zod'
import { decision, overrideOf } from '../approvals/index.ts'
import { siteNames } from '../resources/index.ts'
import { instant, person, type RequestState } from '../shared/index.ts'
import { eventTypes } from '../templates/index.ts'
import { isForMailbox, type Request, referenceOf } from './request.ts'

/** The body of a webhook (docs/webhooks.md). It is short, because receivers read the request by its id. */
export const webhookBody = z.object({
  type: z.enum(eventTypes),
  timestamp: instant,
  requestId: z.uuid(),
  tenantId: z.uuid(),
  data: z.object({
    reference: z.string(),
    kind: z.string(),
    status: z.string(),
    displayName: z.string().describe('The requested and approved name.'),
    createdAs: siteNames
      .optional()
      .describe(
        'For team sites: the names in Entra ID. The tenant’s naming policy may have changed the requested names.',
      ),
    url: z.string().optional(),
    siteId: z.string().optional(),
    groupId: z.string().nullable().optional(),
    securityGroupId: z.string().optional(),
    address: z.string().optional(),
    mailboxId: z.string().optional(),
    /** The override of an admin, if there is one. */
    override: decision.pick({ by: true, decision: true, comment: true, at: true }).optional(),
  }),
})
export type WebhookBody = z.output<typeof webhookBody>
/** The event that admins send to test a receiver. No receiver can subscribe to this event. */
export const testEventType = 'webhook.test'
/** The test message, in the same envelope as all others. `templateId: null`: the bot's own receiver. */
export const webhookTestBody = webhookBody.extend({
  type: z.literal(testEventType),
  data: z.object({ templateId: z.uuid().nullable() }),
})
export type WebhookTestBody = z.output<typeof webhookTestBody>
/** All messages that a receiver may get. */
export const anyWebhookBody = z.discriminatedUnion('type', [webhookBody, webhookTestBody])
const eventOfState = {
  rejected: 'request.rejected',
  failed: 'request.failed',
  expired: 'request.expired',
  cancelled: 'request.cancelled',
} as const
const eventOf = (state: RequestState): WebhookBody['type'] | undefined =>
  Object.entries(eventOfState).find(([known]) => known === state)?.[1]
/** Returns the event of a created resource. */
export const provisionedEvent = (request: Request): 'mailbox.provisioned' | 'site.provisioned' =>
  isForMailbox(request) ? 'mailbox.provisioned' : 'site.provisioned'
/** Returns the webhook about a request's current state; undefined for states without a webhook. */
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

/** One attempt in the delivery log. `status`: the HTTP status of the response, or the reason why there was no response. */
export const deliveryAttempt = z.object({ at: instant, status: z.string(), milliseconds: z.int().min(0) })
/** One webhook to one address. Its id is the `webhook-id` of each attempt, so that a receiver recognises repeats. */
export const delivery = z.object({
  deliveryId: z.uuid(),
  requestId: z.uuid(),
  tenantId: z.uuid(),
  /** The receiver of a template's webhook, or the bot's own receiver. Each attempt reads its current address and secrets. */
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
   * The early attempts since the last replay: an admin, or a success at the same receiver, started them before their time. They use up no
   * retries. `until`: the time of the next scheduled attempt if an early attempt fails; null if no early attempt waits.
   */
  broughtForward: z.object({ attempts: z.int(), until: instant.nullable() }).nullable().optional(),
  /** The replays by admins. `after`: the number of attempts before the replay. The retry schedule then starts again. */
  replays: z.array(z.object({ at: instant, by: person, after: z.int() })).optional(),
})
export type Delivery = z.output<typeof delivery>
/** The numbers of a receiver's deliveries, by status. */
export interface DeliveryCounts {
  readonly delivered: number
  readonly failed: number
  readonly pending: number
}

export interface DeliveryQuery {
  readonly tenantId: string
  readonly status?: Delivery['status']
  /** null: the bot's own receiver. */
  readonly templateId?: string | null
  readonly requestId?: string
  /** Only deliveries whose next attempt is later than this time. */
  readonly waitsAfter?: Date
  readonly oldestFirst?: boolean
  readonly limit: number
  /** The last delivery of the previous page, in the order newest first. Only older deliveries are returned. */
  readonly after?: { readonly createdAt: string; readonly deliveryId: string }
}

export interface DeliveryStore {
  insert(delivery: Delivery): Promise<void>
  find(deliveryId: string): Promise<Delivery | undefined>
  /** Reads a delivery and locks it until the transaction ends. */
  lock(deliveryId: string): Promise<Delivery | undefined>
  update(delivery: Delivery): Promise<void>
  /** Returns deliveries, the newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>
  /** Counts deliveries that ended since `since` or are pending, for each template; null: the bot's own receiver. */
  tally(tenantId: string, since: Date): Promise<ReadonlyMap<string | null, DeliveryCounts>>
  /** Counts deliveries that failed for good, up to a limit. */
  countFailed(tenantId: string, templateId: string | null, limit: number): Promise<number>
  /** Deletes deliveries that ended more than 90 days before `at`. */
  forgetOld(at: Date): Promise<void>
}
