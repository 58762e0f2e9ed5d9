import type { ResourcePorts } from '../resources/index.ts'
import type { Person } from '../shared/index.ts'
import type { AuditedState } from './chain.ts'
import type { AuditEntry } from './entry.ts'
import type { Proof } from './proof.ts'

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

/** A person with everything else that stands for them: former names and sign-in names, and mail addresses. */
export interface KnownPerson extends Person {
  readonly alsoKnownAs?: readonly string[]
}

/** The ports that this room and the rooms above it need. */
export interface AuditPorts extends ResourcePorts {
  readonly audit: AuditLog
}
