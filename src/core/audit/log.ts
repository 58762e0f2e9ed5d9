import type { ResourcePorts } from '../resources/index.ts'
import { type Actor, asPerson, type Person } from '../shared/index.ts'
import type { AuditEntry, AuditedState } from './chain.ts'
import type { Proof } from './proof.ts'

export interface AuditLog {
  /**
   * Adds to the chains of requests, in the transaction of the change itself. `state`: the change that the entries
   * record.
   */
  append(entries: readonly AuditEntry[], state?: AuditedState): Promise<void>
  /** Returns the entries of a request. An entry whose text was erased has only the id of its actor. */
  timeline(requestId: string): Promise<AuditEntry[]>
  /** Returns the chain of a request and its errors; undefined if the store knows nothing about the request. */
  prove(requestId: string): Promise<Proof | undefined>
  /**
   * Erases the texts of all entries by or about a person, found by id, name or address, and records the erasure.
   * Returns the number of entries. The proof stays.
   */
  erase(person: KnownPerson, at: Date): Promise<number>
}

/** A person with their other names: former names and sign-in names, and mail addresses. */
export interface KnownPerson extends Person {
  readonly alsoKnownAs?: readonly string[]
}

/** The ports that this room and the rooms above it need. */
export interface AuditPorts extends ResourcePorts {
  readonly audit: AuditLog
}

/** Actions that are not about a single request. The catalogue has a text for each. */
export const organisationActions = [
  'template-switched',
  'template-written',
  'exported',
  'export-read',
  'person-exported',
  'delegation-started',
  'delegation-ended',
  'erasure-ordered',
  'erasure-begun',
  'erasure-stopped',
  'person-erased',
  'webhook-tested',
  'webhook-switched-on',
  'webhook-all-replayed',
  'webhook-waiting-sent',
  'certificate-read',
  'audit-key-replaced',
  'jobs-taken-over',
  'job-replayed',
  'job-dismissed',
] as const
export type OrganisationAction = (typeof organisationActions)[number]

/**
 * Records an action that is not about a single request. These entries have their own chain, whose id is the tenant's:
 * sealed and proved like the chain of a request. Call it in the transaction of the change itself, if it has one.
 */
export async function auditAct(
  ports: Pick<AuditPorts, 'audit' | 'clock'>,
  actor: Actor,
  action: OrganisationAction,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  await auditFact(ports, actor.tenantId, asPerson(actor), action, data)
}

/** Records such an action, also one of the service itself. */
export async function auditFact(
  { audit, clock }: Pick<AuditPorts, 'audit' | 'clock'>,
  tenantId: string,
  actor: AuditEntry['actor'],
  action: OrganisationAction,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const at = clock.now().toISOString()
  await audit.append([{ requestId: tenantId, tenantId, at, actor, action, data: { ...data } }])
}
