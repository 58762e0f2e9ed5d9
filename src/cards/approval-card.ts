import { z } from 'zod'
import {
  type ApprovalStage,
  type Decision,
  isApproved,
  isForMailbox,
  needed,
  openStage,
  type Request,
  referenceOf,
  resourceKind,
  waitingFor,
} from '../core/index.ts'
import { becauseOf, sinceWhat } from './approval-why.ts'
import { labelFact, mainFacts, otherFacts, reasonFact } from './asked.ts'
import { defineCard } from './define-card.ts'
import { fact, fitting, labelName } from './facts.ts'
import { askedAddress } from './links.ts'
import { look, looks, rowLook, rowLooks } from './look.ts'
import { peopleWith } from './mailbox-facts.ts'
import { strings } from './strings.ts'
import { cut, longest, moment, peopleList, type Viewer } from './words.ts'

const rules = [
  'alone',
  'any',
  'all',
  'quorum',
  'stageAlone',
  'stageAny',
  'stageAll',
  'stageQuorum',
] as const satisfies readonly (keyof typeof strings.approval.rule)[]

const about = {
  reference: z.string(),
  kind: resourceKind,
  templateName: z.string(),
  displayName: z.string(),
  requester: z.string(),
  sentAt: z.string(),
}

const checkName = z.enum(Object.keys(strings.approval.check) as [ApprovalCheck, ...ApprovalCheck[]])
type ApprovalCheck = keyof typeof strings.approval.check

export const approvalCard = defineCard({
  name: 'approval',
  data: z.strictObject({
    ...about,
    requestId: z.uuid(),
    reason: z.string(),
    checks: z
      .array(
        z.strictObject({
          name: checkName,
          count: z.string(),
          value: z.string(),
          look: rowLook,
        }),
      )
      .min(1),
    details: z.array(fact).min(1),
    hiddenDetails: z.int(),
    comment: z.string(),
    commentMissing: z.boolean(),
    rule: z.enum(rules),
    people: z.string(),
    needed: z.int(),
    stage: z.int(),
    stages: z.int(),
  }),
})

const aboutOf = (request: Request, viewer: Viewer) => ({
  reference: referenceOf(request),
  kind: request.kind,
  templateName: request.template.name,
  displayName: cut(request.details.displayName, longest.title),
  requester: cut(request.requester.displayName, longest.name),
  sentAt: moment(request.submittedAt, viewer, 'full'),
})

/** What an approver decides by. `form` is what was typed when the card comes back because a rejection lacks its comment. */
export function approvalView(
  request: Request,
  viewer: Viewer,
  form: { comment: string; commentMissing: boolean } = { comment: '', commentMissing: false },
): Parameters<typeof approvalCard.render>[0] {
  const stage = openStage(request.approvals)
  const colleagues = waitingFor(request.approvals).filter(({ id }) => id !== viewer.id)
  const { shown, hidden } = fitting([
    { label: strings.field.address, value: askedAddress(request, viewer) },
    ...mainFacts(request, 1024),
    ...labelFact(request),
    ...(request.reason.length > longest.text ? reasonFact(request, 1024) : []),
    ...otherFacts(request),
  ])
  return {
    ...aboutOf(request, viewer),
    requestId: request.requestId,
    reason: cut(request.reason, longest.text),
    checks: checksOf(request),
    details: shown,
    hiddenDetails: hidden,
    comment: cut(form.comment, 500),
    commentMissing: form.commentMissing,
    rule: ruleOf(stage, colleagues.length, request.approvals.length),
    people: stage?.rule === 'any' ? peopleList(colleagues, 'or') : peopleList(colleagues, 'and'),
    needed: stage ? needed(stage) - stage.decisions.length : 0,
    stage: stage?.stage ?? 1,
    stages: request.approvals.length,
  }
}

/** What was looked at for the approver; `!` marks what deserves a thought. */
function checksOf(request: Request): z.output<typeof approvalCard.data>['checks'] {
  const row = (name: ApprovalCheck, value: string, count = '') => ({ name, count, value, look: rowLooks.done })
  const toConsider = (name: ApprovalCheck, value: string) => ({
    ...row(name, value),
    look: { ...rowLooks.done, mark: '!' as const, color: 'Attention' as const },
  })
  const approvers = request.approvals.filter(isApproved).flatMap(({ decisions }) => decisions.map(({ by }) => by))
  const stage = openStage(request.approvals)
  const because = becauseOf(request, stage)
  const approved = [
    ...(approvers.length > 0 ? [row('approvedBy', peopleList(approvers, 'and'))] : []),
    ...(because ? [row('because', because)] : []),
    ...(stage?.resolvedTo
      ? [toConsider(stage.resolvedTo === 'admins' ? 'admins' : 'adminsToo', sinceWhat(stage))]
      : []),
  ]
  if (isForMailbox(request)) {
    const [full, sendAs] = [peopleWith(request, 'FullAccess'), peopleWith(request, 'SendAs')]
    const isOpen = full !== '' || sendAs !== '' || request.kind !== 'sharedMailbox'
    return [
      row('address', request.address),
      ...(full ? [row('fullAccess', full)] : []),
      ...(sendAs ? [row('sendAs', sendAs)] : []),
      ...(isOpen ? [] : [toConsider('noAccess', '')]),
      ...approved,
    ]
  }
  const sensitivity = labelName(request)
  const people = peopleList(request.owners, 'and')
  return [
    row('address', request.alias),
    request.owners.length > 1 ? row('owners', people, String(request.owners.length)) : toConsider('oneOwner', people),
    ...(sensitivity ? [row('label', sensitivity)] : []),
    ...approved,
  ]
}

function ruleOf(stage: ApprovalStage | undefined, colleagues: number, stages: number): (typeof rules)[number] {
  const rule = colleagues === 0 ? 'alone' : (stage?.rule ?? 'any')
  if (stages < 2) return rule
  return ({ alone: 'stageAlone', any: 'stageAny', all: 'stageAll', quorum: 'stageQuorum' } as const)[rule]
}

type Outcome = keyof typeof strings.decided
const outcomes = Object.keys(strings.decided) as [Outcome, ...Outcome[]]

export const approvalDecidedCard = defineCard({
  name: 'approval-decided',
  data: z.strictObject({
    ...about,
    address: z.string(),
    look,
    outcome: z.enum(outcomes),
    by: z.string(),
    at: z.string(),
    comment: z.string(),
  }),
})

/** What an approver sees when there is nothing left to decide for them, or not yet. */
export function approvalDecidedView(
  request: Request,
  viewer: Viewer,
): Parameters<typeof approvalDecidedCard.render>[0] {
  const decision = decisionFor(request, viewer)
  const outcome = outcomeOf(request, viewer, decision)
  const told = outcome === 'cancelledBy' ? request.cancelledBy : decision?.by
  const shown = decision && outcome !== 'notYet'
  return {
    ...aboutOf(request, viewer),
    address: askedAddress(request, viewer),
    look: lookOf[outcome],
    outcome,
    by: cut(told?.displayName ?? '', longest.name),
    at: moment(shown ? decision.at : (request.finishedAt ?? request.updatedAt), viewer, 'full'),
    comment: cut(decision?.comment ?? '', longest.text),
  }
}

const lookOf = {
  approvedByYou: looks.succeeded,
  approvedByOther: looks.succeeded,
  rejectedByYou: looks.rejected,
  rejectedByOther: looks.rejected,
  cancelled: looks.cancelled,
  cancelledBy: looks.cancelled,
  expired: looks.expired,
  notYet: looks.expired,
} as const

/** The viewer's own decision; else a rejection by anybody; else the one that closed the stage the viewer was asked in. */
function decisionFor({ approvals }: Request, viewer: Viewer): Decision | undefined {
  const all = approvals.flatMap(({ decisions }) => decisions)
  const asked = approvals.find(({ approvers }) => approvers.some(({ id }) => id === viewer.id))
  return (
    all.find(({ by }) => by.id === viewer.id) ??
    all.find(({ decision }) => decision === 'rejected') ??
    (asked && isApproved(asked) ? asked.decisions.at(-1) : undefined)
  )
}

function outcomeOf(request: Request, viewer: Viewer, decision: Decision | undefined): Outcome {
  if (decision) {
    const who = decision.by.id === viewer.id ? 'You' : 'Other'
    return `${decision.decision}By${who}`
  }
  if (request.status === 'cancelled') return request.cancelledBy ? 'cancelledBy' : 'cancelled'
  return request.status === 'expired' ? 'expired' : 'notYet'
}
