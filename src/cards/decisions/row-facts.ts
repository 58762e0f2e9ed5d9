import { type ApprovalStage, isForMailbox, openStage, type Person, type Request } from '../../core/index.ts'
import { inputNames } from '../drafts/based-on.ts'
import { labelFact, mainFacts, otherFacts, peopleWith } from '../requests/request-facts.ts'
import { type Fact, readBy } from '../shared/facts.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest, peopleList, type Viewer } from '../shared/texts.ts'

/** The longest list of alerts, and of notes, on one row. */
const longestLine = 120

/** Returns the results of the checks that need thought, as a short text; `''` without one. The approval card has the same. */
export function alertsOf(request: Request, viewer: Viewer): string {
  const texts = strings.several.alert
  // Nobody can approve it before the requester chooses another address.
  if (request.addressConflict) return takenAddress(request.addressConflict.taken)
  const isForAdmins = openStage(request.approvals)?.resolvedTo === 'admins'
  const all = [isForAdmins ? texts.admins : '', ...ownPartOf(request, viewer), outsideOf(request), peopleOf(request)]
  return cut(all.filter((one) => one !== '').join(' · '), longestLine)
}

/** Says which address another resource has taken. */
export const takenAddress = (address: string): string =>
  cut(format(strings.approval.check.addressTaken, { value: address }), longest.address)

/** Returns the stage, the sensitivity and the answers on which the policy depends, as a short text; `''` without one. */
export const notesOf = (request: Request, viewer: Viewer): string =>
  cut(
    [stageText(request, viewer), ...policyTexts(readBy(request, viewer))].filter((one) => one !== '').join(' · '),
    longestLine,
  )

/** Says which of several approvals it is, and whether the viewer has given an earlier one. */
function stageText({ approvals }: Request, viewer: Viewer): string {
  const open = openStage(approvals)
  if (!open || approvals.length < 2) return ''
  const own = approvals.find((one) => one.stage < open.stage && hasApproved(one, viewer))
  const values = { stage: open.stage, stages: approvals.length, earlier: own?.stage ?? 0 }
  return format(own ? strings.several.note.stageAgain : strings.several.note.stage, values)
}

/** Whether the viewer has approved a stage. */
export const hasApproved = ({ decisions }: ApprovalStage, { id }: Pick<Viewer, 'id'>): boolean =>
  decisions.some(({ by, decision }) => by.id === id && decision === 'approved')

function policyTexts(request: Request): string[] {
  const { template, kind } = request
  const conditions = (template.approval?.stages ?? []).flatMap(({ when = [] }) => when)
  const fields = conditions.flatMap((one) => ('field' in one ? one.field : []))
  const labels = inputNames({ kind, template }, fields)
  const all: Fact[] = [...mainFacts(request), ...otherFacts(request)]
  const facts = [...labelFact(request), ...all.filter(({ label }) => labels.includes(label))]
  return facts.map(({ label, value }) => format(strings.several.fact, { label, value: cut(value, longest.title) }))
}

/** The advantage that the viewer gets from the request. */
function ownPartOf(request: Request, { id }: Viewer): string[] {
  const check = strings.approval.check
  if (!isForMailbox(request)) return request.owners.some((owner) => owner.id === id) ? [check.youOwn] : []
  const { permissions, primaryOwner, secondaryOwner } = request.details
  return [
    primaryOwner === id || secondaryOwner === id ? check.youOwnMailbox : '',
    permissions[id] === 'FullAccess' ? check.youFullAccess : '',
    permissions[id] === 'SendAs' ? check.youSendAs : '',
  ]
}

/** The guests among the people with rights; without guests, the owners from outside that the policy found. */
function outsideOf(request: Request): string {
  const texts = strings.several.alert
  const people: readonly Person[] = isForMailbox(request) ? request.people : request.owners
  const guests = people.filter(({ id }) => request.guests?.includes(id))
  if (guests.length > 0) return format(texts.guests, { count: guests.length, people: peopleList(guests, 'and', 2) })
  const found = (request.policy ?? []).flatMap(({ conditions }) =>
    conditions.flatMap((one) => ('externalOwners' in one.condition && one.found !== '' ? [one.found] : [])),
  )
  return found[0] === undefined ? '' : format(texts.outside, { people: cut(found[0], longest.name) })
}

function peopleOf(request: Request): string {
  const check = strings.approval.check
  if (!isForMailbox(request))
    return request.owners.length > 1 ? '' : format(check.oneOwner, { value: peopleList(request.owners, 'and') })
  const isOpen = peopleWith(request, 'FullAccess') + peopleWith(request, 'SendAs') !== ''
  return request.kind === 'sharedMailbox' && !isOpen ? check.noAccess : ''
}
