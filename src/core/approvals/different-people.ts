import type { ApprovalPolicy } from '../templates/index.ts'
import { type ApprovalStage, needed } from './stage.ts'

/**
 * Returns an opened stage without the people who approved an earlier one, if the policy requires different people. If too few
 * approvers remain, they stay in the stage, cannot decide, and the escalation is due at once: their stand-ins decide instead.
 */
export function withDifferentPeople(
  stage: ApprovalStage,
  stages: readonly ApprovalStage[],
  policy: ApprovalPolicy | null,
): ApprovalStage {
  if (!policy?.differentPeople) return stage
  const earlier = stages.filter((one) => one.stage < stage.stage).flatMap(({ decisions }) => decisions)
  const excluded = [...new Set(earlier.filter(({ decision }) => decision === 'approved').map(({ by }) => by.id))]
  if (excluded.length === 0) return stage
  const left = stage.approvers.filter(({ id }) => !excluded.includes(id))
  const least = stage.rule === 'quorum' ? needed(stage) : 1
  if (left.length >= least) return { ...stage, excluded, approvers: left }
  const { times, openedAt } = stage
  const isAtOnce = times !== undefined && openedAt !== undefined
  return { ...stage, excluded, ...(isAtOnce && { times: { ...times, escalateAt: openedAt } }) }
}
