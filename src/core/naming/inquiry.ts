import type { Context, Fault, HeldAddress } from '../shared/index.ts'
import type { Template, TemplatePorts, TokenValues } from '../templates/index.ts'
import type { Around } from './naming.ts'

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

/** A mail address of a mailbox, or the alias of a site. */
export type ResourceName = { readonly address: string } | { readonly alias: string }

/** The newest request that created something of a name: who asked, until when it was in use, and what the directory shows of it. */
export interface CreatedResource {
  readonly requester: { readonly id: string }
  readonly updatedAt: string
  readonly finishedAt?: string | null | undefined
  readonly progress: {
    readonly userId?: string | undefined
    readonly groupId?: string | undefined
    readonly siteId?: string | undefined
  }
}

/** Finds the newest request, without the one named, that has created something of this name. */
export interface CreatedResources {
  lastCreated(tenantId: string, name: ResourceName, but: string): Promise<CreatedResource | undefined>
}

export interface AddressStore {
  /** Notes that these addresses were in use on a day. An address has one holder: the last. */
  note(tenantId: string, day: string, held: readonly HeldAddress[]): Promise<void>
  /** What is known of these addresses: the last day on which each was in use, and whether an id is its last holder's. */
  find(
    tenantId: string,
    keys: readonly string[],
  ): Promise<{ readonly lastDay: string; isHolder(id: string): boolean }[]>
  /** The day on which all addresses were last noted; `''` before the first. */
  notedOn(tenantId: string): Promise<string>
  /** Ends a day's round: all addresses were noted, and what was last in use before `keptSince` is forgotten. */
  finish(tenantId: string, day: string, keptSince: string): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface NamingPorts extends TemplatePorts {
  readonly nameCounters: NameCounters
  readonly reservations: Reservations
  readonly addresses: AddressStore
  readonly requests: CreatedResources
}

/** The names of a request by its template's policy, and what is wrong with them. */
export interface Named {
  readonly displayName: string
  /** What was typed, where that is another one. */
  readonly typedName?: string
  /** Of a site its alias, of a mailbox what stands before the `@`. */
  readonly name: string
  /** The address that was wanted: another one where that is taken. */
  readonly wanted: string
  readonly passedOver: readonly string[]
  readonly around: Around
  readonly emptyTokens: readonly string[]
  /** What the tokens stand for, the counter's number too. */
  readonly values: TokenValues
  readonly faults: readonly Fault[]
}

/** Who asks for what: the id that the request has or will have. */
export interface Inquiry<Ports = NamingPorts> extends Context<Ports> {
  readonly requestId: string
  /** A request that failed and that this one takes the place of: what it keeps is free for this one. */
  readonly replaces?: string | undefined
  /** Whether numbers are taken for good, not only looked at. */
  readonly isSubmission: boolean
  /** Whether as much as can be said is wanted of a request that is refused. */
  readonly isPreview?: true
  /** The template, where it was looked at already: then nobody asks again who may use it. */
  readonly template?: Template
  /** Others keep taking the names that we derive, so the next one is made of the request's id. */
  readonly crowded: boolean
}
