import { z } from 'zod'
import { cardsFor, decidesNow } from '../../cards/index.ts'
import { everAsked, isApproved, openStage, type Request } from '../../core/index.ts'
import { isDoubtful, withoutPoliteness } from '../channel/sentences/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import {
  type Command,
  comment,
  defineCardAction,
  defineCommand,
  isRefusal,
  requestId,
  showNotice,
  stage,
  undefinedIfNotFound,
} from '../define.ts'
import { approvalsCommand, referenceAndText, statusOf, unlessWithdrawn } from '../requests/index.ts'

const data = z.object({ requestId, stage, comment })

/** Approves a request. The card becomes the record of the decision. */
export const approveRequest = defineCardAction({
  verb: 'approval.approve',
  decides: 'approve',
  data,
  handle: (turn, click) => decide(turn, click, () => turn.core.approve(turn.actor, click)),
})

/** Rejects a request. Without a comment the card returns and requires one. */
export const rejectRequest = defineCardAction({
  verb: 'approval.reject',
  decides: 'reject',
  data,
  async handle(turn, click) {
    const { core, actor, viewer } = turn
    const { requestId, stage, comment } = click
    try {
      return await decide(turn, click, () => core.reject(actor, click))
    } catch (error) {
      if (!isRefusal(error, 'comment-required')) throw error
      const { request, facts } = await core.readForApproval(actor, { requestId })
      if (!decidesNow(request, viewer, stage)) return { card: cardsFor(viewer).approvalNow(request, viewer, stage) }
      return { card: cardsFor(viewer).approval(request, viewer, { comment, commentMissing: true }, facts) }
    }
  },
})

/** Shows the current state. A comment that the person has typed stays in the card. */
export const refreshApproval = defineCardAction({
  verb: 'approval.refresh',
  data,
  handle: (turn, click) => unlessWithdrawn(turn, click.requestId, () => showApproval(turn, click)),
})

async function showApproval(turn: Turn, { requestId, stage, comment }: z.output<typeof data>): Promise<Reply> {
  const request = await turn.core.readRequest(turn.actor, { requestId })
  const isOver = request.approvals.some((one) => one.stage === stage && isApproved(one))
  if (isOver && isApprover(turn, request))
    return { card: cardsFor(turn.viewer).approvalNow(request, turn.viewer, stage) }
  return statusOf(turn, requestId, { comment, commentMissing: false })
}

interface OneDecision {
  readonly requestId: string
  readonly stage?: number | undefined
  readonly comment: string
  /** The person typed it, so no earlier card shows how the request was decided. */
  readonly isTyped?: boolean
}

/**
 * Shows the record of the decision. The clicked card is kept up to date, also if it came just before the service stopped and
 * its activity is not stored yet. A person who decides too late or too early sees the request's current card, which says
 * that nothing changed.
 */
export async function decide(
  turn: Turn,
  { requestId, stage, comment, isTyped = false }: OneDecision,
  act: () => Promise<Request>,
): Promise<Reply> {
  const decided = (request: Request, shownStage: number | undefined, isLate?: boolean): Reply => ({
    card: cardsFor(turn.viewer).approvalDecided(request, turn.viewer, shownStage, isLate),
    ...(!isTyped && stage !== undefined && { keep: { requestId, key: `approval:${stage}`, shown: request.version } }),
  })
  try {
    return decided(await act(), stage)
  } catch (error) {
    if (!isRefusal(error, 'already-decided', 'already-ended', 'not-an-approver', 'name-taken')) throw error
    const { request, facts } = await turn.core.readForApproval(turn.actor, { requestId })
    if (!isApprover(turn, request)) throw error
    // A refused approver has left the group that decides. The card would request their decision again.
    const isOpen = decidesNow(request, turn.viewer, isTyped ? undefined : stage)
    if (error.code === 'not-an-approver' && decidesNow(request, turn.viewer)) throw error
    const why = error.code === 'name-taken' && request.addressConflict ? { why: 'addressTaken' as const } : {}
    if (isOpen)
      return {
        card: cardsFor(turn.viewer).approval(request, turn.viewer, { comment, commentMissing: false, ...why }, facts),
      }
    // A second click on the same button is no late decision.
    const isLate = isTyped || !hasDecided(turn, request)
    return decided(request, isTyped ? undefined : stage, isLate)
  }
}

const hasDecided = ({ actor }: Turn, { approvals }: Request): boolean =>
  approvals.some(({ decisions }) => decisions.some(({ by }) => by.id === actor.id))

/** Whether the person is or was an approver of the request. */
const isApprover = ({ actor }: Turn, { approvals }: Request): boolean =>
  everAsked(approvals).some(({ id }) => id === actor.id)

type Decision = 'approve' | 'reject'

/** `approve REQ-1042 <comment>`: decides as the button of the approval card does. */
export const approveCommand = defineDecision('approve')

/** `reject REQ-1042 <comment>`: decides as the button does. Without a comment, the approval card requires one. */
export const rejectCommand = defineDecision('reject')

/** The number of another request in a comment. */
const otherNumber = /(?:\breq[\s-]*|#\s*)\d{1,9}(?!\d)/i
const joiner = String.raw`(?:[\s,;&+]|(?:and|also|or|plus|und|oder|et|ou|y|e|i)\s)`
/** A text that continues a list of numbers: “and REQ-1043”, or “and 1043” without a comment. */
const restOfList = new RegExp(
  String.raw`^${joiner}*(?:(?:req[\s-]*|#\s*)\d|\d{4,9}(?:${joiner}+\d{4,9})*[\s.!]*$)`,
  'i',
)

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
