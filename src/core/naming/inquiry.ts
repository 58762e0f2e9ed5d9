import type { Context, Fault, HeldAddress } from '../shared/index.ts'
import type { Template, TemplatePorts, TokenValues } from '../templates/index.ts'
import type { Around } from './naming.ts'

/** Stores the numbers of names with a `{counter}`, one series for each `scope`; 0 before the first. */
export interface NameCounters {
  last(tenantId: string, scope: string): Promise<number>
  /** Returns the next number and never returns it again. */
  next(tenantId: string, scope: string): Promise<number>
}

/** Holds names for open requests. */
export interface Reservations {
  /** Holds names for a request. Returns the names that another request holds. */
  reserve(tenantId: string, names: readonly string[], requestId: string): Promise<string[]>
  holder(tenantId: string, name: string): Promise<string | undefined>
  release(requestId: string): Promise<void>
}

/** A mail address of a mailbox, or the alias of a site. */
export type ResourceName = { readonly address: string } | { readonly alias: string }

/** The newest request that created a resource with a name: its requester, the end of use, and its ids in the directory. */
export interface CreatedResource {
  readonly number: number
  readonly requester: { readonly id: string }
  readonly updatedAt: string
  readonly finishedAt?: string | null | undefined
  readonly progress: {
    readonly userId?: string | undefined
    readonly groupId?: string | undefined
    readonly siteId?: string | undefined
  }
}

/** Finds the request that holds a name, or the newest request except `but` that has created a resource with this name. */
interface CreatedResources {
  find(requestId: string): Promise<Pick<CreatedResource, 'requester' | 'number'> | undefined>
  lastCreated(tenantId: string, name: ResourceName, but: string): Promise<CreatedResource | undefined>
}

export interface AddressStore {
  /** Records that these addresses were in use on a day. Only the last holder of an address is stored. */
  note(tenantId: string, day: string, held: readonly HeldAddress[]): Promise<void>
  /** Returns the last day of use of each known address, and a check of its last holder's id. */
  find(
    tenantId: string,
    keys: readonly string[],
  ): Promise<{ readonly lastDay: string; isHolder(id: string): boolean }[]>
  /** Returns the day on which all addresses were last recorded; `''` before the first. */
  notedOn(tenantId: string): Promise<string>
  /** Ends a day's round after all addresses were recorded. Deletes addresses that were last in use before `keptSince`. */
  finish(tenantId: string, day: string, keptSince: string): Promise<void>
}

/** The ports of this room and of the rooms above it. */
export interface NamingPorts extends TemplatePorts {
  readonly nameCounters: NameCounters
  readonly reservations: Reservations
  readonly addresses: AddressStore
  readonly requests: CreatedResources
}

/** The names of a request by its template's policy, and their faults. */
export interface Named {
  readonly displayName: string
  /** The typed name, if the policy changed it. */
  readonly typedName?: string
  /** The alias of a site, or the part of a mailbox's address before the `@`. */
  readonly name: string
  /** The address by the policy; `name` differs if this one is taken. */
  readonly wanted: string
  readonly passedOver: readonly string[]
  readonly around: Around
  readonly emptyTokens: readonly string[]
  /** The values of the tokens, including the counter's number. */
  readonly values: TokenValues
  readonly faults: readonly Fault[]
}

/** The context of a check with the id of the request, or of the new request. */
export interface Inquiry<Ports = NamingPorts> extends Context<Ports> {
  readonly requestId: string
  /** A failed request that this one replaces: its names are free for this one. */
  readonly replaces?: string | undefined
  /** Whether numbers are taken for good. */
  readonly isSubmission: boolean
  /** Whether a refused request also needs all other readable results. */
  readonly isPreview?: true
  /** The template, if the right to use it has been checked. */
  readonly template?: Template
  /** Whether other requests keep taking the derived names, so that the next one contains the request's id. */
  readonly crowded: boolean
}
