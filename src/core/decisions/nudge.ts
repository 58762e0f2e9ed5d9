import { z } from 'zod'
import { openStage, waitingFor, withStage } from '../approvals/index.ts'
import { authorize, entry, type Request, referenceOf } from '../requests/index.ts'
import { because, type Context, defineUseCase, ProvisioningError } from '../shared/index.ts'
import { remindApprovers } from './approval-timers.ts'
import { changeOnce } from './decision.ts'
import type { DecisionPorts } from './ports.ts'

const dayMilliseconds = 86_400_000

/** When a request may be nudged: at once, or a day after those who have not decided were last reminded, by anybody. */
export function nudgeFrom(request: Request): string | undefined {
  const last = openStage(request.approvals)?.reminders?.findLast(({ inDigest }) => !inDigest)?.at
  return last === undefined ? undefined : new Date(Date.parse(last) + dayMilliseconds).toISOString()
}

/**
 * Reminds those who have not decided, once a day at most; a repeat of the same `attempt` does so no second time. Refuses as
 * `already-ended` or `nudged-already`.
 */
export const nudge = defineUseCase({
  permission: 'request.nudge',
  input: z.object({ requestId: z.uuid(), attempt: z.string().optional() }),
  handle(context: Context<DecisionPorts>, { requestId, attempt }): Promise<Request> {
    const { actor } = context
    return changeOnce(context, { requestId, attempt }, (request, at) => {
      authorize(actor, 'request.nudge', request)
      const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
      if (!stage)
        throw new ProvisioningError('already-ended', because('noDecisionPending', { reference: referenceOf(request) }))
      const from = nudgeFrom(request)
      if (from !== undefined && from > at)
        throw new ProvisioningError('nudged-already', because('remindedRecently', { from }), { context: { at: from } })
      const { id, displayName, userPrincipalName } = actor
      const reminders = [...(stage.reminders ?? []), { at, by: { id, displayName, userPrincipalName } }]
      const next = { ...withStage(request, { ...stage, reminders }), updatedAt: at }
      const data = { stage: stage.stage, people: waitingFor(request.approvals) }
      const audit = [entry(next, actor, 'reminded', { data })]
      return { request: next, audit, jobs: remindApprovers(next, { ...stage, reminders }) }
    })
  },
})
