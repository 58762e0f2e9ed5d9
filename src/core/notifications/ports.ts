import type { LostRight } from '../decisions/card-rights.ts'
import type { Request } from '../requests/request.ts'
import type { CardKey } from '../shared/events.ts'
import type { NoticeContent } from './notices.ts'

/** The chats that the bot knows, and the last known reference of each (opaque to the core). */
export interface Conversation {
  readonly tenantId: string
  readonly personId: string
  readonly conversationId: string
  readonly reference: unknown
  readonly locale: string
  readonly timeZone: string
  /** The connector's word for why the chat does not take our cards; absent = it takes them. */
  readonly closed?: string
}
export interface ConversationStore {
  /** Remembers a chat, which is open then. True when it was not known before, or was closed. */
  put(conversation: Conversation): Promise<boolean>
  /** Marks a chat that does not take our cards. False when it was closed already, or is another by now. */
  close(conversation: Conversation, why: string, at: Date): Promise<boolean>
  ofPerson(tenantId: string, personId: string): Promise<Conversation | undefined>
}

/** The chat does not take a card, and will not soon. `closed`: it takes none, until the person comes back to us. */
export interface ChatRefusal {
  readonly state: 'undeliverable'
  /** The connector's word for it, such as `ConversationBlockedByUser`. */
  readonly why: string
  readonly closed: boolean
}
/** What became of a card: `unknown` = sent, and the answer lost. */
export type SendResult =
  | { readonly state: 'sent'; readonly activityId: string }
  | { readonly state: 'unknown' }
  | ChatRefusal
/** What became of a card's new state. `gone`: there is no such card any more. */
export type UpdateResult = 'updated' | 'gone' | ChatRefusal

/** Puts cards into chats; filled by the bot, which renders the card that the key names from the request's present state. */
export interface Outbox {
  /**
   * Throws a retryable `TenantError` when the card surely did not arrive and trying again makes sense, and `PutOff` when
   * the chat was sent enough for now.
   */
  send(conversation: Conversation, request: Request, key: CardKey): Promise<SendResult>
  /** Throws as `send` does. */
  update(conversation: Conversation, activityId: string, request: Request, key: CardKey): Promise<UpdateResult>
  /** Replaces a card by a short one without data and buttons, which says what its person no longer is. Throws as `send` does. */
  withdraw(conversation: Conversation, activityId: string, lost: LostRight, what: string): Promise<UpdateResult>
  /** Sends a card that tells of no one request; `what` tells it from others that wait for the same chat. Throws as `send` does. */
  tell(conversation: Conversation, notice: NoticeContent, what: string): Promise<SendResult>
}
