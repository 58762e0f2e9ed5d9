import { z } from 'zod'
import { ProvisioningError } from './errors.ts'
import { instant, type Person, person } from './resource.ts'

export const decision = z.object({
  by: person,
  decision: z.enum(['approved', 'rejected']),
  comment: z.string().optional(),
  at: instant,
})
export type Decision = z.output<typeof decision>

/** One stage of a request's approval, with the people that the policy resolved to when it was submitted. */
export const approvalStage = z.object({
  stage: z.int().min(1),
  rule: z.enum(['any', 'all', 'quorum']),
  quorum: z.int().optional(),
  approvers: z.array(person),
  decisions: z.array(decision),
  /** Those of the approvers who were asked only as members of groups: who has left the groups decides no more. */
  membership: z.object({ groups: z.array(z.string()), people: z.array(z.string()) }).optional(),
})
export type ApprovalStage = z.output<typeof approvalStage>

/** How many approvals end a stage. */
export function needed(stage: ApprovalStage): number {
  if (stage.rule === 'any') return 1
  return stage.rule === 'all' ? stage.approvers.length : Math.min(stage.quorum ?? 1, stage.approvers.length)
}

const approvals = (stage: ApprovalStage) => stage.decisions.filter(({ decision }) => decision === 'approved').length
export const isApproved = (stage: ApprovalStage): boolean => approvals(stage) >= needed(stage)
export const isRejected = (stage: ApprovalStage): boolean =>
  stage.decisions.some(({ decision }) => decision === 'rejected')

/** The stage whose turn it is; undefined when all are approved or one is rejected. */
export function openStage(stages: readonly ApprovalStage[]): ApprovalStage | undefined {
  if (stages.some(isRejected)) return undefined
  return stages.find((stage) => !isApproved(stage))
}

/** Those who can still decide now: the open stage's approvers who have not. */
export function waitingFor(stages: readonly ApprovalStage[]): Person[] {
  const stage = openStage(stages)
  return stage?.approvers.filter(({ id }) => !stage.decisions.some(({ by }) => by.id === id)) ?? []
}

export const lastDecision = (stages: readonly ApprovalStage[]): Decision | undefined =>
  stages
    .flatMap(({ decisions }) => decisions)
    .sort((one, other) => one.at.localeCompare(other.at))
    .at(-1)

export type Outcome = 'waiting' | 'next-stage' | 'approved' | 'rejected'

/**
 * Records one person's decision on the open stage. One rejection ends the request; a stage ends with its rule.
 * Throws `self-approval`, `not-an-approver` or `already-decided`, the last naming who decided and when.
 */
export function decide(
  stages: readonly ApprovalStage[],
  requesterId: string,
  given: Decision,
): { stages: ApprovalStage[]; outcome: Outcome } {
  const { by } = given
  if (by.id === requesterId)
    throw new ProvisioningError('self-approval', 'You asked for this yourself, so somebody else has to decide.')
  const stage = openStage(stages)
  const earlier = stages.flatMap(({ decisions }) => decisions).find((known) => known.by.id === by.id)
  if (!stage || (earlier && !waitingFor(stages).some(({ id }) => id === by.id))) throw alreadyDecided(stages, earlier)
  if (!stage.approvers.some(({ id }) => id === by.id)) {
    throw new ProvisioningError('not-an-approver', 'You are not an approver of this request.')
  }
  const decided = { ...stage, decisions: [...stage.decisions, given] }
  const next = stages.map((each) => (each.stage === stage.stage ? decided : each))
  if (given.decision === 'rejected') return { stages: next, outcome: 'rejected' }
  if (!isApproved(decided)) return { stages: next, outcome: 'waiting' }
  return { stages: next, outcome: openStage(next) ? 'next-stage' : 'approved' }
}

export function alreadyDecided(stages: readonly ApprovalStage[], earlier = lastDecision(stages)): ProvisioningError {
  const context = earlier ? { by: earlier.by.displayName, at: earlier.at } : {}
  return new ProvisioningError(
    'already-decided',
    earlier ? `${earlier.by.displayName} has already decided.` : 'This is already decided.',
    { context },
  )
}
