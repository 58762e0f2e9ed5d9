import {
  type ApprovalFacts,
  type ApprovalStage,
  everAsked,
  isApproved,
  isForMailbox,
  openStage,
  type Request,
  referenceOf,
} from '../../core/index.ts'
import { changedNames, inputNames } from '../drafts/based-on.ts'
import { guestsOf, labelFact, mainFacts, otherFacts, peopleWith, reasonFact } from '../requests/request-facts.ts'
import { asCut, type Fact, readBy } from '../shared/facts.ts'
import { askedAddress } from '../shared/links.ts'
import { marks, type RowLook } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, decidedBy, longest, moment, peopleList, shortName, type Viewer } from '../shared/texts.ts'
import { becauseOf, type Line, sinceWhat } from './stage-texts.ts'

type ApprovalCheck = Exclude<keyof typeof strings.approval.check, 'guests'>

interface CheckRow {
  readonly text: string
  readonly look: RowLook
}

const row = (name: ApprovalCheck, look: RowLook, value = '', name2 = ''): CheckRow => ({
  text: format(strings.approval.check[name], { value, name: name2 }),
  look,
})

/**
 * The rows above the details: `✓` only for a check of this moment and for a decision, `!` for a result that needs attention,
 * `–` for a check without a result.
 */
export function checksOf(request: Request, viewer: Viewer, { address, duplicates }: ApprovalFacts): CheckRow[] {
  const stage = openStage(request.approvals)
  const because = becauseOf(request, stage)
  const decisions = request.approvals.filter(isApproved).flatMap((one) => one.decisions)
  return [
    addressRow(request, address),
    ...duplicates.slice(0, 2).map((one) => duplicateRow(one, viewer)),
    ...guestRow(request),
    ...peopleRows(request),
    ...ownPart(request, viewer),
    ...(decisions.length > 0 ? [row('approvedBy', marks.good, decidedBy(decisions, viewer.id))] : []),
    ...(because ? [row('because', marks.busy, because)] : []),
    ...(stage?.resolvedTo
      ? [row(stage.resolvedTo === 'admins' ? 'admins' : 'adminsToo', marks.attention, sinceWhat(stage))]
      : []),
  ]
}

const addressLooks = { free: marks.good, taken: marks.attention, unknown: marks.ended } as const

function addressRow(request: Request, address: ApprovalFacts['address']): CheckRow {
  const own = isForMailbox(request) ? request.address : request.alias
  const value = request.addressConflict?.taken ?? own
  const names = { free: 'addressFree', taken: 'addressTaken', unknown: 'addressUnknown' } as const
  const found = request.addressConflict ? 'taken' : address
  return row(names[found], addressLooks[found], value)
}

/** An approver reads the name of another request only if they are or were an approver of it too. */
function duplicateRow(other: Request, viewer: Viewer): CheckRow {
  const isReadable = viewer.isAdmin === true || everAsked(other.approvals).some(({ id }) => id === viewer.id)
  if (!isReadable) return row('duplicateHidden', marks.attention)
  const value = `${referenceOf(other)} (${cut(other.details.displayName, longest.name)})`
  return row('duplicate', marks.attention, value, shortName(other.requester))
}

function guestRow(request: Request): CheckRow[] {
  const guests = guestsOf(request)
  const text = format(strings.approval.check.guests, { people: peopleList(guests, 'and'), count: guests.length })
  return guests.length > 0 ? [{ text, look: marks.attention }] : []
}

function peopleRows(request: Request): CheckRow[] {
  if (!isForMailbox(request))
    return request.owners.length > 1 ? [] : [row('oneOwner', marks.attention, peopleList(request.owners, 'and'))]
  const isOpen = request.kind !== 'sharedMailbox' || peopleWith(request, 'FullAccess') || peopleWith(request, 'SendAs')
  return isOpen ? [] : [row('noAccess', marks.attention)]
}

/** The advantage that the viewer gets from the request. */
export function ownPart(request: Request, { id }: Viewer): CheckRow[] {
  if (!isForMailbox(request))
    return request.owners.some((owner) => owner.id === id) ? [row('youOwn', marks.attention)] : []
  const { permissions, primaryOwner, secondaryOwner } = request.details
  return [
    ...(primaryOwner === id || secondaryOwner === id ? [row('youOwnMailbox', marks.attention)] : []),
    ...(permissions[id] === 'FullAccess' ? [row('youFullAccess', marks.attention)] : []),
    ...(permissions[id] === 'SendAs' ? [row('youSendAs', marks.attention)] : []),
  ]
}

/** All facts of a request. */
const allFacts = (request: Request, most?: number): Fact[] => [
  ...mainFacts(request, most),
  ...labelFact(request),
  ...otherFacts(request),
]

/**
 * The facts in plain view: who owns the site or reads the mailbox, its sensitivity, the fields of the policy's conditions, and the
 * answers to the template's own questions. `most`: the maximum length of a value.
 */
export function plainFacts(request: Request, most: number): Fact[] {
  const { template, kind } = request
  const conditions = (template.approval?.stages ?? []).flatMap(({ when = [] }) => when)
  const fields = conditions.flatMap((one) => ('field' in one ? one.field : ['primaryOwner', 'secondaryOwner']))
  const texts = strings.field
  const first = [texts.owners, texts.labelId, texts['permissions.FullAccess'], texts['permissions.SendAs']]
  const named = inputNames({ kind, template }, fields)
  const own = template.fields.map(({ label }) => label)
  const labels = [...new Set([...first, ...named, ...own])]
  const facts = allFacts(request)
  const shown = labels.flatMap((label) => facts.filter((one) => one.label === label))
  return shown.map(({ label, value, whole }) => {
    const isCut = value.length > most
    return { label, value: cut(value, most), ...((isCut || whole !== undefined) && { whole: whole ?? value }) }
  })
}

/** The facts under "Details" after the address, without those that are whole in plain view. */
export function detailFacts(request: Request, plain: readonly Fact[]): Fact[] {
  const isShown = (one: Fact) => one.whole === undefined && plain.some(({ label }) => label === one.label)
  return [
    ...allFacts(request, 1024).filter((one) => !isShown(one)),
    ...(request.reason.length > longest.text ? reasonFact(request, 1024) : []),
  ]
}

/** Each changed field since the earlier request, from its old value to its new one. Empty without the earlier request. */
export function changesOf(request: Request, viewer: Viewer, { earlier }: ApprovalFacts, most: number): Fact[] {
  const { basedOn } = request
  if (!basedOn || !earlier) return []
  const [before, after] = [readBy(earlier, viewer), request].map((one) => namedValues(one, viewer))
  return changedNames(request, basedOn).map((label) =>
    changeFact(label, before?.get(label) ?? '', after?.get(label) ?? '', most),
  )
}

const changeFact = (label: string, from: string, to: string, most: number): Fact => {
  const shown = (value: string) => (value === '' ? strings.approval.change.empty : cut(value, most))
  return { label, value: format(strings.approval.change.fromTo, { from: shown(from), to: shown(to) }) }
}

/** The values of a request by their labels. */
const namedValues = (request: Request, viewer: Viewer): Map<string, string> =>
  new Map(
    [
      { label: strings.basedOn.name, value: request.typedName ?? request.details.displayName },
      { label: strings.field.address, value: askedAddress(request, viewer) },
      ...allFacts(request).map(asCut),
      { label: strings.field.reason, value: request.reason },
    ].map(({ label, value }) => [label, value]),
  )

/** A taken address, or the last change of an address during the wait. */
export function addressLines({ addressConflict, addressChanges = [], requester }: Request): Line[] {
  const name = shortName(requester)
  if (addressConflict) {
    const text = format(strings.approval.says.paused, { address: addressConflict.taken, name })
    return [{ text, weight: 'Bolder' }]
  }
  const last = addressChanges.findLast(({ from, to }) => from !== to)
  if (!last) return []
  const { addressChanged, addressRemoved } = strings.approval.says
  return [{ text: format(last.to === '' ? addressRemoved : addressChanged, { ...last, name }), weight: 'Bolder' }]
}

/** Says that the viewer has approved an earlier stage. */
export function earlierApprovals(stages: readonly ApprovalStage[], viewer: Viewer): Line[] {
  const open = openStage(stages)?.stage ?? 1
  return stages.flatMap(({ stage, decisions }) => {
    const own = decisions.find(({ by, decision }) => by.id === viewer.id && decision === 'approved')
    if (stage >= open || !own) return []
    const text = format(strings.approval.says.approvedEarlier, { stage, at: moment(own.at, viewer, 'full') })
    return [{ text, weight: 'Default' as const }]
  })
}
