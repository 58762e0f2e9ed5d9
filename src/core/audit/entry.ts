import { z } from 'zod'
import type { MailboxStep, SiteStep } from '../resources/index.ts'
import { instant, person, requestStates } from '../shared/index.ts'

/** Who did something: a person, or the system itself. */
export const auditActor = z.union([person, z.object({ kind: z.literal('system') })])
/** One line of a request's timeline. A state change's action is the new state (DESIGN §5). */
export const auditEntry = z.object({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  at: instant,
  actor: auditActor,
  action: z.string(),
  comment: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  /** The call that asked for it: a repeat of the same call is known by it. Not shown. */
  attempt: z.uuid().optional(),
})
export type AuditEntry = z.output<typeof auditEntry>
export const system = { kind: 'system' } as const
/** All that a timeline can tell of beside the steps: the states, and what happens within them. Cards have words for each. */
export const auditActions = [
  ...requestStates,
  'approved',
  'late',
  'delayed',
  'renamed',
  'announced',
  'overdue',
  'timed',
  'not-told',
  'reached',
  'reminded',
  'escalated',
  'warned',
  'delegated',
  'reassigned',
  'refused',
  'restarted',
  'replayed',
  'dismissed',
  'webhook-replayed',
  'text-erased',
  'reduced',
  'person-erased',
] as const
export type AuditAction = (typeof auditActions)[number] | `step:${SiteStep | MailboxStep}`
