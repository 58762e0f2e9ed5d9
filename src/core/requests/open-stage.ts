import {
  type ApprovalStage,
  type Delegation,
  nextLook,
  opened,
  openStage,
  realigned,
  withStage,
} from '../approvals/index.ts'
import { type AuditEntry, system } from '../audit/index.ts'
import type { JobOrder, Settings } from '../shared/index.ts'
import { askApprovers, entry, stageLook } from './change.ts'
import type { RequestPorts } from './ports.ts'
import type { Request } from './request.ts'

/** A request whose next stage's turn has come, if it has: with its times, and with those who decide for whoever is `away`. */
export function withOpenStage<R extends Request>(
  request: R,
  settings: Settings,
  away: readonly Delegation[],
  at: string,
): R {
  const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  if (!stage || stage.openedAt !== undefined) return request
  const begun = opened(stage, request.template.approval, settings.approvals, at)
  return withStage(request, realigned(begun, away, request.requester.id, at))
}

/** The line that tells who decides for whom from the first, where somebody does. */
export function toldOfOpenStage(request: Request): AuditEntry[] {
  const stage = openStage(request.approvals)
  return stage?.standIns === undefined ? [] : [delegatedNow(request, stage)]
}

/** A card for each who is asked, and the first look after the stage. */
export function jobsOfOpenStage(request: Request): JobOrder[] {
  const stage = openStage(request.approvals)
  if (!stage?.openedAt) return askApprovers(request)
  return [...askApprovers(request), ...stageLook(request, stage, nextLook(stage, stage.openedAt))]
}

/** Who of all that a request asks, now or later, is away. */
export function awayOf(
  ports: RequestPorts,
  { tenantId, approvals }: Pick<Request, 'tenantId' | 'approvals'>,
  at: string,
) {
  const people = approvals.filter(({ openedAt }) => openedAt === undefined).flatMap(({ approvers }) => approvers)
  const ids = [...new Set(people.map(({ id }) => id))]
  return ids.length === 0 ? Promise.resolve([]) : ports.delegations.reaching(tenantId, ids, at)
}

/** The line that tells who decides for whom. */
export function delegatedNow(request: Request, { stage, standIns = [] }: ApprovalStage): AuditEntry {
  const now = standIns.filter(({ why }) => why === 'delegated')
  const data = { stage, standIns: now.map(({ person, by, until }) => ({ person, insteadOf: by, until })) }
  return entry(request, system, 'delegated', { data })
}
