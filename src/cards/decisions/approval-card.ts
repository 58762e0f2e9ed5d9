import { z } from 'zod'
import {
  type ApprovalFacts,
  type ApprovalStage,
  missing,
  nothingKnown,
  openStage,
  type Person,
  type Request,
  representedBy,
  undecided,
  waitingFor,
} from '../../core/index.ts'
import { linesOfBasis } from '../drafts/based-on.ts'
import { about, aboutOf } from '../requests/about-request.ts'
import { asCut, fact, fitting, readBy, room } from '../shared/facts.ts'
import { askedAddress } from '../shared/links.ts'
import { look, looks, rowLook, toKnow } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { type CardJson, defineCard, firstThatFits, type ViewOf } from '../shared/render.ts'
import { cut, longest, peopleList, shortName, type Viewer } from '../shared/texts.ts'
import { addressLines, changesOf, checksOf, detailFacts, earlierApprovals, plainFacts } from './approval-facts.ts'
import { expiryOf, handedWith, line, linesForApprover, urgencyOf } from './stage-texts.ts'

type Rule = keyof typeof strings.approval.rule

export const approvalCard = defineCard({
  name: 'approval',
  data: z.strictObject({
    ...about,
    requestId: z.uuid(),
    look,
    fallback: z.string(),
    urgency: z.enum(['first', 'reminded', 'expiring', 'paused']),
    /** Whether the viewer can approve now; else the request waits for another address. */
    isApprovable: z.boolean(),
    /** Why the viewer decides, who else may decide for them, and their reminders. */
    says: z.array(line),
    /** The comment of the person who reassigned it to the viewer. */
    handedBy: z.string(),
    handedComment: z.string(),
    expires: z.string(),
    reason: z.string(),
    checks: z.array(z.strictObject({ text: z.string(), look: rowLook })).min(1),
    /** The facts that the policy depends on, in plain view. */
    facts: z.array(fact),
    /** The changes since the earlier request; `changed` is their heading. */
    changes: z.array(fact),
    changed: z.string(),
    /** The requested address: it has its own line, because an address of a site is wider than a column. */
    address: z.string(),
    details: z.array(fact),
    hiddenDetails: z.string(),
    comment: z.string(),
    commentMissing: z.boolean(),
    /** Under the comment: who reads it, and that it is required. */
    help: z.string(),
    error: z.string(),
    /** The rule of the stage and the other approvers. */
    rule: z.string(),
    /** The people of the next stage; `''` without a next stage. */
    next: z.string(),
    stage: z.int(),
  }),
})

/** The viewer's entries, when the card comes back with a new state or because a rejection needs a comment. */
interface ApprovalForm {
  readonly comment: string
  readonly commentMissing: boolean
  /** Why the viewer's last click or message decided nothing. */
  readonly why?: keyof typeof strings.approval.undecided
}

/** The room for the details, one value in plain view and other texts, in code units, and for rows in plain view. */
interface Room {
  readonly details: number
  readonly value: number
  readonly text: number
  readonly rows: number
  readonly name: number
}

/** The rooms of a card, smaller ones for a card that would be too large. */
const rooms = [
  { details: room, value: longest.text, text: longest.text, rows: 6, name: 256 },
  { details: 3000, value: longest.title, text: longest.text, rows: 6, name: 256 },
  { details: 1200, value: longest.name, text: longest.text, rows: 6, name: 256 },
  { details: 600, value: longest.name, text: longest.title, rows: 3, name: longest.title },
] as const satisfies readonly Room[]

/** Shows a request to an approver. `known`: checked a moment before. The last argument: the room on the card. */
export function approvalView(
  stored: Request,
  viewer: Viewer,
  form: ApprovalForm = { comment: '', commentMissing: false },
  known: ApprovalFacts = nothingKnown,
  most: Room = rooms[0],
): ViewOf<typeof approvalCard> {
  const request = readBy(stored, viewer)
  const stage = openStage(request.approvals)
  const colleagues = stage ? colleaguesOf(stage, viewer) : []
  const facts = plainFacts(request, most.value).slice(0, most.rows)
  const changes = changesOf(request, viewer, known, most.value).slice(0, most.rows)
  const { shown, hidden } = fitting(detailFacts(request, facts), 0, most.details)
  const conflict = request.addressConflict
  const urgency = conflict ? 'paused' : urgencyOf(stage, viewer)
  const handed = handedWith(stage, viewer)
  const texts = strings.approval
  const about = aboutOf(request, viewer)
  const name = shortName(request.requester)
  const expires = urgency === 'expiring' ? '' : expiryOf(stage, viewer)
  return {
    ...about,
    displayName: cut(about.displayName, most.name),
    fallback: format(texts.fallback[urgency], { reference: about.reference }),
    requestId: request.requestId,
    look: urgency === 'expiring' || urgency === 'paused' ? toKnow : looks.pendingApproval,
    urgency,
    isApprovable: conflict === undefined,
    says: [
      ...(form.why ? [{ text: texts.undecided[form.why], weight: 'Bolder' as const }] : []),
      ...addressLines(request),
      ...earlierApprovals(request.approvals, viewer),
      ...linesOfBasis(request, viewer.id, changes.length > 0),
      ...(stage ? linesForApprover(stage, viewer) : []),
    ].map(({ text, weight }) => ({ text: cut(text, 2 * most.text), weight })),
    handedBy: format(strings.status.commentBy, { name: handed.by }),
    handedComment: cut(handed.comment, most.text),
    expires: expires && format(texts.expires, { at: expires }),
    reason: cut(request.reason, most.text),
    checks: checksOf(request, viewer, known),
    facts: facts.map(asCut),
    changes: changes.map(asCut),
    changed: format(texts.change.heading, { reference: request.basedOn?.reference ?? '' }),
    address: askedAddress(request, viewer),
    details: shown,
    hiddenDetails: restText(strings.facts.more, hidden),
    comment: cut(form.comment, 500),
    commentMissing: form.commentMissing,
    help: format(texts.comment.help, { name }),
    error: format(texts.comment.error, { name }),
    rule: format(texts.rule[ruleOf(stage, colleagues.length, request.approvals.length)], {
      people: peopleList([{ displayName: texts.you }, ...colleagues], stage?.rule === 'any' ? 'or' : 'and'),
      count: colleagues.length + 1,
      needed: stage ? missing(stage) : 0,
      stage: stage?.stage ?? 1,
      stages: request.approvals.length,
    }),
    next: nextStageText(request, viewer),
    stage: stage?.stage ?? 1,
  }
}

/** Renders the approval card, with fewer details if it would be too large. */
export const renderApproval = (
  request: Request,
  viewer: Viewer,
  form?: ApprovalForm,
  known?: ApprovalFacts,
): CardJson =>
  firstThatFits(rooms.map((one) => () => approvalCard.render(approvalView(request, viewer, form, known, one))))

/** The other people who can decide; unless the rule is `any`, without the approvers that the viewer represents. */
function colleaguesOf(stage: ApprovalStage, viewer: Viewer): Person[] {
  if (stage.rule === 'any') return waitingFor([stage]).filter(({ id }) => id !== viewer.id)
  const represented = representedBy(stage, viewer.id, viewer.now.toISOString()).map(({ id }) => id)
  return undecided(stage).filter(({ id }) => id !== viewer.id && !represented.includes(id))
}

/** Names the people of the stage after the open one. */
function nextStageText({ approvals }: Request, viewer: Viewer): string {
  const open = openStage(approvals)
  const next = open && approvals.find(({ stage }) => stage > open.stage)
  if (!next) return ''
  const named = next.approvers.map((one) => (one.id === viewer.id ? { displayName: strings.approval.youToo } : one))
  const people = peopleList(named, next.rule === 'any' ? 'or' : 'and', maxNextNames)
  return format(strings.approval.nextStage, { stage: next.stage, people })
}

const maxNextNames = 3

function ruleOf(stage: ApprovalStage | undefined, colleagues: number, stages: number): Rule {
  const rule = colleagues === 0 ? 'alone' : (stage?.rule ?? 'any')
  if (stages < 2) return rule
  return ({ alone: 'stageAlone', any: 'stageAny', all: 'stageAll', quorum: 'stageQuorum' } as const)[rule]
}
