import { z } from 'zod'
import { type Context, defineUseCase, notFound } from '../shared/index.ts'
import { type AuditEntry, auditActor } from './chain.ts'
import type { AuditPorts } from './log.ts'
import type { Finding, Proof } from './proof.ts'
import { findingKinds } from './proof.ts'

/** An entry for admins: its content and its proof. */
const auditLine = z.object({
  entry: z.int(),
  at: z.string(),
  actor: auditActor,
  action: z.string(),
  comment: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  /** `chat`, `rest`, `job`, `command line`; `migration`: written before entries were chained. */
  from: z.string(),
  /** The `X-Request-Id` of the call, or the id of the job. */
  traceId: z.string().nullable(),
  version: z.int().nullable(),
  /** The text was erased: the actor is only an id, unless another entry of the chain names them. */
  erased: z.boolean(),
  digest: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  hash: z.string(),
})
export const auditReport = z.object({
  requestId: z.uuid(),
  reference: z.string().nullable(),
  /** Whether all entries are unchanged and complete, and no entry was added. */
  proved: z.boolean(),
  findings: z.array(z.object({ kind: z.enum(findingKinds), entry: z.int().nullable(), detail: z.string() })),
  entries: z.array(auditLine),
})
/** The report inside the core: with the reasons of findings instead of their texts. */
export type AuditReport = Omit<z.output<typeof auditReport>, 'findings'> & { readonly findings: readonly Finding[] }

/** Returns the chain of a request in the actor's tenant and its proof. The request may be deleted or unreadable. */
export const readAudit = defineUseCase({
  permission: 'audit.read',
  input: z.object({ requestId: z.string() }),
  async handle({ ports, actor }: Context<AuditPorts>, { requestId }): Promise<AuditReport> {
    const proof = await ports.audit.prove(requestId)
    if (!proof || proof.tenantId !== actor.tenantId) throw notFound()
    return showAudit(proof)
  },
})

/** Returns the entries that are not about a single request, and their proof. Without entries there are no findings. */
export const readOrganisationAudit = defineUseCase({
  permission: 'audit.read',
  input: z.object({}),
  async handle({ ports, actor: { tenantId } }: Context<AuditPorts>): Promise<AuditReport> {
    const proof = await ports.audit.prove(tenantId)
    return showAudit(proof ?? { requestId: tenantId, tenantId, reference: undefined, entries: [], findings: [] })
  },
})

/** Returns a proof for admins. A name from one entry of a chain also identifies the actor of entries without text. */
export function showAudit({ requestId, reference, entries, findings }: Proof): AuditReport {
  const named = new Map(
    entries.flatMap(({ content }) => {
      const actor = content?.actor
      return actor && isNamed(actor) ? [[actor.id, actor] as const] : []
    }),
  )
  return {
    requestId,
    reference: reference ?? null,
    proved: findings.length === 0,
    findings,
    entries: entries.map(({ seq, actorId, trace, content, ...facts }) => {
      const { at, action, from, version, digest, before, after, hash } = facts
      const nameless = { id: actorId, displayName: '', userPrincipalName: '' }
      const knownActor = actorId === 'system' ? { kind: 'system' as const } : (named.get(actorId) ?? nameless)
      return {
        entry: seq,
        at,
        action,
        from,
        traceId: trace,
        version,
        erased: content === undefined,
        actor: content && (isNamed(content.actor) || !('id' in content.actor)) ? content.actor : knownActor,
        ...(content?.comment !== undefined && { comment: content.comment }),
        ...(content?.data !== undefined && { data: content.data }),
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
