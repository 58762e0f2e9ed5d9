import type { LostRight } from '../decisions/index.ts'
import type { OperationPorts } from '../operations/index.ts'
import type { ChatRefusal, Conversation, Request } from '../requests/index.ts'
import type { CardKey } from '../shared/index.ts'
import type { HealthWatchStore } from './health-watch.ts'
import type { NoticeContent, NoticeStore } from './notices.ts'

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

/** The ports that this room and the rooms above it need. */
export interface NotificationPorts extends OperationPorts {
  readonly notices: NoticeStore
  readonly healthWatch: HealthWatchStore
}
