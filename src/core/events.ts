import { createHash } from 'node:crypto'
import { z } from 'zod'
import { decision, overrideOf } from './approval-stage.ts'
import { type CardKey, cardKey, type NoticeKey, noticeKey } from './notification.ts'
import {
  isForMailbox,
  type Request,
  type RequestState,
  type RequestStep,
  referenceOf,
  requestStates,
} from './request.ts'
import { instant, person } from './resource.ts'
import { eventTypes } from './template.ts'

/** Who did something: a person, or the system itself. */
export const auditActor = z.union([person, z.object({ kind: z.literal('system') })])
/** One line of a request's timeline. A state change's action is the new state (DESIGN §5). */
export const auditEntry = z.object({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  at: instant,
  actor: auditActor,
  action: z.string(),
  comment: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  /** The call that asked for it: a repeat of the same call is known by it. Not shown. */
  attempt: z.uuid().optional(),
})
export type AuditEntry = z.output<typeof auditEntry>
export const system = { kind: 'system' } as const

/** All that a timeline can tell of beside the steps: the states, and what happens within them. Cards have words for each. */
export const auditActions = [
  ...requestStates,
  'approved',
  'late',
  'announced',
  'overdue',
  'timed',
  'not-told',
  'reached',
  'reminded',
  'escalated',
  'warned',
  'delegated',
  'reassigned',
  'refused',
  'restarted',
  'replayed',
  'dismissed',
  'webhook-replayed',
  'text-erased',
  'reduced',
  'person-erased',
] as const
export type AuditAction = (typeof auditActions)[number] | `step:${RequestStep['name']}`

const v = z.literal(1)
/** The payload of every job: versioned, and thin, since the store is read when the job runs. */
export const jobPayloads = {
  /** Runs the steps of a queued request. */
  provision: z.object({ v, requestId: z.uuid() }),
  /** One look into the directory for the provisioned group; `look` counts from 0. */
  'follow-up': z.object({ v, requestId: z.uuid(), look: z.int().min(0) }),
  /** Sends one card to one person, once. */
  notify: z.object({ v, requestId: z.uuid(), personId: z.uuid(), card: cardKey }),
  /** Tells each admin, by a `notify` of the same card. */
  'notify-admins': z.object({ v, requestId: z.uuid(), card: cardKey }),
  /** Sends one card that tells of no one request to one person, once. */
  tell: z.object({ v, tenantId: z.uuid(), personId: z.uuid(), notice: noticeKey }),
  /** Tells each admin, by a `tell` of the same card. */
  'tell-admins': z.object({ v, notice: noticeKey }),
  /** Sends what a person has missed whose chat has just become known. */
  'catch-up': z.object({ v, tenantId: z.uuid(), personId: z.uuid() }),
  /** Brings the cards of a request that are already in chats to its present state; `personId`: only that person's. */
  'refresh-cards': z.object({
    v,
    requestId: z.uuid(),
    version: z.int(),
    cards: z.enum(['all', 'status']),
    personId: z.uuid().optional(),
  }),
  /** Looks for requests past the deadline of their state; `turn` counts minutes. */
  watchdog: z.object({ v, turn: z.int() }),
  /** Checks the health of the service; `turn` counts turns of the watch. */
  'health-watch': z.object({ v, turn: z.int() }),
  /** Deletes old data; `turn` counts hours. */
  housekeeping: z.object({ v, turn: z.int() }),
  /** Orders the summaries whose hour has come; `turn` counts quarters of an hour. */
  digest: z.object({ v, turn: z.int() }),
  /** One look after a stage that waits for approvers; it orders the next. */
  'tend-approval': z.object({ v, requestId: z.uuid(), stage: z.int().min(1) }),
  /** Brings what waits for a person in line with who is away. */
  'realign-approvals': z.object({ v, tenantId: z.uuid(), personId: z.uuid() }),
  /** Submits rows of a batch until it has to wait; it orders the next turn. */
  'run-batch': z.object({ v, batchId: z.uuid(), turn: z.int().min(0) }),
  /** Removes what is known of a person; `by` is told when it is done. */
  'erase-person': z.object({ v, tenantId: z.uuid(), personId: z.uuid(), by: z.uuid(), erasureId: z.uuid() }),
  /** One attempt to deliver one webhook. */
  'deliver-webhook': z.object({ v, deliveryId: z.uuid(), attempt: z.int().min(0) }),
} as const
export type JobName = keyof typeof jobPayloads
export type JobPayload<N extends JobName> = z.output<(typeof jobPayloads)[N]>
/** A job to enqueue. The same id is enqueued once, however often it is asked for. */
export type JobOrder = { [N in JobName]: { name: N; payload: JobPayload<N>; id?: string; startAfter?: Date } }[JobName]

/** A UUID (version 8, RFC 9562) made of what a job is about, so asking twice is asking once. */
export function jobId(...about: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(about.join('\n')).digest('hex')
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** The order of a card about a request for one person. Ordered twice it is sent once. */
export const notifyOrder = (requestId: string, personId: string, card: CardKey): JobOrder => ({
  name: 'notify',
  payload: { v: 1, requestId, personId, card },
  id: jobId('notify', requestId, personId, card),
})

/** The order of the same card for each admin. */
export const notifyAdminsOrder = (requestId: string, card: CardKey): JobOrder => ({
  name: 'notify-admins',
  payload: { v: 1, requestId, card },
  id: jobId('notify-admins', requestId, card),
})

/** The order of a card about no one request for one person. Ordered twice it is sent once. */
export const tellOrder = (tenantId: string, personId: string, notice: NoticeKey): JobOrder => ({
  name: 'tell',
  payload: { v: 1, tenantId, personId, notice },
  id: jobId('tell', tenantId, personId, notice),
})

/** The body of a webhook (DESIGN §5): thin; whoever needs more reads the request by its id. */
export const webhookBody = z.object({
  type: z.enum(eventTypes),
  timestamp: instant,
  requestId: z.uuid(),
  tenantId: z.uuid(),
  data: z.object({
    reference: z.string(),
    kind: z.string(),
    status: z.string(),
    displayName: z.string(),
    url: z.string().optional(),
    siteId: z.string().optional(),
    groupId: z.string().nullable().optional(),
    securityGroupId: z.string().optional(),
    address: z.string().optional(),
    mailboxId: z.string().optional(),
    /** That an admin decided over the heads of the approvers: who, what and why. */
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

/** The webhook that tells of a request's present state; undefined for states nobody is told of. */
export function webhookOf(request: Request): WebhookBody | undefined {
  const { status, requestId, tenantId, kind, resource } = request
  const type = status === 'succeeded' ? provisionedEvent(request) : eventOf(status)
  if (type === undefined) return undefined
  const { by, decision, comment, at } = overrideOf(request.approvals) ?? {}
  const override = by && decision && at && { by, decision, ...(comment && { comment }), at }
  const data = {
    reference: referenceOf(request),
    kind,
    status,
    displayName: request.details.displayName,
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
  /** Who had it sent again; the schedule began anew with the attempt after `after`. */
  replays: z.array(z.object({ at: instant, by: person, after: z.int() })).optional(),
})
export type Delivery = z.output<typeof delivery>
