import { everAsked } from '../approvals/index.ts'
import type { BatchProgress, BatchQuestion } from '../batches/index.ts'
import {
  type ApprovalFacts,
  type Attention,
  attentionOf,
  type ChatRefusal,
  type Conversation,
  checkForApproval,
  type DecisionPorts,
  type LostRight,
  nothingKnown,
} from '../decisions/index.ts'
import type { ErasureNotice, RetentionNotice } from '../privacy/index.ts'
import type { Request } from '../requests/index.ts'
import {
  type CardKey,
  type CardRank,
  cardSubject,
  isForApprover,
  type Person,
  type SystemContext,
  type WebhookEvent,
} from '../shared/index.ts'
import type { LinksNotice, WaitingNotice } from './bundles.ts'
import type { DigestNotice } from './digest.ts'
import type { HealthNotice } from './health-watch.ts'
import type { CardForm } from './newest-card.ts'

/** A card about a request. `isAdmin`: its person has it because they are an admin. */
export type RequestCard = { readonly request: Request; readonly isAdmin: boolean } & (
  | { readonly kind: 'status' }
  /** `helpers`: people who can give access to a mailbox that its requester cannot open. */
  | { readonly kind: 'ready'; readonly helpers?: readonly Person[] }
  | { readonly kind: 'approval'; readonly stage: number; readonly facts: ApprovalFacts }
  | { readonly kind: 'stuck'; readonly attention: Attention }
  | { readonly kind: 'webhook'; readonly event: WebhookEvent }
)
/** A card that is not about one request. */
export type NoticeContent =
  | HealthNotice
  | RetentionNotice
  | ErasureNotice
  | DigestNotice
  | LinksNotice
  | WaitingNotice
  | BatchContent
/** A card about a batch: the question to an approver, or the progress for the requester. */
export type BatchContent = { readonly isAdmin: false } & (
  | { readonly kind: 'batch-ask'; readonly question: BatchQuestion }
  | { readonly kind: 'batch' | 'batch-end'; readonly progress: BatchProgress }
)
/** A card in one line, because a newer card of the person shows the request. */
interface MovedCard {
  readonly kind: 'moved'
  readonly request: Request
  readonly form: Exclude<CardForm, 'full'>
}
/** Replaces a card whose person has lost the right that it needs. */
export interface WithdrawnContent {
  readonly kind: 'withdrawn'
  readonly lost: LostRight
}
/** The content of a card. */
export type CardContent = RequestCard | MovedCard | NoticeContent | WithdrawnContent

/** The result of sending a card. `unknown`: sent, but the answer was lost. */
export type SendResult =
  | { readonly state: 'sent'; readonly activityId: string }
  | { readonly state: 'unknown' }
  | ChatRefusal
/** The result of updating a card. `gone`: the card does not exist any more. */
export type UpdateResult = 'updated' | 'gone' | ChatRefusal

/** The position of a card in the line of its chat. `instead`: the names of waiting cards that it replaces. */
export interface CardPlace {
  readonly rank: CardRank
  readonly instead?: readonly string[] | undefined
}

/** Puts cards into chats; filled by the bot, which renders the content. */
export interface Outbox {
  /**
   * Sends a card; `name` distinguishes it from others that wait for the same chat. Throws a retryable `TenantError` when the
   * card certainly did not arrive and a retry makes sense, and `PutOff` when the chat has reached its limit for now.
   */
  send(conversation: Conversation, content: CardContent, name: string, place?: CardPlace): Promise<SendResult>
  /** Replaces a card that is in a chat. Throws as `send` does. */
  update(conversation: Conversation, activityId: string, content: CardContent, name: string): Promise<UpdateResult>
}

/** Returns what a card shows to a person now. Checks the facts of an approval card. */
export async function currentCard(
  context: SystemContext<DecisionPorts>,
  before: Request,
  key: CardKey,
  personId: string,
): Promise<RequestCard> {
  const { request, facts } = isForApprover(key)
    ? await checkForApproval(context, before)
    : { request: before, facts: nothingKnown }
  return requestCard(request, key, personId, context.ports.clock.now(), facts)
}

/** Returns what a card shows to a person, from the request's present state. */
export function requestCard(
  request: Request,
  key: CardKey,
  personId: string,
  now: Date,
  facts: ApprovalFacts = nothingKnown,
): RequestCard {
  const subject = cardSubject(key)
  const about = { request, isAdmin: isForAdmin(request, key, personId) }
  switch (subject.kind) {
    case 'approval':
    case 'reminder':
      return { kind: 'approval', ...about, stage: subject.stage, facts }
    case 'webhook':
      return { kind: 'webhook', ...about, event: subject.event }
    case 'stuck': {
      const attention = attentionOf(request, now)
      return attention ? { kind: 'stuck', ...about, attention } : { kind: 'status', ...about }
    }
    case 'outcome':
      return { kind: subject.state === 'succeeded' ? 'ready' : 'status', ...about }
    // The status card shows delays and deadlines itself.
    case 'status':
    case 'earlier':
    case 'late':
    case 'warning':
    case 'address':
      return { kind: 'status', ...about }
  }
}

/**
 * Whether a person has a card because they are an admin. Besides the requester only admins get a card about an end or a delay,
 * and a person without a role in the request can open a status card only as an admin.
 */
function isForAdmin({ requester, approvals }: Request, key: CardKey, personId: string): boolean {
  const { kind } = cardSubject(key)
  if (kind === 'stuck') return true
  if (personId === requester.id || isForApprover(key)) return false
  return kind === 'outcome' || kind === 'late' || !everAsked(approvals).some(({ id }) => id === personId)
}
