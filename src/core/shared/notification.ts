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
