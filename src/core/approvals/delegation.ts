import { z } from 'zod'
import type { NamingPorts } from '../naming/index.ts'
import { instant, person } from '../shared/index.ts'

/** Somebody is away, and until they are back a colleague decides what waits for them. They may still decide themselves. */
export const delegation = z.object({
  delegationId: z.uuid(),
  tenantId: z.uuid(),
  person,
  delegate: person,
  from: instant,
  until: instant,
  /** When it was ended before its time, or replaced. */
  endedAt: instant.nullable(),
})
export type Delegation = z.output<typeof delegation>

/** Some of the delegations that run: `from`: how many come before the first. */
export interface DelegationPage {
  readonly delegations: readonly Delegation[]
  readonly from: number
  readonly total: number
}
/** Who decides for whoever is away. A person has one delegation at a time. */
export interface DelegationStore {
  /**
   * Stores one, and ends the one that its person had, which it returns unless that was over already. Its caller records the end
   * in the same transaction.
   */
  put(delegation: Delegation): Promise<Delegation | undefined>
  /**
   * Ends, at this time, what a person has delegated, and returns it; undefined when there is nothing. Its caller records the end
   * in the same transaction.
   */
  end(tenantId: string, personId: string, at: string): Promise<Delegation | undefined>
  /** What a person has delegated at this time. */
  ofPerson(tenantId: string, personId: string, at: string): Promise<Delegation | undefined>
  /** What is delegated to a person at this time. */
  toPerson(tenantId: string, personId: string, at: string): Promise<Delegation[]>
  /**
   * Those that are over at this time and whose end nobody has recorded, so many of them. Each is given out once, if the
   * transaction of its caller is committed.
   */
  takeEnded(tenantId: string, at: string, most: number): Promise<Delegation[]>
  /** Those that run at this time, the first to end first; the page that has the row `from`, or the last one. */
  running(tenantId: string, at: string, page: { readonly from: number; readonly most: number }): Promise<DelegationPage>
  /** Forgets, at this time, those that would have ended long ago by themselves. */
  forgetOld(at: Date): Promise<void>
  /** Those of these people at this time, and those of their delegates, and so on. */
  reaching(tenantId: string, personIds: readonly string[], at: string): Promise<Delegation[]>
}

/** The ports that this room and the rooms above it need. */
export interface ApprovalPorts extends NamingPorts {
  readonly delegations: DelegationStore
}
