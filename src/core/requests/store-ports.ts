import type { AuditedState } from '../audit/chain.ts'
import type { Proof } from '../audit/report.ts'
import type { AuditEntry, Delivery } from '../shared/events.ts'
import type { ResourceName } from '../naming/former-addresses.ts'
import type { KnownPerson } from '../privacy/known-person.ts'
import type { Request, RequestState } from './request.ts'
import type { ResourceKind } from '../resources/resource.ts'
import type { Template } from '../templates/template.ts'
import type { TemplateChange, TemplateVersion } from '../templates/version.ts'
import type { DeliveryCounts, DeliveryQuery, WebhookEndpoint } from '../webhooks/endpoint.ts'

/** What the core needs of the store, one interface for each aggregate. */

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
  /** Only what was made and of which nobody was told yet. */
  readonly unannounced?: boolean
  /** Only what somebody should look at: it has stood in its state, as `sinceOf` counts, since then or longer. */
  readonly stoodSince?: Date
  /** Only requests with a smaller number than this, which newest first come after it; or only those with a larger one. */
  readonly before?: number
  readonly after?: number
}

/** Before which moments a request must have come into its state to be past the deadline of it. */
export interface OverdueQuery {
  readonly tenantId: string
  readonly queuedBefore: Date
  readonly provisioningBefore: Date
  readonly askedBefore: Date
  /** Made, and nobody was told yet. */
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

export interface TemplateStore {
  list(tenantId: string): Promise<Template[]>
  find(tenantId: string, id: string): Promise<Template | undefined>
  /**
   * Writes a template whose version is `expected`+1; false when the stored version is another (0 = there is none). Each version
   * is kept, without its secrets, with who wrote it and when: without `change` nobody, such as the file of templates, just now.
   */
  put(tenantId: string, template: Template, expected: number, change?: TemplateChange): Promise<boolean>
  /** The versions that there were, the newest first. */
  versions(tenantId: string, id: string, limit: number): Promise<TemplateVersion[]>
  /** Forgets the secrets of webhooks that sign no more at this time. */
  forgetOld(at: Date): Promise<void>
}

export interface AuditLog {
  /** Adds to the chains of requests, in the transaction of the change itself. `state`: what the entries tell of. */
  append(entries: readonly AuditEntry[], state?: AuditedState): Promise<void>
  /** Whoever's words were erased is there by id alone. */
  timeline(requestId: string): Promise<AuditEntry[]>
  /** The chain of a request and what is wrong with it; undefined where nothing at all is known of it. */
  prove(requestId: string): Promise<Proof | undefined>
  /**
   * Erases the words of all entries that are of a person or tell of them, by id, name or address, and says so; returns how many.
   * The proof stays.
   */
  erase(person: KnownPerson, at: Date): Promise<number>
}

/** The numbers in names that have a `{counter}`, counted apart by `scope`; 0 before the first. */
export interface NameCounters {
  last(tenantId: string, scope: string): Promise<number>
  /** The next one, which nobody else gets. */
  next(tenantId: string, scope: string): Promise<number>
}

/** Names kept for requests that have not ended. */
export interface Reservations {
  /** Keeps names for a request; returns those that another one holds. */
  reserve(tenantId: string, names: readonly string[], requestId: string): Promise<string[]>
  holder(tenantId: string, name: string): Promise<string | undefined>
  release(requestId: string): Promise<void>
}

export interface DeliveryStore {
  insert(delivery: Delivery): Promise<void>
  find(deliveryId: string): Promise<Delivery | undefined>
  /** Reads and locks until the transaction ends. */
  lock(deliveryId: string): Promise<Delivery | undefined>
  update(delivery: Delivery): Promise<void>
  /** The newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>
  /** How many have ended since then, and how many are on their way, for each template; null: the bot's own. */
  tally(tenantId: string, since: Date): Promise<ReadonlyMap<string | null, DeliveryCounts>>
  /** How many have failed for good, up to a limit. */
  countFailed(tenantId: string, templateId: string | null, limit: number): Promise<number>
  /** Forgets, at this time, those that ended long ago. */
  forgetOld(at: Date): Promise<void>
}

/** How long the directory takes to show what was made; for a site that is its security group. */
export interface DirectorySightings {
  /** Keeps the first sighting of a request's group. `seconds`: since it was made. */
  note(sighting: { tenantId: string; requestId: string; seenAt: Date; seconds: number }): Promise<void>
  isNoted(requestId: string): Promise<boolean>
  /** Of what was seen since then: how much, and after how long half of it was, and 95 of 100. */
  delay(tenantId: string, since: Date): Promise<{ seen: number; p50Seconds: number; p95Seconds: number }>
  forgetOld(at: Date): Promise<void>
}

/** How receivers of webhooks do. One that nobody has stored does well. */
export interface WebhookEndpointStore {
  /** Those of the tenant that fail or are switched off, in any order. */
  troubled(tenantId: string): Promise<WebhookEndpoint[]>
  find(endpointId: string): Promise<WebhookEndpoint | undefined>
  /** Stores one that is not known yet, reads it as it is stored, and locks it until the transaction ends. */
  lock(endpoint: WebhookEndpoint): Promise<WebhookEndpoint>
  update(endpoint: WebhookEndpoint): Promise<void>
  /** Forgets how those of a template did. */
  forget(tenantId: string, templateId: string): Promise<void>
}
