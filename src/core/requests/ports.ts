import type { ApprovalPorts } from '../approvals/index.ts'
import type { ResourceName } from '../naming/index.ts'
import type { CardKey, RequestState, ResourceKind } from '../shared/index.ts'
import type { DeliveryStore } from './events.ts'
import type { Request } from './request.ts'

/** The ports of this room and of the rooms above it. */
export interface RequestPorts extends ApprovalPorts {
  readonly requests: RequestStore
  readonly deliveries: DeliveryStore
  readonly sentCards: SentCards
}

export interface RequestQuery {
  readonly tenantId: string
  readonly requesterId?: string
  /** Only requests whose open stage waits for this person. */
  readonly approverId?: string
  /** Only requests from the rows of this batch. */
  readonly batchId?: string | undefined
  readonly status?: RequestState | readonly RequestState[]
  readonly kind?: ResourceKind
  readonly limit: number
  /** The smallest number first. */
  readonly oldestFirst?: boolean
  /** Only requests whose resource exists and is not announced. */
  readonly unannounced?: boolean
  /** Only requests that have been in their state since this time or longer, by `sinceOf`. */
  readonly stoodSince?: Date
  /** Only requests with a smaller number (`before`) or with a larger number (`after`). */
  readonly before?: number
  readonly after?: number
}

/** The times per state: a request that entered its state before is past the deadline. */
interface OverdueQuery {
  readonly tenantId: string
  readonly queuedBefore: Date
  readonly provisioningBefore: Date
  readonly submittedBefore: Date
  /** Created but not announced. */
  readonly createdBefore: Date
  /** Requests that were created before this time have no polls any more. Each is returned only if it never was overdue. */
  readonly polledBefore: Date
  /** Ids of queued requests that are not overdue: their job is under way. */
  readonly underWay: readonly string[]
  readonly limit: number
}

/** Another call has just submitted a request with the same id. */
export class AlreadySubmitted extends Error {}

export interface RequestStore {
  /**
   * Stores a new request with the tenant's next number and returns it. Throws {@link AlreadySubmitted} if the id exists. The
   * tenant's other submissions wait until the transaction ends, so it must be the last statement (`work.endingWith`).
   */
  insert<R extends Request>(request: R): Promise<R>
  find(requestId: string): Promise<Request | undefined>
  findByNumber(tenantId: string, number: number): Promise<Request | undefined>
  /** Reads a request and locks it until the transaction ends. */
  lock(requestId: string): Promise<Request | undefined>
  /** Writes the next version. Throws if another change came first. */
  update(request: Request): Promise<void>
  list(query: RequestQuery): Promise<Request[]>
  /** Finds the newest request except `but` that has created a resource with this name. */
  lastCreated(tenantId: string, name: ResourceName, but: string): Promise<Request | undefined>
  /** Returns the statuses of existing requests without reading their bodies. */
  statuses(requestIds: readonly string[]): Promise<Pick<Request, 'requestId' | 'status' | 'submittedAt' | 'queuedAt'>[]>
  /** Returns the current versions of existing requests by id. */
  versions(requestIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Counts requests, up to a limit. The time grows with the count: without a limit, count only states that stay small. */
  count(query: Omit<RequestQuery, 'limit'> & { readonly limit?: number }): Promise<number>
  /**
   * Returns requests past the deadline of their state, the oldest first. Leaves out requests with an `overdue` entry about this
   * state: for an approval at any time, for others within the deadline. Does not read bodies, so an unreadable one hides no other.
   */
  overdue(query: OverdueQuery): Promise<Pick<Request, 'requestId' | 'version'>[]>
  /** Returns ids of requests that wait for a decision, the oldest first, without these. */
  waitingBut(tenantId: string, requestIds: readonly string[], limit: number): Promise<string[]>
  /**
   * Counts a person's open requests. The rows of a batch that wait for approval count as one: they ask with one card. Those
   * of the batch `but` do not count.
   */
  countOpen(tenantId: string, requesterId: string, but?: string): Promise<number>
  /** Returns a person's requests with this fingerprint since `since`, except `but`, the newest first. */
  sentSince(query: {
    readonly tenantId: string
    readonly requesterId: string
    readonly fingerprint: string
    readonly since: Date
    readonly but: string
  }): Promise<Request[]>
  /** Counts requests of a template in these states, without `but` and those whose resource is gone, up to `most`. */
  countOfTemplate(query: {
    readonly tenantId: string
    readonly templateId: string
    readonly requesterId?: string
    readonly states: readonly RequestState[]
    readonly but: readonly string[]
    readonly most: number
  }): Promise<number>
  /**
   * Counts the tenant's requests in each of these states and omits empty states. The time grows with the count: use it only for
   * states that stay small.
   */
  countByState(tenantId: string, states: readonly RequestState[]): Promise<Partial<Record<RequestState, number>>>
}

/**
 * A card of ours in a chat. An old `sending` means that its arrival is unknown. `withdrawn`: the person has lost the right to the
 * card, so it shows nothing and gets no updates. `bundled`: the card of its bundle replaces it, so it is not sent.
 */
export interface SentCard {
  readonly requestId: string
  readonly personId: string
  readonly key: CardKey
  readonly conversationId: string
  readonly activityId: string | null
  readonly state: 'sending' | 'sent' | 'unknown' | 'withdrawn' | 'bundled'
  /** The last change of the state; the store sets it. */
  readonly updatedAt?: Date
  /** The bundle whose card replaces this one. */
  readonly bundleId?: string
  /** The form of the request that the card shows; absent: unknown. */
  readonly shown?: string
  /** The job that sends it, while it is `sending`. Absent: an earlier version wrote the record. */
  readonly job?: string
}

/** The change of the job that sends a card. */
export interface SenderChange {
  /** The present job: equal to `to` if it begins to send again. Undefined: an earlier version did not store it. */
  readonly from: string | undefined
  readonly to: string | undefined
  /** The change is made only if `from` began to send before this time. */
  readonly begunBefore?: Date | undefined
}

export interface SentCards {
  ofRequest(requestId: string): Promise<SentCard[]>
  find(requestId: string, personId: string, key: CardKey): Promise<SentCard | undefined>
  /** Stores a card before it is sent. Returns false if it exists, so that only one of two processes sends it. */
  claim(card: SentCard): Promise<boolean>
  /** Like the function of notices with this name. */
  takeOver(card: Pick<SentCard, 'requestId' | 'personId' | 'key'>, change: SenderChange): Promise<boolean>
  /** Like the function of notices with this name. */
  release(card: Pick<SentCard, 'requestId' | 'personId' | 'key'>, job: string | undefined): Promise<void>
  put(card: SentCard): Promise<void>
  /**
   * Stores the cards of a bundle, which replaces them. Leaves out cards that exist, so that only one of two processes sends them;
   * withdrawn cards count as not sent. Returns the requests of the stored cards.
   */
  bundle(cards: readonly SentCard[]): Promise<string[]>
  /** Stores the form that a card now shows. Changes nothing if another activity has become the card. */
  noteShown(card: SentCard, shown: string): Promise<void>
  /** Stores that this activity no longer shows a person's card of the request. Nothing updates it then. */
  forgetActivity(card: { requestId: string; personId: string; activityId: string }): Promise<void>
  remove(requestId: string, personId: string, key: CardKey): Promise<void>
  /** Returns the cards of a bundle. */
  ofBundle(bundleId: string): Promise<SentCard[]>
  /** Deletes the records of the cards that a bundle replaces, and returns them. */
  dropBundle(bundleId: string): Promise<SentCard[]>
  /** Returns the cards of a person about these requests. */
  ofPerson(personId: string, requestIds: readonly string[]): Promise<SentCard[]>
  /**
   * Returns the requests of a person that have been announced since a time and whose ready card is neither sent nor being
   * sent, the oldest first.
   */
  unsentLinks(query: { tenantId: string; personId: string; since: Date; most: number }): Promise<string[]>
  /** Returns how many links can still join a person's waiting bundles that began after a time, with `most` links in each. */
  roomInBundles(query: { tenantId: string; personId: string; since: Date; most: number }): Promise<number>
}
