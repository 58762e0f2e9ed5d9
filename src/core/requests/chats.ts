import type { CardKey, NoticeKey } from '../shared/index.ts'

/** What the core needs of chats: where they are, which cards are in them, and a way to put cards there. */
/**
 * A card of ours in somebody's chat. `sending` without an end means that we do not know whether it arrived. `withdrawn`: its
 * person has lost the right that it needed, so it shows nothing any more and is not updated.
 */
export interface SentCard {
  readonly requestId: string
  readonly personId: string
  readonly key: CardKey
  readonly conversationId: string
  readonly activityId: string | null
  readonly state: 'sending' | 'sent' | 'unknown' | 'withdrawn'
  /** When it was last written; the store's to say. */
  readonly updatedAt?: Date
}

/** How long a sending can take, in milliseconds: whoever began it earlier has died, or given it up. */
const longestSending = 120000
/** Whether somebody may still be sending what was last written then. */
export const isAtWork = ({ updatedAt }: { readonly updatedAt?: Date }, now: Date): boolean =>
  updatedAt !== undefined && now.getTime() - updatedAt.getTime() < longestSending

export interface SentCards {
  ofRequest(requestId: string): Promise<SentCard[]>
  find(requestId: string, personId: string, key: CardKey): Promise<SentCard | undefined>
  /** Writes a card that is about to be sent; false when it is known already, so that of two at work one sends. */
  claim(card: SentCard): Promise<boolean>
  put(card: SentCard): Promise<void>
  remove(requestId: string, personId: string, key: CardKey): Promise<void>
}

/** The chats that the bot knows, and the last known reference of each (opaque to the core). */
export interface Conversation {
  readonly tenantId: string
  readonly personId: string
  readonly conversationId: string
  /** The bot's to read; null for a chat that Microsoft 365 named and that the person has not written in. */
  readonly reference: unknown
  readonly locale: string
  readonly timeZone: string
  /** The connector's word for why the chat does not take our cards; absent = it takes them. */
  readonly closed?: string
}
export interface ConversationStore {
  /** Remembers a chat, which is open then. True when it was not known before, or was closed. */
  put(conversation: Conversation): Promise<boolean>
  /** Remembers a chat of a person who has none. False when they have one, which stays as it is. */
  add(conversation: Conversation): Promise<boolean>
  /** The reference of the open chat that the bot heard from last; undefined when it has heard from none. */
  lastReference(tenantId: string): Promise<unknown>
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

/** Which card about no one request, for whom. */
export interface NoticeOrder {
  readonly tenantId: string
  readonly personId: string
  readonly notice: NoticeKey
}
export interface SentNotice {
  /** `sending` without an end, and `unknown`: whether it arrived is not known. */
  readonly state: 'sending' | 'sent' | 'unknown'
  readonly updatedAt: Date
}
/** Which of them are on their way, or were sent. */
export interface NoticeStore {
  find(order: NoticeOrder): Promise<SentNotice | undefined>
  /** Writes one that is about to be sent; false when it is known already, so that of two at work one sends. */
  claim(order: NoticeOrder): Promise<boolean>
  put(order: NoticeOrder, state: SentNotice['state']): Promise<void>
  remove(order: NoticeOrder): Promise<void>
  forgetOld(at: Date): Promise<void>
}
