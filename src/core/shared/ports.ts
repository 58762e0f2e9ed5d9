import type { Directory } from './directory.ts'
import type { JobName, JobOrder } from './events.ts'
import type { Telemetry } from './telemetry.ts'

/** What the core needs of the world. `app/` fills these ports with the other layers; tests fill them with loud fakes. */

export interface Clock {
  now(): Date
}

/** Store changes that stand or fall together. SQL only: an outgoing call inside one throws. */
export interface UnitOfWork {
  transaction<T>(work: () => Promise<T>): Promise<T>
  /** Runs when the transaction around it has committed, and never if it does not; at once where there is none. */
  afterCommit?(tell: () => void): void
}

/** Limits of use, for work that does not come by REST: turns of a batch, which wait, and forms in chat. */
export interface LimitsOfUse {
  /**
   * Counts one write of somebody, if one is left, and leaves some for what they do by hand: `againInMilliseconds` is when the next
   * should be, 0 = at once.
   */
  takeWrite(caller: { readonly tenantId: string; readonly id: string }): Promise<{
    readonly taken: boolean
    readonly againInMilliseconds: number
  }>
  /** Counts reads of somebody: 0 = they are counted, else in how many seconds to try again. */
  takeReads(caller: { readonly tenantId: string; readonly id: string }, cost: number): Promise<number>
}

export interface Jobs {
  /** Inside a transaction the job comes to be with it. */
  enqueue(orders: readonly JobOrder[]): Promise<void>
  /** When the next job of this name is due, of each of these requests that has one which is not at work. */
  dueAt(name: JobName, requestIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
}

/** The ports that this room and the rooms above it need. */
export interface SharedPorts {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly jobs: Jobs
  readonly limitsOfUse: LimitsOfUse
  readonly directory: Directory
  readonly telemetry?: Telemetry
}
