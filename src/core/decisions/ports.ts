import type { DraftPorts } from '../drafts/index.ts'
import type { JointDecisionStore } from './joint-decision.ts'

/** A chat that the bot knows, with its last known reference (opaque to the core). */
export interface Conversation {
  readonly tenantId: string
  readonly personId: string
  readonly conversationId: string
  /** Only the bot reads it. Null for a chat from Microsoft 365 in which the person has not written yet. */
  readonly reference: unknown
  readonly locale: string
  readonly timeZone: string
  /** The connector's error code if the chat does not accept our cards; absent = it accepts them. */
  readonly closed?: string
}
export interface ConversationStore {
  /**
   * Stores a chat as open. Returns true if it was unknown or closed before. An empty locale or time zone keeps the stored
   * one, because some activities of Teams have neither.
   */
  put(conversation: Conversation): Promise<boolean>
  /** Stores a chat of a person without one. Returns false and changes nothing if the person has a chat. */
  add(conversation: Conversation): Promise<boolean>
  /** Returns the reference of the open chat with the latest message; undefined without such a chat. */
  lastReference(tenantId: string): Promise<unknown>
  /** Marks a chat that does not accept our cards. Returns false if it is already closed or was replaced. */
  close(conversation: Conversation, why: string, at: Date): Promise<boolean>
  ofPerson(tenantId: string, personId: string): Promise<Conversation | undefined>
}

/** A chat does not accept a card for now. `closed`: it accepts no cards until the person writes to the bot again. */
export interface ChatRefusal {
  readonly state: 'undeliverable'
  /** The connector's error code, such as `ConversationBlockedByUser`. */
  readonly why: string
  readonly closed: boolean
}

/** People's choices about the digest. Without a choice, a person gets it. */
export interface DigestStore {
  choose(tenantId: string, personId: string, isOn: boolean, at: Date): Promise<void>
  /** Returns the people of these who have switched the digest off. */
  without(tenantId: string, personIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns the open chats of undecided approvers who have not switched the digest off. */
  awaited(tenantId: string): Promise<Pick<Conversation, 'personId' | 'locale' | 'timeZone'>[]>
}

/** The ports that this room and the rooms above it need. */
export interface DecisionPorts extends DraftPorts {
  readonly conversations: ConversationStore
  readonly digests: DigestStore
  readonly jointDecisions: JointDecisionStore
}
