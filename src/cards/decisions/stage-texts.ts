import { z } from 'zod'
import {
  type ApprovalStage,
  isExcluded,
  type JudgedCondition,
  missing,
  type Person,
  type Request,
  representedBy,
  type StandIn,
  standsFor,
  type TemplateSnapshot,
  titleOfFound,
  undecided,
  waitingFor,
} from '../../core/index.ts'
import { format, strings, type Values } from '../shared/messages.ts'
import { bound, cut, fullMoment, listOf, longest, moment, peopleList, shortName, type Viewer } from '../shared/texts.ts'

/** A sentence about a stage; an important one is bold. */
export const line = z.strictObject({ text: z.string(), weight: z.enum(['Default', 'Bolder']) })
export type Line = z.output<typeof line>

/** How many lines a card has room for, and how many names a line. */
const most = { lines: 6, names: 3 } as const

const few = (people: readonly Person[], type: 'and' | 'or' = 'and'): string =>
  peopleList([...new Map(people.map((one) => [one.id, one])).values()], type, most.names)

const lineOf = (message: string, values: Values, weight: Line['weight'] = 'Default'): Line => ({
  text: format(message, values),
  weight,
})

/** Until when an absence lasts: its last day, whose end may be the midnight after it. */
export const endDay = (until: string, viewer: Viewer): string =>
  bound('until', new Date(Date.parse(until) - 1).toISOString(), viewer, 'day')

const isStanding = ({ until }: StandIn, viewer: Viewer): boolean =>
  until === undefined || until > viewer.now.toISOString()

/** Whether a waiting stage is new to the viewer, reminded, or about to expire. */
export function urgencyOf(stage: ApprovalStage | undefined, viewer: Viewer): 'first' | 'reminded' | 'expiring' {
  if (stage?.warnedAt !== undefined) return 'expiring'
  return stage && lastReminder(stage, viewer) ? 'reminded' : 'first'
}

/** When a stage expires; `''` if it does not. */
export const expiryOf = (stage: ApprovalStage | undefined, viewer: Viewer): string =>
  stage?.times ? fullMoment(stage.times.expiresAt, viewer) : ''

/** The newest reminder after the viewer became an approver of the stage. */
function lastReminder({ reminders = [], approvers, standIns = [], reassigned = [] }: ApprovalStage, viewer: Viewer) {
  const isApprover = approvers.some(({ id }) => id === viewer.id)
  const askedAt = isApprover
    ? reassigned.findLast(({ to }) => to.id === viewer.id)?.at
    : standIns.find(({ person }) => person.id === viewer.id)?.since
  return reminders.findLast(({ at, inDigest }) => !inDigest && (askedAt === undefined || at >= askedAt))
}

/** The sentences for an approver: why they decide, who else may decide for them, and their reminders. */
export function linesForApprover(stage: ApprovalStage, viewer: Viewer): Line[] {
  const texts = strings.approval.says
  const since = moment(stage.openedAt ?? viewer.now.toISOString(), viewer, 'day')
  const reminder = lastReminder(stage, viewer)
  const reminded = reminder?.by ? texts.remindedBy : texts.reminded
  const handed = stage.reassigned?.findLast(({ to }) => to.id === viewer.id)
  return [
    ...(stage.warnedAt === undefined ? [] : [lineOf(texts.expiring, { at: expiryOf(stage, viewer) }, 'Bolder')]),
    ...(reminder ? [lineOf(reminded, { name: reminder.by ? shortName(reminder.by) : '', at: since }, 'Bolder')] : []),
    ...standInLines(stage, viewer, since),
    ...(handed ? [handedLine(handed)] : []),
    ...insteadOfViewer(stage, viewer, since),
  ].slice(0, most.lines)
}

/** Whether stand-ins decide because these approvers approved an earlier stage. */
const areExcluded = (stage: ApprovalStage, ids: readonly string[]): boolean => ids.every((id) => isExcluded(stage, id))

function standInLines(stage: ApprovalStage, viewer: Viewer, since: string): Line[] {
  const texts = strings.approval.says
  const represented = representedBy(stage, viewer.id, viewer.now.toISOString())
  const own = (stage.standIns ?? []).filter((one) => one.person.id === viewer.id && isStanding(one, viewer))
  return own.flatMap(({ insteadOf, why, by, until }) => {
    const people = represented.filter(({ id }) => insteadOf.includes(id) && id !== viewer.id)
    const values = { people: few(people), at: since }
    if (people.length === 0) return []
    if (why === 'unreachable') return [lineOf(texts.unreachable, values)]
    if (why === 'escalated')
      return [
        lineOf(areExcluded(stage, insteadOf) ? texts.excluded : texts.escalated, { ...values, count: people.length }),
      ]
    const away = by ?? people[0]
    const at = until === undefined ? '' : endDay(until, viewer)
    const isDirect = people.length === 1 && people[0]?.id === away?.id
    return [
      lineOf(isDirect ? texts.delegated : texts.delegatedOn, { ...values, name: away ? shortName(away) : '', at }),
    ]
  })
}

type Handed = NonNullable<ApprovalStage['reassigned']>[number]

function handedLine({ by, from, to }: Handed): Line {
  const { handed, handedOwn, handedSelf } = strings.approval.says
  const isOwn = from.every(({ id }) => id === by.id)
  return lineOf(isOwn ? handedOwn : by.id === to.id ? handedSelf : handed, { name: shortName(by), people: few(from) })
}

/** The comment and name of the person who reassigned the stage to the viewer; both `''` without one. */
export function handedWith(stage: ApprovalStage | undefined, viewer: Viewer): { comment: string; by: string } {
  const handed = stage?.reassigned?.findLast(({ to }) => to.id === viewer.id)
  return { comment: cut(handed?.comment ?? '', longest.text), by: handed ? shortName(handed.by) : '' }
}

/** The people who may decide instead of the viewer, while the viewer can still decide. */
function insteadOfViewer(stage: ApprovalStage, viewer: Viewer, since: string): Line[] {
  const texts = strings.approval.says
  if (!undecided(stage).some(({ id }) => id === viewer.id)) return []
  const standing = (stage.standIns ?? []).filter(
    (one) => one.insteadOf.includes(viewer.id) && one.person.id !== viewer.id && isStanding(one, viewer),
  )
  const delegates = standing.filter(({ why }) => why === 'delegated')
  const until = delegates.find((one) => one.until !== undefined)?.until
  const others = standing.filter(({ why }) => why !== 'delegated')
  const isLost = others.some(({ why }) => why === 'unreachable')
  const named = (of: readonly StandIn[]) =>
    few(
      of.map(({ person }) => person),
      'or',
    )
  return [
    ...(until === undefined
      ? []
      : [lineOf(texts.yourDelegate, { people: named(delegates), at: endDay(until, viewer) })]),
    ...(others.length === 0
      ? []
      : [lineOf(isLost ? texts.insteadUnreached : texts.insteadOfYou, { people: named(others), at: since })]),
  ]
}

/** The people who can decide a stage now: for the rule "any" with all stand-ins, else the approvers. */
export function decidersNow(stage: ApprovalStage, names?: number): string {
  const now = waitingFor([stage])
  return stage.rule === 'any' && now.length > 0
    ? peopleList(now, 'or', names)
    : peopleList(undecided(stage), 'and', names)
}

/** The events since the stage opened, for the people who wait for it. */
export function linesForRequester(
  { requester, addressConflict }: Pick<Request, 'requester' | 'addressConflict'>,
  stage: ApprovalStage,
  viewer: Viewer,
): Line[] {
  const texts = strings.status.waits
  const lines = [
    ...(stage.warnedAt === undefined ? [] : [lineOf(texts.expiring, { at: expiryOf(stage, viewer) }, 'Bolder')]),
    ...unreachedLines(stage, viewer, viewer.id === requester.id),
    ...escalatedLines(stage, viewer),
    ...delegatedLines(stage, viewer),
    ...reassignedLines(stage),
  ].slice(0, most.lines - 1)
  const reminder = stage.reminders?.at(-1)
  if (!reminder) return lines
  // The summary leaves out a request whose address is taken.
  if (reminder.inDigest) return addressConflict ? lines : [...lines, lineOf(texts.inDigest, {})]
  const isViewer = reminder.by !== null && reminder.by.id === viewer.id && viewer.id === requester.id
  const reminded = reminder.by === null ? texts.reminded : isViewer ? texts.remindedByYou : texts.remindedBy
  const name = reminder.by ? shortName(reminder.by) : ''
  return [...lines, lineOf(reminded, { name, at: moment(reminder.at, viewer, 'full') })]
}

/** Whether the people in open chats are able to complete a stage. */
export function isReachable(stage: ApprovalStage): boolean {
  const lost = new Set((stage.unreachable ?? []).map(({ person }) => person.id))
  const reachable = waitingFor([stage]).filter(({ id }) => !lost.has(id))
  if (stage.rule !== 'all') return reachable.length >= missing(stage)
  const represented = reachable.flatMap(({ id }) => [id, ...standsFor(stage, id).map((one) => one.id)])
  return undecided(stage).every(({ id }) => represented.includes(id))
}

/** Only admins can do something about unreachable people, as long as somebody else can decide. */
function unreachedLines(stage: ApprovalStage, { isAdmin }: Viewer, isOwn: boolean): Line[] {
  const texts = strings.status.waits
  const left = new Set(waitingFor([stage]).map(({ id }) => id))
  const lost = (stage.unreachable ?? []).map(({ person }) => person).filter(({ id }) => left.has(id))
  if (lost.length === 0) return []
  const others = (stage.standIns ?? []).filter(({ why }) => why === 'unreachable').map(({ person }) => person)
  if (!isAdmin && isReachable(stage))
    return others.length > 0 ? [lineOf(texts.askedInstead, { others: few(others) })] : []
  if (others.length > 0) return [lineOf(texts.unreachable, { people: few(lost), others: few(others) })]
  return [lineOf(isAdmin && !isOwn ? texts.unreachedForAdmin : texts.unreached, { people: few(lost) })]
}

function escalatedLines(stage: ApprovalStage, viewer: Viewer): Line[] {
  const { standIns = [], openedAt } = stage
  const people = standIns.filter(({ why }) => why === 'escalated').map(({ person }) => person)
  if (people.length === 0 || openedAt === undefined) return []
  const replaced = standIns.filter(({ why }) => why === 'escalated').flatMap(({ insteadOf }) => insteadOf)
  if (areExcluded(stage, replaced)) return [lineOf(strings.status.waits.excluded, { people: few(people) })]
  return [lineOf(strings.status.waits.escalated, { people: few(people), at: moment(openedAt, viewer, 'day') })]
}

/** A card has room for two absent people; the list of deciders shows all delegates. */
function delegatedLines({ standIns = [] }: ApprovalStage, viewer: Viewer): Line[] {
  return standIns
    .filter((one) => one.why === 'delegated' && one.by !== undefined && isStanding(one, viewer))
    .slice(0, 2)
    .map(({ person, by, until }) =>
      lineOf(strings.status.waits.delegated, {
        name: by ? shortName(by) : '',
        people: shortName(person),
        at: until === undefined ? '' : endDay(until, viewer),
      }),
    )
}

function reassignedLines({ reassigned = [] }: ApprovalStage): Line[] {
  const last = reassigned.at(-1)
  if (!last) return []
  const { reassigned: byOther, reassignedOwn, reassignedSelf } = strings.status.waits
  const isOwn = last.from.every(({ id }) => id === last.by.id)
  const message = isOwn ? reassignedOwn : last.by.id === last.to.id ? reassignedSelf : byOther
  return [lineOf(message, { name: shortName(last.by), people: shortName(last.to), others: few(last.from) })]
}

/** The reason why the admins decide; `''` if they do not. */
export const sinceWhat = ({ resolvedFor }: ApprovalStage): string =>
  resolvedFor === undefined ? '' : strings.approval.since[resolvedFor]

/** The reason of a stage: the template's conditions that are true; `''` without conditions. */
export function becauseOf(request: Request, stage: ApprovalStage | undefined): string {
  const judged = request.policy?.find((one) => one.stage === stage?.stage)?.conditions ?? []
  return cut(
    listOf(
      judged.map((one) => conditionText(request, one)),
      'and',
    ),
    longest.text,
  )
}

function conditionText(request: Request, { condition, found }: JudgedCondition): string {
  const texts = strings.approval.because
  if ('externalOwners' in condition) return format(texts.externalOwners, { found: cut(found, longest.title) })
  const field = fieldName(request, condition.field)
  if (found === '') return format(texts.missing, { field })
  const values = { field, found: cut(titleOfFound(request.template, condition.field, found), longest.title) }
  // A value that is not a number meets "above" and "below", so the text only repeats the value.
  if (!Number.isNaN(Number(found))) {
    if ('above' in condition) return format(texts.above, { ...values, bound: String(condition.above) })
    if ('below' in condition) return format(texts.below, { ...values, bound: String(condition.below) })
  }
  return format(texts.is, values)
}

/** The template's label for its own field, ours for a field of the API. */
export function fieldName({ template }: { readonly template: Pick<TemplateSnapshot, 'fields'> }, name: string): string {
  const own = template.fields.find(({ key }) => `metadata.${key}` === name)
  const names: Readonly<Record<string, string>> = { displayName: strings.site.displayName.label, ...strings.field }
  const known = Object.hasOwn(names, name) ? names[name] : undefined
  return cut(own?.label ?? known ?? name, longest.name)
}
