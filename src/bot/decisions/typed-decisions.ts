import { decidesNow } from '../../cards/index.ts'
import { openStage, type Request } from '../../core/index.ts'
import { isDoubtful, withoutPoliteness } from '../channel/sentences/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type Command, defineCommand, isRefusal, showNotice, undefinedIfNotFound } from '../define.ts'
import { approvalsCommand, referenceAndText, statusOf } from '../requests/index.ts'
import { decide } from './approval.ts'

type Decision = 'approve' | 'reject'

/** `approve REQ-1042 <comment>`: decides as the button of the approval card does. */
export const approveCommand = defineDecision('approve')

/** `reject REQ-1042 <comment>`: decides as the button does. Without a comment, the approval card requires one. */
export const rejectCommand = defineDecision('reject')

/** The number of another request in a comment. */
const otherNumber = /(?:\breq[\s-]*|#\s*)\d{1,9}(?!\d)/i
/** A text that continues a list of numbers: “and REQ-1043”. */
const restOfList = /^(?:[\s,;&+]|(?:and|also|or|plus|und|oder|et|ou|y|e|i)\s)*(?:req[\s-]*|#\s*)\d/i

/**
 * Defines a command that decides one request. Without a number, it lists the person's approvals. With several numbers it
 * decides nothing.
 */
function defineDecision(name: Decision): Command {
  return defineCommand({
    name,
    changes: true,
    decides: name,
    argument: referenceAndText,
    handle: async (turn, { reference, text }) => {
      if (restOfList.test(text)) return showNotice(turn, { code: 'oneDecision' })
      const found = await turn.core.readRequestByReference(turn.actor, { reference }).catch(undefinedIfNotFound)
      if (!found) return { ...(await showNotice(turn, { code: 'notFoundToDecide', reference })), isRefusal: true }
      const { requestId, approvals } = found
      const comment = withoutPoliteness(text) === '' ? '' : text
      // “approve REQ-1042 not yet” is no approval.
      const isUnclear = name === 'approve' ? isDoubtful(text) : text.endsWith('?')
      if (isUnclear) return statusOf(turn, requestId, { comment, commentMissing: false })
      const why = otherNumber.test(text)
        ? 'severalNumbers'
        : hasApprovedEarlier(turn, found)
          ? 'earlierStage'
          : undefined
      const isOwnTurn = decidesNow(found, turn.viewer)
      if (isOwnTurn && why && (name === 'approve' || why === 'severalNumbers'))
        return statusOf(turn, requestId, { comment, commentMissing: false, why })
      const stage = openStage(approvals)?.stage
      return decideAsTyped(turn, name, { requestId, comment, ...(stage !== undefined && { stage }) })
    },
    withoutValidArgument: async (turn, argument) =>
      /\d/.test(argument) ? showNotice(turn, { code: 'oneDecision' }) : approvalsCommand.run(turn, ''),
  })
}

/** Whether the person has approved a stage before the open one. Each stage is a decision of its own. */
const hasApprovedEarlier = ({ actor }: Turn, { approvals }: Request): boolean =>
  approvals.some(
    (one) =>
      one.stage < (openStage(approvals)?.stage ?? 0) &&
      one.decisions.some(({ by, decision }) => by.id === actor.id && decision === 'approved'),
  )

async function decideAsTyped(
  turn: Turn,
  name: Decision,
  decision: { readonly requestId: string; readonly comment: string; readonly stage?: number },
): Promise<Reply> {
  const { core, actor } = turn
  const { requestId, comment } = decision
  try {
    return await decide(turn, { ...decision, isTyped: true }, () => core[name](actor, decision))
  } catch (error) {
    if (!isRefusal(error, 'comment-required')) throw error
    return statusOf(turn, requestId, { comment, commentMissing: true })
  }
}
