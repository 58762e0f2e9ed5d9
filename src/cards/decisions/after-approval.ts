import {
  type Decision,
  isRejected,
  lastDecision,
  openStage,
  type Request,
  type RequestState,
  waitingFor,
} from '../../core/index.ts'
import { type Look, looks, shownState } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { moment, shortName, type Viewer } from '../shared/texts.ts'
import { decidersNow } from './stage-texts.ts'

/** The head of an approved card, and its sentence about the request. */
interface AfterApproval {
  readonly band?: string
  readonly look?: Look
  readonly next: string
  /** Whether the address can exist. */
  readonly hasAddress: boolean
}

/** The names of the next approvers in a sentence. */
const maxNames = 3

/** Statuses of requests that end without a resource. */
const endings = ['rejected', 'cancelled', 'expired'] as const satisfies readonly RequestState[]

/** Returns what follows an approval that did not decide the request alone; undefined for other decisions. */
export function afterApproval(
  request: Request,
  decision: Decision | undefined,
  viewer: Viewer,
): AfterApproval | undefined {
  if (decision?.decision !== 'approved') return undefined
  const { status, approvals } = request
  if (status === 'pendingApproval') return whileWaiting(request, decision, viewer)
  const ending = endings.find((one) => one === status)
  if (ending) {
    const { band } = strings.decided[ending === 'rejected' ? 'rejectedByOther' : ending]
    return { band, look: looks[ending], next: endText(request, viewer), hasAddress: false }
  }
  if (approvals.length < 2) return undefined
  const { all, ready } = strings.afterApproval.next
  const next = format(shownState(request) === 'succeeded' ? ready : all, { stages: approvals.length })
  return { next, hasAddress: true }
}

/** Says that a decision came too late and changed nothing. */
export function lateText({ approvals }: Request, viewer: Viewer): string {
  const decisions = approvals.flatMap((one) => one.decisions)
  const last = decisions.findLast(({ by }) => by.id === viewer.id) ?? lastDecision(approvals)
  const texts = strings.afterApproval.late
  if (!last) return texts.ended
  if (last.by.id === viewer.id) return texts[`${last.decision}ByYou`]
  return format(texts[last.decision], { name: shortName(last.by) })
}

function whileWaiting({ approvals }: Request, decision: Decision, viewer: Viewer): AfterApproval | undefined {
  const own = approvals.find(({ decisions }) => decisions.includes(decision))
  const open = openStage(approvals)
  if (!own || !open) return undefined
  const { band, next } = strings.afterApproval
  const values = { stage: own.stage, stages: approvals.length, open: open.stage, people: decidersNow(open, maxNames) }
  const isNext = open.stage !== own.stage
  const isYours = isNext && waitingFor([open]).some(({ id }) => id === viewer.id)
  return {
    band: format(isNext ? band.stage : band.partly, values),
    look: looks.pendingApproval,
    next: format(isYours ? next.yours : isNext ? next.stage : next.partly, values),
    hasAddress: false,
  }
}

/** How a request ended after the approval. */
function endText({ status, approvals, cancelledBy, finishedAt, updatedAt }: Request, viewer: Viewer): string {
  const at = moment(finishedAt ?? updatedAt, viewer, 'full')
  if (status === 'expired') return strings.decided.expired.says
  if (status === 'cancelled')
    return cancelledBy
      ? format(strings.decided.cancelledBy.says, { at, name: shortName(cancelledBy) })
      : format(strings.decided.cancelled.says, { at })
  const last = lastDecision(approvals.filter(isRejected))
  const texts = strings.afterApproval.next
  return last && last.by.id !== viewer.id
    ? format(texts.rejected, { at, name: shortName(last.by) })
    : format(texts.rejectedByYou, { at })
}
