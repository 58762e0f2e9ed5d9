import type { CardKey } from '../shared/events.ts'

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
