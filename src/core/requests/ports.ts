import type { ApprovalPorts } from '../approvals/index.ts'
import type { ResourceName } from '../naming/index.ts'
import type { CardKey, NoticeKey, RequestState, ResourceKind } from '../shared/index.ts'
import type { DeliveryStore } from './events.ts'
import type { Request } from './request.ts'

/** The ports that this room and the rooms above it need. */
export interface RequestPorts extends ApprovalPorts {
  readonly requests: RequestStore
  readonly deliveries: DeliveryStore
  readonly sentCards: SentCards
  readonly conversations: ConversationStore
}

export interface RequestQuery {
  readonly tenantId: string
  readonly requesterId?: string
  /** Only requests whose open stage waits for this person. */
  readonly approverId?: string
  readonly status?: RequestState | readonly RequestState[]
  readonly kind?: ResourceKind
  readonly limit: number
  /** The smallest number first. */
  readonly oldestFirst?: boolean
  /** Only requests whose resource exists and is not announced. */
  readonly unannounced?: boolean
  /** Only what somebody should look at: it has stood in its state, as `sinceOf` counts, since then or longer. */
  readonly stoodSince?: Date
  /** Only requests with a smaller number than this, which newest first come after it; or only those with a larger one. */
  readonly before?: number
  readonly after?: number
}

/** Before which moments a request must have come into its state to be past the deadline of it. */
interface OverdueQuery {
  readonly tenantId: string
  readonly queuedBefore: Date
  readonly provisioningBefore: Date
  readonly askedBefore: Date
  /** Created but not announced. */
  readonly madeBefore: Date
  /** Ids of requests that are not overdue while they are queued: their job is on its way. */
  readonly underWay: readonly string[]
  readonly limit: number
}

export interface RequestStore {
  /**
   * Stores a new request under the tenant's next number, and returns it so; undefined when the id is known already: the
   * same draft was submitted before. From here to the end of the transaction the tenant's submissions wait for each other.
   */
  insert<R extends Request>(request: R): Promise<R | undefined>
  find(requestId: string): Promise<Request | undefined>
  findByNumber(tenantId: string, number: number): Promise<Request | undefined>
  /** Reads and locks until the transaction ends. */
  lock(requestId: string): Promise<Request | undefined>
  /** Writes the next version; throws when somebody else wrote first. */
  update(request: Request): Promise<void>
  list(query: RequestQuery): Promise<Request[]>
  /** The newest request, without this one, that has created something of this name. */
  lastCreated(tenantId: string, name: ResourceName, but: string): Promise<Request | undefined>
  /** Where these stand, those of them that there are, without reading them whole. */
  standing(requestIds: readonly string[]): Promise<Pick<Request, 'requestId' | 'status' | 'submittedAt' | 'queuedAt'>[]>
  /** The present versions of these, those of them that there are. */
  versions(requestIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** How many there are of them, up to a limit. As long as the count is: without one ask for those that do not pile up. */
  count(query: Omit<RequestQuery, 'limit'> & { readonly limit?: number }): Promise<number>
  /**
   * Requests past the deadline of their state, the oldest first, without those of whose standing the timeline has said
   * `overdue` since: for an approval ever, for all others within the deadline. Bodies are not read, so that one which
   * cannot be read hides no other.
   */
  overdue(query: OverdueQuery): Promise<Pick<Request, 'requestId' | 'version'>[]>
  /** Ids of requests that wait for a decision, the oldest first, without these. */
  waitingBut(tenantId: string, requestIds: readonly string[], limit: number): Promise<string[]>
  countOpen(tenantId: string, requesterId: string): Promise<number>
  /** The person's requests with this fingerprint that were submitted since then, the newest first. */
  sentSince(query: {
    readonly tenantId: string
    readonly requesterId: string
    readonly fingerprint: string
    readonly since: Date
  }): Promise<Request[]>
  /** How many requests of a template are in one of these states, without those named; `most` of them at most. */
  countOfTemplate(query: {
    readonly tenantId: string
    readonly templateId: string
    readonly requesterId?: string
    readonly states: readonly RequestState[]
    readonly but: readonly string[]
    readonly most: number
  }): Promise<number>
  /**
   * How many requests of the tenant are in each of these states; a state that none is in is left out. As long as the count
   * is: ask for those that do not pile up.
   */
  countByState(tenantId: string, states: readonly RequestState[]): Promise<Partial<Record<RequestState, number>>>
}

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

/** How long a sending can take, in milliseconds. A sending that started earlier has failed. */
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
