import type { ChatRefusal, Conversation } from '../decisions/index.ts'
import type { SenderChange, SentCard } from '../requests/index.ts'
import type { JobPayload, PutOff } from '../shared/index.ts'
import type { CardContent, CardPlace, SendResult } from './outbox.ts'
import type { NoticeOrder } from './ports.ts'

/** One card for one person: about a request, or a notice about no one request. */
export type CardOrder = RequestCardOrder | NoticeOrder
export type RequestCardOrder = Omit<JobPayload<'notify'>, 'v'>

/** The differences between the two kinds of cards. */
export interface Card {
  readonly tenantId: string
  /** Distinguishes the card from others that wait for the same chat. */
  readonly name: string
  /** The record that it is on its way or sent; absent: neither. */
  sent(): Promise<Pick<SentCard, 'state' | 'updatedAt' | 'job'> | undefined>
  /**
   * Writes the record before the card is sent, and returns the content to send. Undefined: there is a record already, so that
   * only one of two jobs sends, or nothing to show any more.
   */
  claim(conversation: Conversation, content: CardContent): Promise<CardContent | undefined>
  /** Stores that this job sends it from now on; false: another job sends it, or has sent it. */
  takeOver(change: Omit<SenderChange, 'to'>): Promise<boolean>
  /** Deletes this job's record of a card that certainly did not arrive. Keeps that of a card which a later attempt has sent. */
  release(): Promise<void>
  /** Records that it was sent. `unknown`: it may have arrived, and is not sent again. */
  keep(conversation: Conversation, result: Exclude<SendResult, ChatRefusal>): Promise<void>
  /** Records that the chat does not accept it. */
  refused(conversation: Conversation, refusal: Pick<ChatRefusal, 'why' | 'closed'>): Promise<void>
  /** Its present content; undefined: it is out of date. */
  content(): Promise<CardContent | undefined>
  /** Whether the app is installed for its person, if they have no chat with the bot. */
  readonly installs: boolean
  /** Whether the person has the right to see it. */
  isAllowed(): Promise<boolean>
  /** Called when it was sent before. */
  wasSent(state: SentCard['state']): Promise<void>
  /** Returns the position of the card in the line of its chat. */
  place(): Promise<CardPlace>
  /** Called when the chat has no room. Returns true if another card replaces this one. */
  isReplaced(conversation: Conversation, full: PutOff): Promise<boolean>
  /** Updates another card of the person instead of sending again; false: the person has no other card. */
  updateInstead(conversation: Conversation): Promise<boolean>
}
