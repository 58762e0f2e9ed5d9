import { z } from 'zod'
import type { KnownPerson } from '../audit/index.ts'
import type { ExplanationPorts } from '../explanations/index.ts'
import type { Request } from '../requests/index.ts'
import type { Person } from '../shared/index.ts'
import type { ExportTickets } from './export-link.ts'
import type { ExportedEntry, UnreadableRequest } from './export-rows.ts'

/** What was submitted, or written, from one moment on and before another. */
export interface ExportQuery {
  readonly tenantId: string
  readonly from: Date
  readonly before: Date
}

/** Reads much, a page at a time, in the order of time. */
export interface ExportSource {
  count(query: ExportQuery): Promise<{ readonly requests: number; readonly entries: number }>
  requests(query: ExportQuery): AsyncIterable<readonly (Request | UnreadableRequest)[]>
  entries(query: ExportQuery): AsyncIterable<readonly ExportedEntry[]>
}

/** One thing that is stored of a person, and in which table. */
export interface PersonRecord {
  readonly table: string
  readonly record: unknown
}

/** What the store as a whole holds of a person. */
export interface PersonStore {
  /** Whoever has this id, or this sign-in name, as the store knows them: also who has left the organisation. */
  known(tenantId: string, idOrAddress: string): Promise<Person[]>
  /** Every name and sign-in name that the store has beside this id. */
  namesOf(tenantId: string, personId: string): Promise<string[]>
  /** All that is stored of a person, table by table, a page at a time; never a secret. It has all that {@link forget} changes. */
  records(tenantId: string, person: KnownPerson): AsyncIterable<readonly PersonRecord[]>
  /** Ids of the requests in which they stand, those that they sent among them. */
  requestsWith(tenantId: string, person: KnownPerson): Promise<string[]>
  /** Ids of requests of others that have not ended and would be made with their account, the first ones. */
  openWith(tenantId: string, personId: string): Promise<string[]>
  /** Forgets what is theirs alone, and takes their name out of copies; of requests and the audit it touches nothing. */
  forget(tenantId: string, person: KnownPerson): Promise<Omit<ErasureCounts, 'requests' | 'entries'>>
}

/** Finds what has ended long ago and still has its details. */
export interface RetentionStore {
  /** Ids of requests that ended before this moment, the first that ended first, without these. */
  due(query: {
    readonly tenantId: string
    readonly before: Date
    readonly but: readonly string[]
    readonly limit: number
  }): Promise<string[]>
  /** Forgets what hangs on a request that has ended: where its cards are, its draft, the webhooks that were sent of it. */
  forgetParts(requestId: string): Promise<void>
}

/** How much of each was removed, or is kept without their name. */
export const erasureCounts = z.object({
  /** Those that they had sent, and those of others that named them. */
  requests: z.int(),
  entries: z.int(),
  drafts: z.int(),
  delegations: z.int(),
  batches: z.int(),
  /** Whether there was a chat, and what was known of it. */
  chats: z.int(),
  /** Copies elsewhere: answers that were kept for a repeat, where cards are, versions of templates. */
  copies: z.int(),
})
export type ErasureCounts = z.output<typeof erasureCounts>

/** The ports that this room and the rooms above it need. */
export interface PrivacyPorts extends ExplanationPorts {
  readonly exports: ExportSource
  readonly exportTickets: ExportTickets
  readonly retention: RetentionStore
  readonly personData: PersonStore
}
