import { z } from 'zod'
import { type Context, defineUseCase, notFound } from '../shared/index.ts'
import { type AuditEntry, auditActor } from './chain.ts'
import type { AuditPorts } from './log.ts'
import type { Finding, Proof } from './proof.ts'
import { findingKinds } from './proof.ts'

/** An entry for admins: what it says, and what proves it. */
const auditLine = z.object({
  entry: z.int(),
  at: z.string(),
  actor: auditActor,
  action: z.string(),
  comment: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  /** `chat`, `rest`, `job`, `command line`; `migration`: it was there before entries were chained. */
  from: z.string(),
  /** The `X-Request-Id` of the call, or the id of the job. */
  traceId: z.string().nullable(),
  version: z.int().nullable(),
  /** Somebody had the words erased: who is an id alone, unless another entry of the chain names them. */
  erased: z.boolean(),
  digest: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  hash: z.string(),
})
export const auditReport = z.object({
  requestId: z.uuid(),
  reference: z.string().nullable(),
  /** Whether every entry is as it was written, none is missing and none came in between. */
  proved: z.boolean(),
  findings: z.array(z.object({ kind: z.enum(findingKinds), entry: z.int().nullable(), detail: z.string() })),
  entries: z.array(auditLine),
})
/** The report in the core: with the reasons of findings instead of their sentences. */
export type AuditReport = Omit<z.output<typeof auditReport>, 'findings'> & { readonly findings: readonly Finding[] }

/** The chain of a request of the actor's tenant, and whether it proves. The request itself may be gone, or unreadable. */
export const readAudit = defineUseCase({
  permission: 'audit.read',
  input: z.object({ requestId: z.string() }),
  async handle({ ports, actor }: Context<AuditPorts>, { requestId }): Promise<AuditReport> {
    const proof = await ports.audit.prove(requestId)
    if (!proof || proof.tenantId !== actor.tenantId) throw notFound()
    return showAudit(proof)
  },
})

/** What was done that is about no one request. Before the first of it there is nothing that could be wrong. */
export const readOrganisationAudit = defineUseCase({
  permission: 'audit.read',
  input: z.object({}),
  async handle({ ports, actor: { tenantId } }: Context<AuditPorts>): Promise<AuditReport> {
    const proof = await ports.audit.prove(tenantId)
    return showAudit(proof ?? { requestId: tenantId, tenantId, reference: undefined, entries: [], findings: [] })
  },
})

/** A proof as it is shown. Whoever has a name in one entry of a chain has it in those, too, whose words were erased. */
export function showAudit({ requestId, reference, entries, findings }: Proof): AuditReport {
  const named = new Map(
    entries.flatMap(({ said }) => {
      const actor = said?.actor
      return actor && isNamed(actor) ? [[actor.id, actor] as const] : []
    }),
  )
  return {
    requestId,
    reference: reference ?? null,
    proved: findings.length === 0,
    findings,
    entries: entries.map(({ seq, actorId, trace, said, ...facts }) => {
      const { at, action, from, version, digest, before, after, hash } = facts
      const nameless = { id: actorId, displayName: '', userPrincipalName: '' }
      const whoever = actorId === 'system' ? { kind: 'system' as const } : (named.get(actorId) ?? nameless)
      return {
        entry: seq,
        at,
        action,
        from,
        traceId: trace,
        version,
        erased: said === undefined,
        actor: said && (isNamed(said.actor) || !('id' in said.actor)) ? said.actor : whoever,
        ...(said?.comment !== undefined && { comment: said.comment }),
        ...(said?.data !== undefined && { data: said.data }),
        digest,
        before,
        after,
        hash,
      }
    }),
  }
}

const isNamed = (actor: AuditEntry['actor']): actor is Extract<AuditEntry['actor'], { id: string }> =>
  'id' in actor && actor.displayName !== ''
