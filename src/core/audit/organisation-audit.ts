import type { Actor } from '../shared/index.ts'
import type { AuditEntry } from './entry.ts'
import type { AuditPorts } from './ports.ts'

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
  'certificate-read',
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
  { audit, clock }: Pick<AuditPorts, 'audit' | 'clock'>,
  { tenantId, id, displayName, userPrincipalName }: Actor,
  action: OrganisationAction,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  await noteFact({ audit, clock }, tenantId, { id, displayName, userPrincipalName }, action, data)
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
