import { z } from 'zod'
import type { NamingPorts } from '../naming/index.ts'
import { instant, person } from '../shared/index.ts'

/** A delegation: a colleague decides for an absent person, who may still decide too. */
export const delegation = z.object({
  delegationId: z.uuid(),
  tenantId: z.uuid(),
  person,
  delegate: person,
  from: instant,
  until: instant,
  /** When the delegation ended early or was replaced; null: it did not. */
  endedAt: instant.nullable(),
})
export type Delegation = z.output<typeof delegation>

/** A page of the current delegations. `from`: the number of delegations before the page. */
export interface DelegationPage {
  readonly delegations: readonly Delegation[]
  readonly from: number
  readonly total: number
}
/** The delegations. A person has one delegation at a time. */
export interface DelegationStore {
  /**
   * Stores a delegation. Ends the person's current delegation and returns it; the caller records this end in the same
   * transaction.
   */
  put(delegation: Delegation): Promise<Delegation | undefined>
  /**
   * Ends a person's current delegation and returns it; undefined without a delegation. The caller records this end in the same
   * transaction.
   */
  end(tenantId: string, personId: string, at: string): Promise<Delegation | undefined>
  /** Returns the delegation of a person at this time. */
  ofPerson(tenantId: string, personId: string, at: string): Promise<Delegation | undefined>
  /** Returns the delegations to a person at this time. */
  toPerson(tenantId: string, personId: string, at: string): Promise<Delegation[]>
  /**
   * Returns at most `most` delegations that are over and whose end is not recorded. Returns each delegation once, if the
   * caller's transaction is committed.
   */
  takeEnded(tenantId: string, at: string, most: number): Promise<Delegation[]>
  /** Returns the page of current delegations with the row `from`, or the last page. The first to end comes first. */
  running(tenantId: string, at: string, page: { readonly from: number; readonly most: number }): Promise<DelegationPage>
  /** Deletes delegations that ended long ago. */
  forgetOld(at: Date): Promise<void>
  /** Returns the delegations of these people at this time, those of their delegates, and so on. */
  reaching(tenantId: string, personIds: readonly string[], at: string): Promise<Delegation[]>
}

/** The ports that this room and the rooms above it need. */
export interface ApprovalPorts extends NamingPorts {
  readonly delegations: DelegationStore
}
