import { z } from 'zod'
import {
  type ApprovalStage,
  alreadyDecided,
  type Decision,
  decision,
  isApproved,
  isExcluded,
  lastDecision,
  openStage,
  waitingFor,
} from '../approvals/index.ts'
import { system } from '../audit/index.ts'
import {
  authorize,
  type Change,
  entry,
  jobsOfQueued,
  notifyRequester,
  type Request,
  referenceOf,
  transition,
} from '../requests/index.ts'
import {
  type Actor,
  asPerson,
  because,
  type Context,
  defineUseCase,
  ProvisioningError,
  type Settings,
} from '../shared/index.ts'
import { refuseTakenAddress } from './address-conflict.ts'
import { changeOnce, ended, longestComment } from './decision.ts'
import { hasReassigned, otherAdmins, overridesOwn, refuseAlone } from './own-reassignment.ts'
import type { DecisionPorts } from './ports.ts'
import { auditRefusals } from './refused-attempts.ts'

/** An admin's decision and its reason, which everybody who may read the request sees. */
const input = z.object({
  requestId: z.uuid(),
  attempt: z.string().optional(),
  decision: decision.shape.decision,
  comment: z.string(),
})

/**
 * Decides a waiting request, overriding its approvers. An approval decides all open and later stages; a rejection ends the
 * request. Each decision is marked as an override. Throws `self-approval` for the admin's own request, `second-admin-needed`
 * for a part that the admin has reassigned to themselves, `comment-required` without a reason, and `already-decided` or
 * `already-ended` for a request that does not wait. A repeat of the same `attempt` returns the present request.
 */
export const override = defineUseCase({
  permission: 'request.override',
  input,
  handle: (context: Context<DecisionPorts>, order) =>
    auditRefusals(context, order.requestId, 'override', () => decideInstead(context, order)),
})

async function decideInstead(
  context: Context<DecisionPorts>,
  { requestId, decision, comment, attempt }: z.output<typeof input>,
): Promise<Request> {
  const { ports, settings, actor } = context
  const before = await ports.requests.find(requestId)
  const isLookedUp = before?.status === 'pendingApproval' && hasReassigned(before.approvals, actor.id)
  const others = isLookedUp ? await otherAdmins(context, before, actor.id) : undefined
  if (decision === 'approved' && before?.status === 'pendingApproval' && before.requester.id !== actor.id)
    await refuseTakenAddress(context, before)
  return changeOnce(context, { requestId, attempt }, (request, at) => {
    // Refuses requests of another tenant.
    authorize(actor, 'request.read', request)
    refuseOverride(request, actor)
    const open = openStage(request.approvals)
    if (decision === 'approved' && open && isExcluded(open, actor.id))
      throw new ProvisioningError('not-an-approver', because('approvedEarlierStage'))
    const isOwn = overridesOwn(request.approvals, actor.id, at)
    if (isOwn) refuseAlone(others)
    const why = comment.trim().slice(0, longestComment)
    if (why === '') throw withoutReason()
    const overriding: Decision = {
      by: asPerson(actor),
      decision,
      at,
      comment: why,
      override: true,
      ...(isOwn && { ownReassignment: true }),
    }
    return overridden(request, settings, overriding)
  })
}

/** Throws if an admin cannot override the approvers: the request is their own, or does not wait. */
export function refuseOverride(request: Request, actor: Actor): void {
  if (request.requester.id === actor.id) throw new ProvisioningError('self-approval', because('ownRequest'))
  if (request.status === 'pendingApproval') return
  if (request.status === 'cancelled' || request.status === 'expired') throw ended(request)
  if (lastDecision(request.approvals)) throw alreadyDecided(request.approvals)
  throw new ProvisioningError('illegal-transition', because('noApprovalPending', { reference: referenceOf(request) }))
}

const withoutReason = () =>
  new ProvisioningError('comment-required', because('sayWhyOverridden'), {
    faults: [{ pointer: '/comment', code: 'required', reason: because('overrideNeedsReason') }],
  })

function overridden(request: Request, settings: Settings, overriding: Decision): Change {
  const { decision, at, by, comment = '' } = overriding
  const open = openStage(request.approvals)
  const isMeant = (stage: ApprovalStage): boolean =>
    decision === 'approved' ? !isApproved(stage) : stage.stage === open?.stage
  const approvals = request.approvals.map((stage) =>
    isMeant(stage) ? { ...stage, decisions: [...stage.decisions, overriding] } : stage,
  )
  const decided = { ...request, approvals, updatedAt: at }
  const stages = request.approvals.filter(isMeant).map(({ stage }) => stage)
  const { ownReassignment } = overriding
  const waitedFor = waitingFor(request.approvals)
  const data = { override: true, stages, waitedFor, ...(ownReassignment && { ownReassignment }) }
  const line = entry(decided, by, decision, { comment, data })
  const next = transition(decided, decision === 'approved' ? 'queued' : 'rejected', at)
  if (decision === 'rejected') return { request: next, audit: [line], jobs: [notifyRequester(next)] }
  return { request: next, audit: [line, entry(next, system, 'queued')], jobs: jobsOfQueued(next, settings) }
}
