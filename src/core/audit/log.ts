import type { ResourcePorts } from '../resources/index.ts'
import { type Actor, asPerson, type Person } from '../shared/index.ts'
import type { AuditEntry, AuditedState } from './chain.ts'
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

/** What is done that is about no one request; cards have words for each. */
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
 * Writes down what somebody did that is about no one request. Such entries are a chain of their own, whose id is the tenant's: sealed
 * and proved as a request's is. To be called in the transaction of the change itself, if it has one.
 */
export async function noteAct(
  ports: Pick<AuditPorts, 'audit' | 'clock'>,
  actor: Actor,
  action: OrganisationAction,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  await noteFact(ports, actor.tenantId, asPerson(actor), action, data)
}

/** The same, also of what the service did of its own accord. */
export async function noteFact(
  { audit, clock }: Pick<AuditPorts, 'audit' | 'clock'>,
  tenantId: string,
  actor: AuditEntry['actor'],
  action: OrganisationAction,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const at = clock.now().toISOString()
  await audit.append([{ requestId: tenantId, tenantId, at, actor, action, data: { ...data } }])
}
