import { z } from 'zod'
import type { KnownPerson } from '../audit/index.ts'
import type { BatchPorts } from '../batches/index.ts'
import type { Request } from '../requests/index.ts'
import type { Person } from '../shared/index.ts'
import type { ExportTickets } from './export-link.ts'
import type { ExportedEntry, UnreadableRequest } from './export-rows.ts'

/** A period of submission or writing: `from` is included, `before` is not. */
export interface ExportQuery {
  readonly tenantId: string
  readonly from: Date
  readonly before: Date
}

/** Reads all requests or entries of a period in pages, in their order. */
export interface ExportSource {
  count(query: ExportQuery): Promise<{ readonly requests: number; readonly entries: number }>
  requests(query: ExportQuery): AsyncIterable<readonly (Request | UnreadableRequest)[]>
  entries(query: ExportQuery): AsyncIterable<readonly ExportedEntry[]>
}

/** A stored record about a person, and its table. */
export interface PersonRecord {
  readonly table: string
  readonly record: unknown
}

/** All stored data about a person. */
export interface PersonStore {
  /** Returns people in the store with this id or sign-in name, also those who have left the organisation. */
  known(tenantId: string, idOrAddress: string): Promise<Person[]>
  /** Returns all names and sign-in names that are stored with this id. */
  namesOf(tenantId: string, personId: string): Promise<string[]>
  /**
   * Returns all records about a person in pages, table by table, without secrets. They include all data that {@link
   * forget} changes.
   */
  records(tenantId: string, person: KnownPerson): AsyncIterable<readonly PersonRecord[]>
  /** Returns the ids of the requests that name the person, their own included. */
  requestsWith(tenantId: string, person: KnownPerson): Promise<string[]>
  /** Returns the ids of the first open requests of others that would use the person's account. */
  openWith(tenantId: string, personId: string): Promise<string[]>
  /** Deletes the person's own data, and removes their name from copies; leaves requests and the audit unchanged. */
  forget(tenantId: string, person: KnownPerson): Promise<Omit<ErasureCounts, 'requests' | 'entries'>>
}

/** When retention removes something for the first time, and what. */
export interface RetentionStart {
  /** The days after the end of a request. */
  readonly days: number
  readonly startsAt: string
  /** The number of requests at the announcement. */
  readonly count: number
}

/** Finds requests that ended long ago and still have their details. */
export interface RetentionStore {
  /** Returns the announced start; undefined: none was announced since retention is on. */
  start(tenantId: string): Promise<RetentionStart | undefined>
  /** Stores a start instead of `known`. Returns false if another process was first. */
  putStart(tenantId: string, start: RetentionStart, known: RetentionStart | undefined): Promise<boolean>
  /** Deletes the start, because retention is off. */
  forgetStart(tenantId: string): Promise<void>
  /** Counts the requests that ended before a time. */
  count(query: { readonly tenantId: string; readonly before: Date }): Promise<number>
  /** Returns the ids of requests that ended before a time, the oldest first, except `but`. */
  due(query: {
    readonly tenantId: string
    readonly before: Date
    readonly but: readonly string[]
    readonly limit: number
  }): Promise<string[]>
  /** Deletes the parts of an ended request: the addresses of its sent cards, its draft, its deliveries. */
  forgetParts(requestId: string): Promise<void>
}

/** How many records were removed, or are kept without the name. */
export const erasureCounts = z.object({
  /** Their own requests, and requests of others that named them. */
  requests: z.int(),
  entries: z.int(),
  drafts: z.int(),
  delegations: z.int(),
  batches: z.int(),
  /** Their chat with the bot. */
  chats: z.int(),
  /** Copies elsewhere: stored answers for repeated calls, sent cards, versions of templates. */
  copies: z.int(),
})
export type ErasureCounts = z.output<typeof erasureCounts>

/** The ports that this room and the rooms above it need. */
export interface PrivacyPorts extends BatchPorts {
  readonly exports: ExportSource
  readonly exportTickets: ExportTickets
  readonly retention: RetentionStore
  readonly personData: PersonStore
}
