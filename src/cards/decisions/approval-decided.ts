import { z } from 'zod'
import {
  type ApprovalStage,
  type Decision,
  isApproved,
  lastDecision,
  needsSecondAdmin,
  openStage,
  type Person,
  type Request,
  type RequestState,
  representedBy,
  undecided,
} from '../../core/index.ts'
import { about, aboutOf } from '../requests/about-request.ts'
import { askedAddress } from '../shared/links.ts'
import { look, looks } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest, moment, peopleList, type Viewer } from '../shared/texts.ts'
import { afterApproval, lateText } from './after-approval.ts'

/** The ends without a resource. The card shows no address that nobody can open. */
const neverCreated: readonly string[] = ['rejected', 'cancelled', 'expired'] satisfies RequestState[]

type Outcome = keyof typeof strings.decided

export const approvalDecidedCard = defineCard({
  name: 'approval-decided',
  data: z.strictObject({
    ...about,
    address: z.string(),
    look,
    band: z.string(),
    says: z.string(),
    /** Says that a late decision changed nothing, and what follows an approval that did not decide the request alone. */
    next: z.string(),
    wrote: z.string(),
    comment: z.string(),
  }),
})

/**
 * Whether the viewer can decide the open stage now, as an approver or a stand-in. `about`: the stage of the card, which may
 * be an earlier one. A request that an admin has reassigned to themselves waits for another admin.
 */
export function decidesNow({ status, approvals }: Request, viewer: Viewer, about?: number): boolean {
  const stage = status === 'pendingApproval' ? openStage(approvals) : undefined
  if (stage === undefined || (about !== undefined && about < stage.stage)) return false
  const at = viewer.now.toISOString()
  return representedBy(stage, viewer.id, at).length > 0 && !needsSecondAdmin(stage, viewer.id, at)
}

/** The outcome for this viewer: the person who decided or reassigned, the other people, and the comment. */
interface OutcomeFacts {
  readonly outcome: Outcome
  readonly name?: Person | null | undefined
  readonly people?: readonly Person[]
  readonly at?: string
  readonly comment?: string | undefined
}

/**
 * Shows a request to an approver who cannot decide it, or not yet. `about`: the stage of the card. `isLate`: the viewer has
 * just tried to decide it.
 */
export function approvalDecidedView(
  request: Request,
  viewer: Viewer,
  about?: number,
  isLate = false,
): ViewOf<typeof approvalDecidedCard> {
  const { outcome, name, people = [], at, comment = '' } = outcomeFor(request, viewer, about)
  const by = cut(name?.displayName ?? '', longest.name)
  const after = afterApproval(request, decisionFor(request, viewer, about), viewer)
  return {
    ...aboutOf(request, viewer),
    address: after?.hasAddress === false || neverCreated.includes(request.status) ? '' : askedAddress(request, viewer),
    look: after?.look ?? lookOf[outcome],
    band: after?.band ?? strings.decided[outcome].band,
    next: [isLate ? lateText(request, viewer) : '', after?.next ?? ''].filter((text) => text !== '').join(' '),
    says: format(strings.decided[outcome].says, {
      name: by,
      people: peopleList(people, people.length > 1 && outcome === 'notYours' ? 'or' : 'and', 3),
      at: moment(at ?? request.finishedAt ?? request.updatedAt, viewer, 'full'),
    }),
    wrote: name?.id === viewer.id ? strings.status.commentByYou : format(strings.status.commentBy, { name: by }),
    comment: cut(comment, longest.text),
  }
}

const lookOf = {
  approvedByYou: looks.succeeded,
  approvedByYouFor: looks.succeeded,
  approvedByOther: looks.succeeded,
  approvedByOtherFor: looks.succeeded,
  approvedForYou: looks.succeeded,
  rejectedByYou: looks.rejected,
  rejectedByYouFor: looks.rejected,
  rejectedByOther: looks.rejected,
  rejectedByOtherFor: looks.rejected,
  rejectedForYou: looks.rejected,
  approvedOver: looks.succeeded,
  approvedOverByYou: looks.succeeded,
  rejectedOver: looks.rejected,
  rejectedOverByYou: looks.rejected,
  cancelled: looks.cancelled,
  cancelledBy: looks.cancelled,
  expired: looks.expired,
  givenAway: looks.expired,
  givenAwayBy: looks.expired,
  notYours: looks.expired,
  over: looks.expired,
  notYet: looks.expired,
  secondAdmin: looks.pendingApproval,
} as const satisfies Record<Outcome, unknown>

function outcomeFor(request: Request, viewer: Viewer, about: number | undefined): OutcomeFacts {
  const decision = decisionFor(request, viewer, about)
  if (decision) return ofDecision(decision, viewer)
  const { status, cancelledBy } = request
  if (status === 'cancelled')
    return cancelledBy
      ? { outcome: 'cancelledBy', name: cancelledBy, comment: request.cancelComment }
      : { outcome: 'cancelled' }
  if (status === 'expired') return { outcome: 'expired' }
  const stage = openStage(request.approvals)
  if (status !== 'pendingApproval' || !stage) return { outcome: 'over' }
  if (needsSecondAdmin(stage, viewer.id, viewer.now.toISOString())) return { outcome: 'secondAdmin' }
  const reassignment = stage.reassigned?.findLast(({ from }) => from.some(({ id }) => id === viewer.id))
  if (reassignment && reassignment.by.id !== viewer.id && reassignment.by.id !== reassignment.to.id)
    return { outcome: 'givenAwayBy', name: reassignment.by, people: [reassignment.to], comment: reassignment.comment }
  if (reassignment)
    return { outcome: 'givenAway', name: reassignment.by, people: [reassignment.to], comment: reassignment.comment }
  const isLater = request.approvals.some((one) => one.stage > stage.stage && isAskedIn(one, viewer))
  return isLater ? { outcome: 'notYet' } : { outcome: 'notYours', people: undecided(stage) }
}

function ofDecision({ by, decision, at, comment, insteadOf = [], override }: Decision, viewer: Viewer): OutcomeFacts {
  const facts = { name: by, people: insteadOf, at, comment }
  if (override) return { outcome: by.id === viewer.id ? `${decision}OverByYou` : `${decision}Over`, ...facts }
  const isFor = insteadOf.length > 0 ? ('For' as const) : ('' as const)
  if (by.id === viewer.id) return { outcome: `${decision}ByYou${isFor}`, ...facts }
  if (insteadOf.some(({ id }) => id === viewer.id)) return { outcome: `${decision}ForYou`, ...facts }
  return { outcome: `${decision}ByOther${isFor}`, ...facts }
}

const isAskedIn = ({ approvers, standIns = [], reassigned = [] }: ApprovalStage, { id }: Viewer): boolean =>
  [...approvers, ...standIns.map(({ person }) => person), ...reassigned.flatMap(({ from }) => from)].some(
    (one) => one.id === id,
  )

/**
 * The viewer's own decision; else the one for the viewer; else a rejection; else the one that closed the viewer's stage;
 * for a viewer without a known stage the last one.
 */
function decisionFor({ approvals, status }: Request, viewer: Viewer, about: number | undefined): Decision | undefined {
  const stages = approvals.filter(({ stage }) => about === undefined || stage === about)
  const all = stages.flatMap(({ decisions }) => decisions)
  const own = stages.find((stage) => isAskedIn(stage, viewer))
  return (
    all.find(({ by }) => by.id === viewer.id) ??
    all.find(({ insteadOf = [] }) => insteadOf.some(({ id }) => id === viewer.id)) ??
    all.find(({ decision }) => decision === 'rejected') ??
    (own && isApproved(own) ? own.decisions.at(-1) : undefined) ??
    (own || status === 'pendingApproval' || status === 'cancelled' || status === 'expired'
      ? undefined
      : lastDecision(approvals))
  )
}
