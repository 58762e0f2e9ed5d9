import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * What a card that the service sends is about. Jobs and the store name a card by its key, a string; this file is the only one that
 * reads keys. Each key is delivered to a person once, so it says all that tells one card from the next.
 */

/** Cards about a request. An outcome names the state, and what is stuck names its state and since when. */
export const cardKey = z.union([
  z.literal('status'),
  z.templateLiteral(['approval:', z.int()]),
  z.templateLiteral(['outcome:', z.string()]),
  z.templateLiteral(['stuck:', z.string()]),
  // To the requester and to admins: it takes longer than usual. Which start of the work it is about.
  z.templateLiteral(['late:', z.string()]),
  // To an approver who has not decided and has a card: stage, and which further one; to the requester: the stage that will expire.
  z.templateLiteral(['reminder:', z.int(), ':', z.int()]),
  z.templateLiteral(['warning:', z.int()]),
  // To admins, about a receiver of webhooks: `webhook:<event>:<since when>`.
  z.templateLiteral(['webhook:', z.enum(['undelivered', 'own', 'gone', 'failing']), ':', z.string()]),
])
export type CardKey = z.output<typeof cardKey>

/** Cards about no one request. */
export const noticeKey = z.union([
  // To the admin who ordered an erasure: the person, and the order.
  z.templateLiteral(['erased:', z.uuid(), ':', z.uuid()]),
  // To admins: the service turned red, or is well again, and since when it was red.
  z.templateLiteral(['health:', z.enum(['red', 'well']), ':', z.string()]),
  // What is open for somebody on a day of theirs, `2026-11-30`.
  z.templateLiteral(['digest:', z.string()]),
])
export type NoticeKey = z.output<typeof noticeKey>

/** What a card about a request is about. `state` is the request's state that the card was ordered for. */
export type CardSubject =
  | { readonly kind: 'status' }
  | { readonly kind: 'approval' | 'reminder' | 'warning'; readonly stage: number }
  | { readonly kind: 'outcome' | 'stuck'; readonly state: string }
  | { readonly kind: 'late' }
  | { readonly kind: 'webhook'; readonly event: WebhookEvent }

/** What happened to a receiver of webhooks. */
export type WebhookEvent = z.output<typeof webhookEvent>
const webhookEvent = z.enum(['undelivered', 'own', 'gone', 'failing'])

/** What a card about no one request is about. */
export type NoticeSubject =
  | { readonly kind: 'erased'; readonly personId: string; readonly erasureId: string }
  | { readonly kind: 'health'; readonly turned: 'red' | 'well'; readonly since: string }
  | { readonly kind: 'digest'; readonly day: string }

const cardKind = z.enum(['status', 'approval', 'reminder', 'warning', 'late', 'outcome', 'stuck', 'webhook'])
const noticeKind = z.enum(['erased', 'health', 'digest'])

/** Reads the key of a card about a request. */
export function cardSubject(key: CardKey): CardSubject {
  const [name, about = ''] = key.split(':')
  const kind = cardKind.parse(name)
  switch (kind) {
    case 'status':
    case 'late':
      return { kind }
    case 'approval':
    case 'reminder':
    case 'warning':
      return { kind, stage: Number(about) }
    case 'outcome':
    case 'stuck':
      return { kind, state: about }
    case 'webhook':
      return { kind, event: webhookEvent.parse(about) }
  }
}

/** Reads the key of a card about no one request. */
export function noticeSubject(key: NoticeKey): NoticeSubject {
  const [name, first = '', ...rest] = key.split(':')
  const kind = noticeKind.parse(name)
  // The moment in the key of a health card has colons of its own.
  const others = rest.join(':')
  switch (kind) {
    case 'erased':
      return { kind, personId: first, erasureId: others }
    case 'health':
      return { kind, turned: z.enum(['red', 'well']).parse(first), since: others }
    case 'digest':
      return { kind, day: first }
  }
}

/** Whether a card can be decided on. */
export const isForApprover = (key: CardKey): boolean => ['approval', 'reminder'].includes(cardSubject(key).kind)

/** Whether a key names the card that a resource is ready. */
export const isReadyCard = (key: string): boolean => key === 'outcome:succeeded'

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

/** A UUID (version 8, RFC 9562) made of what a job or template is about, so asking twice is asking once. */
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
