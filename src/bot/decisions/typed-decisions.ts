import { openStage } from '../../core/index.ts'
import { isDoubtful, withoutPoliteness } from '../channel/sentences/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type Command, defineCommand, isRefusal } from '../define.ts'
import { approvalsCommand, referenceAndText, statusOf } from '../requests/index.ts'
import { decide } from './approval.ts'

type Decision = 'approve' | 'reject'

/** `approve REQ-1042 <comment>`: decides as the button of the approval card does. */
export const approveCommand = defineDecision('approve')

/** `reject REQ-1042 <comment>`: decides as the button does. Without a comment, the approval card requires one. */
export const rejectCommand = defineDecision('reject')

/** Defines a command that decides one request. Without the number of one request, it lists the person's approvals. */
function defineDecision(name: Decision): Command {
  return defineCommand({
    name,
    changes: true,
    decides: name,
    argument: referenceAndText,
    handle: async (turn, { reference, text }) => {
      const { requestId, approvals } = await turn.core.readRequestByReference(turn.actor, { reference })
      const comment = withoutPoliteness(text) === '' ? '' : text
      // “approve REQ-1042 not yet” is no approval.
      const isUnclear = name === 'approve' ? isDoubtful(text) : text.endsWith('?')
      if (isUnclear) return statusOf(turn, requestId, { comment, commentMissing: false })
      const stage = openStage(approvals)?.stage
      return decideAsTyped(turn, name, { requestId, comment, ...(stage !== undefined && { stage }) })
    },
    withoutValidArgument: (turn) => approvalsCommand.run(turn, ''),
  })
}

async function decideAsTyped(
  turn: Turn,
  name: Decision,
  decision: { readonly requestId: string; readonly comment: string; readonly stage?: number },
): Promise<Reply> {
  const { core, actor } = turn
  const { requestId, comment } = decision
  try {
    return await decide(turn, decision, () => core[name](actor, decision))
  } catch (error) {
    if (!isRefusal(error, 'comment-required')) throw error
    return statusOf(turn, requestId, { comment, commentMissing: true })
  }
}
