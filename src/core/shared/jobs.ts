import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * The keys of cards that the service sends. Jobs and the store name a card by its key; only this file reads keys. A person
 * gets each key once, so a key contains everything that distinguishes one card from the next.
 */

/** Cards about a request. An outcome names the state. A stuck request names its state and the time since which it is stuck. */
export const cardKey = z.union([
  z.literal('status'),
  // An activity that showed the request until a newer card of the person replaced it.
  z.templateLiteral(['earlier:', z.string()]),
  z.templateLiteral(['approval:', z.int()]),
  z.templateLiteral(['outcome:', z.string()]),
  z.templateLiteral(['stuck:', z.string()]),
  // To the requester and admins: the work takes longer than usual. Contains the start time of the work.
  z.templateLiteral(['late:', z.string()]),
  // `reminder:<stage>:<number>` to an approver with an undecided card; `warning:<stage>` to the requester before a stage expires,
  // with the number of changed addresses if there are any.
  z.templateLiteral(['reminder:', z.int(), ':', z.int()]),
  z.templateLiteral(['warning:', z.int()]),
  z.templateLiteral(['warning:', z.int(), ':', z.int()]),
  // To the requester: an address was taken during the wait. Contains the time of the check.
  z.templateLiteral(['address:', z.string()]),
  // To admins, about a receiver of webhooks: `webhook:<event>:<time>`.
  z.templateLiteral(['webhook:', z.enum(['undelivered', 'own', 'gone', 'failing']), ':', z.string()]),
])
export type CardKey = z.output<typeof cardKey>

/** How the health of the service changed. */
const healthTurn = z.enum(['red', 'more', 'less', 'well'])
export type HealthTurn = z.output<typeof healthTurn>

/** Notices: cards that are not about one request. */
export const noticeKey = z.union([
  // To the admin who ordered an erasure: the ids of the person and of the erasure.
  z.templateLiteral(['erased:', z.uuid(), ':', z.uuid()]),
  // To admins: the service turned red or is healthy again. Contains the time since which it was red. `more`: a further part
  // turned red at this time. `less`: a part is healthy again since this time, while others are red.
  z.templateLiteral(['health:', healthTurn, ':', z.string()]),
  // To admins: retention removes something for the first time. Contains the time of its start.
  z.templateLiteral(['retention:', z.string()]),
  // A person's open work on a day in their time zone, `2026-11-30`.
  z.templateLiteral(['digest:', z.string()]),
  // To the requester of a batch: its progress, and the summary at its end.
  z.templateLiteral(['batch:', z.uuid()]),
  z.templateLiteral(['batch-end:', z.uuid()]),
  // To an approver: the rows of a batch in a stage, `batch-ask:<batch>:<stage>:<reminder>`. The reminder is 0 for
  // the first card; later its day and number, `202611301`.
  z.templateLiteral(['batch-ask:', z.uuid(), ':', z.int(), ':', z.int()]),
  // One card instead of several that the limits of the chat would delay: the links of a bundle, or its waiting requests.
  z.templateLiteral(['links:', z.uuid()]),
  z.templateLiteral(['waiting:', z.uuid()]),
])
export type NoticeKey = z.output<typeof noticeKey>
export type HealthNoticeKey = Extract<NoticeKey, `health:${string}`>

/** The subject of a card about a request. `state`: the request's state for which the card was ordered. */
export type CardSubject =
  | { readonly kind: 'status' }
  | { readonly kind: 'approval' | 'reminder' | 'warning'; readonly stage: number }
  | { readonly kind: 'outcome' | 'stuck'; readonly state: string }
  | { readonly kind: 'late' | 'address' | 'earlier' }
  | { readonly kind: 'webhook'; readonly event: WebhookEvent }

/** An event at a receiver of webhooks. */
export type WebhookEvent = z.output<typeof webhookEvent>
const webhookEvent = z.enum(['undelivered', 'own', 'gone', 'failing'])

/** The subject of a notice. */
export type NoticeSubject =
  | { readonly kind: 'erased'; readonly personId: string; readonly erasureId: string }
  | { readonly kind: 'health'; readonly turned: HealthTurn; readonly since: string }
  | { readonly kind: 'retention'; readonly startsAt: string }
  | { readonly kind: 'digest'; readonly day: string }
  | { readonly kind: 'links' | 'waiting'; readonly bundleId: string }
  | BatchSubject
/** The subject of a notice about a batch. `reminder`: 0 for the first card. */
export type BatchSubject =
  | { readonly kind: 'batch' | 'batch-end'; readonly batchId: string }
  | { readonly kind: 'batch-ask'; readonly batchId: string; readonly stage: number; readonly reminder: number }

const cardKind = z.enum([
  'status',
  'earlier',
  'approval',
  'reminder',
  'warning',
  'address',
  'late',
  'outcome',
  'stuck',
  'webhook',
])
const noticeKind = z.enum([
  'erased',
  'health',
  'retention',
  'digest',
  'links',
  'waiting',
  'batch',
  'batch-end',
  'batch-ask',
])

/** Reads the key of a card about a request. */
export function cardSubject(key: CardKey): CardSubject {
  const [name, about = ''] = key.split(':')
  const kind = cardKind.parse(name)
  switch (kind) {
    case 'status':
    case 'address':
    case 'earlier':
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

/** Reads the key of a notice. */
export function noticeSubject(key: NoticeKey): NoticeSubject {
  const [name, first = '', ...rest] = key.split(':')
  const kind = noticeKind.parse(name)
  // The times in the keys of health and retention contain colons.
  const others = rest.join(':')
  switch (kind) {
    case 'erased':
      return { kind, personId: first, erasureId: others }
    case 'health':
      return { kind, turned: healthTurn.parse(first), since: others }
    case 'retention':
      return { kind, startsAt: [first, ...rest].join(':') }
    case 'digest':
      return { kind, day: first }
    case 'batch':
    case 'batch-end':
      return { kind, batchId: first }
    case 'batch-ask': {
      const [stage, reminder] = rest
      return { kind, batchId: first, stage: Number(stage), reminder: Number(reminder) }
    }
    case 'links':
    case 'waiting':
      return { kind, bundleId: first }
  }
}

/** Whether a card has the buttons to approve and reject. */
export const isForApprover = (key: CardKey): boolean => ['approval', 'reminder'].includes(cardSubject(key).kind)

/** Whether a key names the card that a resource is ready. */
export const isReadyCard = (key: string): boolean => key === 'outcome:succeeded'

const v = z.literal(1)
/** The payload of each job. It has a version and holds only ids: the job reads the rest from the store when it runs. */
export const jobPayloads = {
  /** Runs the steps of a queued request. */
  provision: z.object({ v, requestId: z.uuid() }),
  /** Retries a request, or another job by its dead letter, that failed because its process was killed in each attempt. */
  'retry-interrupted': z.union([z.object({ v, requestId: z.uuid() }), z.object({ v, letterId: z.uuid() })]),
  /** One poll of the directory for the provisioned group; `look` counts from 0. */
  'follow-up': z.object({ v, requestId: z.uuid(), look: z.int().min(0) }),
  /** Sends one card to one person, once. */
  notify: z.object({ v, requestId: z.uuid(), personId: z.uuid(), card: cardKey }),
  /** Orders a `notify` with the same card for each admin. */
  'notify-admins': z.object({ v, requestId: z.uuid(), card: cardKey }),
  /** Sends one notice to one person, once. */
  tell: z.object({ v, tenantId: z.uuid(), personId: z.uuid(), notice: noticeKey }),
  /** Orders a `tell` with the same notice for each admin. */
  'tell-admins': z.object({ v, notice: noticeKey }),
  /** Sends the missed cards to a person whose chat has just become known. */
  'catch-up': z.object({ v, tenantId: z.uuid(), personId: z.uuid() }),
  /** Updates a request's cards in chats to its current state; `personId`: only the cards of that person. */
  'refresh-cards': z.object({
    v,
    requestId: z.uuid(),
    version: z.int(),
    cards: z.enum(['all', 'status']),
    personId: z.uuid().optional(),
  }),
  /** Finds requests past the deadline of their state; `turn` counts minutes. */
  watchdog: z.object({ v, turn: z.int() }),
  /** Checks the health of the service; `turn` counts turns of the watch. */
  'health-watch': z.object({ v, turn: z.int() }),
  /** Deletes old data; `turn` counts hours. */
  housekeeping: z.object({ v, turn: z.int() }),
  /** Orders the digests that are due; `turn` counts quarters of an hour. */
  digest: z.object({ v, turn: z.int() }),
  /** Checks the timers of a stage that waits for approvers, and orders the next check. */
  'tend-approval': z.object({ v, requestId: z.uuid(), stage: z.int().min(1) }),
  /** Updates a person's open approvals after a change of their delegation. */
  'realign-approvals': z.object({ v, tenantId: z.uuid(), personId: z.uuid() }),
  /** Submits rows of a batch until it has to wait; it orders the next turn. */
  'run-batch': z.object({ v, batchId: z.uuid(), turn: z.int().min(0) }),
  /** Sends and updates the cards of a batch: to its approvers and its requester. `isCheck`: checks once more. */
  'refresh-batch': z.object({ v, tenantId: z.uuid(), batchId: z.uuid(), isCheck: z.literal(true).optional() }),
  /** Decides the requests of a joint decision. */
  'decide-jointly': z.object({ v, decisionId: z.uuid() }),
  /** Erases a person's data and then notifies the admin `by`. */
  'erase-person': z.object({ v, tenantId: z.uuid(), personId: z.uuid(), by: z.uuid(), erasureId: z.uuid() }),
  /** One attempt to deliver one webhook. */
  'deliver-webhook': z.object({ v, deliveryId: z.uuid(), attempt: z.int().min(0) }),
  /** Sends waiting deliveries of a receiver that has accepted one. `isHealthyAgain`: it failed before. */
  'send-waiting': z.object({ v, tenantId: z.uuid(), templateId: z.uuid().nullable(), isHealthyAgain: z.boolean() }),
} as const
export type JobName = keyof typeof jobPayloads
export type JobPayload<N extends JobName> = z.output<(typeof jobPayloads)[N]>
/** A job to enqueue. Orders with the same id enqueue one job. */
export type JobOrder = { [N in JobName]: { name: N; payload: JobPayload<N>; id?: string; startAfter?: Date } }[JobName]

/** Returns a UUID (version 8, RFC 9562) from the subject of a job or template, so that equal orders have equal ids. */
export function jobId(...about: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(about.join('\n')).digest('hex')
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** Returns the order of a card about a request for one person. Two equal orders send one card. */
export const notifyOrder = (requestId: string, personId: string, card: CardKey): JobOrder => ({
  name: 'notify',
  payload: { v: 1, requestId, personId, card },
  id: jobId('notify', requestId, personId, card),
})

/** Returns the order of a card about a request for each admin. */
export const notifyAdminsOrder = (requestId: string, card: CardKey): JobOrder => ({
  name: 'notify-admins',
  payload: { v: 1, requestId, card },
  id: jobId('notify-admins', requestId, card),
})

/** Returns the order of a notice for one person. Two equal orders send one notice. */
export const noticeOrder = (tenantId: string, personId: string, notice: NoticeKey): JobOrder => ({
  name: 'tell',
  payload: { v: 1, tenantId, personId, notice },
  id: jobId('tell', tenantId, personId, notice),
})

/** The changes of a batch within this time update its cards once. In milliseconds. */
const batchPause = 3000
/** Transactions of a pause commit within this time after it. In milliseconds. */
const batchMargin = 500

/** Returns the order to update the cards of a batch. All changes within a pause order one job. */
export function refreshBatchOrder(tenantId: string, batchId: string, now: Date): JobOrder {
  const pause = Math.floor(now.getTime() / batchPause)
  const startAfter = new Date((pause + 1) * batchPause + batchMargin)
  const payload = { v: 1, tenantId, batchId } as const
  return { name: 'refresh-batch', payload, id: jobId('refresh-batch', batchId, pause), startAfter }
}

/** The checks of a batch within this time are one job. In milliseconds. */
const checkPause = 10_000

/**
 * Returns the order to compare the cards of a batch with its rows once more: a transaction that took long may have committed
 * a change after the first job.
 */
export function checkBatchOrder(tenantId: string, batchId: string, now: Date): JobOrder {
  const pause = Math.floor(now.getTime() / checkPause)
  const startAfter = new Date((pause + 1.5) * checkPause)
  const payload = { v: 1, tenantId, batchId, isCheck: true } as const
  return { name: 'refresh-batch', payload, id: jobId('check-batch', batchId, pause), startAfter }
}

/**
 * The reason of an aborted signal if this process has to leave the job: the service stops, or another process has taken the
 * job over. The job runs again, so its handler records no failure.
 */
export class JobLeft extends Error {}

export const hasLeft = ({ aborted, reason }: AbortSignal): boolean => aborted && reason instanceof JobLeft
